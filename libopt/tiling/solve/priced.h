// The search under a budget where fronts would be too large.
#pragma once

#include "libopt/tiling/solve/branch_and_bound.h"

namespace kasen::tiling {

// Branch and bound with a price for memory (Lagrangian relaxation). Each price bounds the cost: the cheapest assignment
// at this price, less the price of the whole budget.
[[nodiscard]] Outcome priced_search(const Problem& problem, const Limits& limits, Outcome first, double unit);

}  // namespace kasen::tiling
