#include "bench/kasen_run.h"
#include "bench/logistic/logistic.h"

namespace kasen::bench {

Descending kasen_logistic(std::int64_t rows, std::int64_t cols, int threads) {
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/examples/logistic.ks",
                                        partitioned(make_samples(rows, cols), {make_labels("y", rows)}, 1),
                                        KernelOptions{.threads = threads}, OptimizeOptions{.epilogue = true});
  return [run] {
    const RunResult& result =
        run->run({{"turns", {Word::integer(descent_iterations)}}, {"rate", {Word::real(descent_rate)}}});
    const Array& data = result.outputs.at(0).parts.at(0).data;
    return Descent{{data.as<double>(), data.as<double>() + data.count}, run->seconds_per_iteration()};
  };
}

}  // namespace kasen::bench
