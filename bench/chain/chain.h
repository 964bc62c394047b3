// The chain of chain.ks; each contestant's time is that of one pass over the vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/driver.h"

namespace kasen::bench {

struct ChainInput {
  std::vector<double> x, y;
};

struct ChainResult {
  std::vector<double> y;
  double total = 0;
  double seconds_per_pass = 0;
};

constexpr std::int64_t passes = 10;
constexpr double scale = 2.0;

using Chain = std::function<ChainResult()>;
[[nodiscard]] Chain kasen_chain(const ChainInput& input, int threads);
[[nodiscard]] Chain openmp_chain(const ChainInput& input, int threads);
[[nodiscard]] Chain graphblas_chain(const ChainInput& input, int threads);

}  // namespace kasen::bench
