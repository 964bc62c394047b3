#include <stdexcept>

#include "bench/kasen_run.h"
#include "bench/pagerank/pagerank.h"
#include "libcomm/data/cut/partition.h"

namespace kasen::bench {
Solver kasen_pagerank(const Graph& graph, int threads, double until, bool epilogue) {
  OptimizeOptions options;
  options.epilogue = epilogue;
  auto run =
      std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/pagerank.ks", cut_graph(graph, 1, PartitionMethod::block),
                                 KernelOptions{.threads = threads}, options);
  return [run, until] {
    const RunResult& result = run->run({{"r", {Word::real(damping)}}, {"theta", {Word::real(until)}}});
    const Array& data = result.outputs.at(0).parts.at(0).data;
    Ranks ranks;
    ranks.ranks.assign(data.as<double>(), data.as<double>() + data.count);
    ranks.iterations = run->iterations();
    ranks.seconds_per_iteration = run->seconds_per_iteration();
    return ranks;
  };
}

}  // namespace kasen::bench
