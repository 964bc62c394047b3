// Loops over coordinates: `sum(j in n: e)` and the like.
#pragma once

#include <algorithm>
#include <array>

#include "libcore/scalar/scalar.h"

namespace kasen {

// Those that combine all coordinates to one number.
inline constexpr std::array combining_loops{ScalarOp::sum_over, ScalarOp::prod_over, ScalarOp::min_over,
                                            ScalarOp::max_over};

[[nodiscard]] constexpr bool is_coordinate_loop(ScalarOp op) {
  return op == ScalarOp::build ||
         std::find(combining_loops.begin(), combining_loops.end(), op) != combining_loops.end();
}

// The operator that takes one more coordinate, and the value before the first. An extremum begins with the first one.
struct LoopStep {
  ScalarOp op;
  std::int64_t unit;
  bool extremum;
};
[[nodiscard]] constexpr LoopStep loop_step(ScalarOp loop) {
  if (loop == ScalarOp::sum_over) return {ScalarOp::add, 0, false};
  if (loop == ScalarOp::prod_over) return {ScalarOp::mul, 1, false};
  return {loop == ScalarOp::min_over ? ScalarOp::min : ScalarOp::max, 0, true};
}

}  // namespace kasen
