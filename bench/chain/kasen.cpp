#include "bench/chain/chain.h"
#include "bench/kasen_run.h"

namespace kasen::bench {
Chain kasen_chain(const ChainInput& input, int threads) {
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/chain/chain.ks",
                                        vectors_on_one_part({{"x", &input.x}, {"y0", &input.y}}),
                                        KernelOptions{.threads = threads});
  return [run] {
    const RunResult& result = run->run({{"a", {Word::real(scale)}}, {"passes", {Word::integer(passes)}}});
    ChainResult made;
    for (const Output& output : result.outputs) {
      const Array& data = output.parts.at(0).data;
      if (output.name == "y") made.y.assign(data.as<double>(), data.as<double>() + data.count);
      if (output.name == "total") made.total = data.as<double>()[0];
    }
    made.seconds_per_pass = run->seconds_per_iteration();
    return made;
  };
}

}  // namespace kasen::bench
