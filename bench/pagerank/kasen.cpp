#include <stdexcept>

#include "bench/kasen_run.h"
#include "bench/pagerank/pagerank.h"
#include "libcomm/data/partition.h"

namespace kasen::bench {
namespace {

std::vector<Part> one_part(const Graph& graph) {
  InputData input;
  input.name = "G";
  input.dims = {"N", "N"};
  input.element = ElementType::of(Scalar::null);
  input.sparse = true;
  input.matrix.row_count = input.matrix.col_count = graph.vertices;
  input.matrix.entries = EntryList(graph.from, graph.to, Array(input.element, 0));
  std::vector<DimData> dims{{"N", false, graph.vertices, {}}};
  std::vector<InputData> inputs;
  inputs.push_back(std::move(input));
  return partition(dims, std::move(inputs), PartitionOptions{.workers = 1, .method = PartitionMethod::block});
}

}  // namespace

Solver kasen_pagerank(const Graph& graph, int threads, bool epilogue) {
  OptimizeOptions options;
  options.epilogue = epilogue;
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/pagerank.ks", one_part(graph),
                                        KernelOptions{.threads = threads}, options);
  return [run] {
    const RunResult& result = run->run({{"r", {Word::real(damping)}}, {"theta", {Word::real(theta)}}});
    const Array& data = result.outputs.at(0).parts.at(0).data;
    Ranks ranks;
    ranks.ranks.assign(data.as<double>(), data.as<double>() + data.count);
    ranks.iterations = run->turns();
    ranks.seconds_per_iteration = run->seconds_per_turn();
    return ranks;
  };
}

}  // namespace kasen::bench
