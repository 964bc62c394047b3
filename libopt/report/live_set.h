// The live-set bound: what the arrays of a plan take that are needed at one time. No sharing of buffers takes less, so
// it stands beside the pool (docs/cost.md).
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

struct LiveSet {
  std::int64_t bytes = 0;  // with padding, like a part's buffers
  int number = -1;         // of an operator at which they are live
};

// The largest live set of each worker. A carried value and what it is bound to are one array at the border between
// them, and count once. `sizes` must be by worker.
[[nodiscard]] std::vector<LiveSet> largest_live_sets(const Module& module, const Sizes& sizes);

}  // namespace kasen
