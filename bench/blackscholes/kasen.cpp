#include <numeric>

#include "bench/blackscholes/blackscholes.h"
#include "bench/kasen_run.h"

namespace kasen::bench {

Parts make_options(std::int64_t options) {
  std::vector<double> spot, strike;
  for (std::int64_t i = 0; i < options; ++i) {
    spot.push_back(option_spot(i));
    strike.push_back(option_strike(i));
  }
  return std::make_shared<std::vector<Part>>(vectors_on_one_part({{"spot", &spot}, {"strike", &strike}}));
}

Pricing kasen_pricing(Parts parts, int threads, const OptimizeOptions& options) {
  OptimizeOptions chosen = options;
  chosen.move_statements = false;  // or what the rate does not change would be computed once, before the passes
  auto run = std::make_shared<KasenRun>(KASEN_SOURCE_ROOT "/bench/blackscholes/blackscholes.ks", std::move(parts),
                                        KernelOptions{.threads = threads}, chosen);
  return [run] {
    const RunResult& result = run->run({{"rate", {Word::real(option_rate)}},
                                        {"volatility", {Word::real(option_volatility)}},
                                        {"years", {Word::real(option_years)}},
                                        {"passes", {Word::integer(option_passes)}}});
    Prices made;
    for (const Output& output : result.outputs) {
      const Array& data = output.parts.at(0).data;
      (output.name == "call" ? made.call : made.put) =
          std::accumulate(data.as<double>(), data.as<double>() + data.count, 0.0);
    }
    made.seconds_per_pass = run->seconds_per_iteration();
    return made;
  };
}

}  // namespace kasen::bench
