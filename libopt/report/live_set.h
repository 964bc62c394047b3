// The live-set bound: what the arrays of a plan take that are needed at one time. No sharing of buffers takes less, so
// it stands beside the pool (docs/cost.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/polynomial.h"
#include "libopt/cost/sizes.h"

namespace kasen {

struct LiveSet {
  std::int64_t bytes = 0;  // with padding, like a part's buffers
  int number = -1;         // of an operator at which they are live
};

// The largest live set of each worker. A carried value and what it is bound to are one array at the border between
// them, and count once. `sizes` must be by worker.
[[nodiscard]] std::vector<LiveSet> largest_live_sets(const Module& module, const Sizes& sizes);

// The same over all workers, without padding, as a formula.
struct LiveForm {
  Polynomial bytes;
  int number = -1;
};

using NumberOf = std::function<std::optional<std::int64_t>(const Polynomial&)>;

// The largest by `number_of`. Where that knows none, a formula is larger if no coefficient of it is smaller; nothing if
// no live set is the largest.
[[nodiscard]] std::optional<LiveForm> largest_live_form(const Module& module, const NumberOf& number_of);

}  // namespace kasen
