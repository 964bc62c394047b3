#include "bench/kasen_run.h"
#include "bench/semirings/semirings.h"
#include "libcomm/data/cut/partition.h"

namespace kasen::bench {
namespace {

double element_of(const Array& data, std::int64_t i) {
  switch (data.element.scalar()) {
    case Scalar::f64:
      return data.as<double>()[i];
    case Scalar::f32:
      return data.as<float>()[i];
    case Scalar::i64:
      return static_cast<double>(data.as<std::int64_t>()[i]);
    default:
      return data.as<bool>()[i] ? 1 : 0;
  }
}

std::vector<Part> one_part(const Graph& graph, const SemiringCase& semiring) {
  InputData input;
  input.name = "G";
  input.dims = {"N", "N"};
  input.element = semiring.element;
  input.sparse = true;
  input.matrix.row_count = input.matrix.col_count = graph.vertices;
  const auto count = static_cast<std::int64_t>(graph.from.size());
  Array values(semiring.element, semiring.store ? count : 0);
  for (std::int64_t k = 0; k < count && semiring.store; ++k) semiring.store(values, k);
  input.matrix.entries = EntryList(graph.from, graph.to, values);
  std::vector<DimData> dims{{"N", false, graph.vertices, {}}};
  std::vector<InputData> inputs;
  inputs.push_back(std::move(input));
  return partition(dims, std::move(inputs), PartitionOptions{.workers = 1, .method = PartitionMethod::block});
}

}  // namespace

std::function<SemiringResult()> kasen_semiring(const Graph& graph, const SemiringCase& semiring,
                                               const std::string& program, int threads, bool fused) {
  OptimizeOptions options;
  if (!fused) options.strategy = Strategy::none;
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/semirings/" + program + ".ks",
                                        one_part(graph, semiring), KernelOptions{.threads = threads}, options);
  return [run] {
    const RunResult& result = run->run({{"passes", {Word::integer(semiring_passes)}}});
    SemiringResult made;
    for (const Output& output : result.outputs) {
      std::vector<double>& x = made.vectors.emplace_back();
      const Array& data = output.parts.at(0).data;
      for (std::int64_t i = 0; i < data.count; ++i) x.push_back(element_of(data, i));
    }
    made.seconds_per_pass = run->seconds_per_iteration();
    return made;
  };
}

}  // namespace kasen::bench
