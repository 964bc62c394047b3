// Prices of options, blackscholes.ks. Each contestant's time is that of one pass over all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/driver.h"
#include "bench/numbers.h"
#include "bench/parts.h"
#include "libopt/optimize/optimize.h"

namespace kasen::bench {

constexpr std::int64_t option_passes = 4;
constexpr double option_rate = 0.02, option_volatility = 0.3, option_years = 1.0;

[[nodiscard]] inline double option_spot(std::int64_t i) {
  return 50 + 100 * uniform(31, static_cast<std::uint64_t>(i));
}
[[nodiscard]] inline double option_strike(std::int64_t i) {
  return 50 + 100 * uniform(32, static_cast<std::uint64_t>(i));
}

struct Prices {
  double call = 0, put = 0;  // sums over the options, of the last pass
  double seconds_per_pass = 0;
};

using Pricing = std::function<Prices()>;
[[nodiscard]] Parts make_options(std::int64_t options);
[[nodiscard]] Pricing kasen_pricing(Parts parts, int threads, const OptimizeOptions& options);
// Eight options at a time by AVX-512 intrinsics and libmvec's 512-bit functions, results past the caches; null where
// the processor or the library lacks them.
[[nodiscard]] Pricing libmvec_pricing(std::int64_t options, int threads);

}  // namespace kasen::bench
