// The update of update.ks: two vectors read, a third written. Each contestant's time is that of one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/driver.h"

namespace kasen::bench {

struct UpdateResult {
  std::vector<double> z;
  double seconds_per_pass = 0;
};

using Update = std::function<UpdateResult()>;
// Results past the caches where they are too large for them (docs/kernels.md), or never.
[[nodiscard]] Update kasen_update(const std::vector<double>& x, const std::vector<double>& y, int threads,
                                  bool past_caches);
// A plain loop, or one with streaming stores by hand.
[[nodiscard]] Update openmp_update(const std::vector<double>& x, const std::vector<double>& y, int threads,
                                   bool past_caches);

constexpr std::int64_t update_passes = 10;

}  // namespace kasen::bench
