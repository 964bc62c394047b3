// Heuristics that place each item once.
#pragma once

#include "libopt/packing/orders.h"
#include "libopt/packing/problem.h"

namespace kasen::packing {

enum class Fit { first, best };  // the lowest gap that is large enough, or the smallest one

// Places items in an order, each into a gap below those that it meets, or on top of them.
[[nodiscard]] Offsets place_in_order(const Problem& problem, const Ranks& ranks, Fit fit);

// Fills the lowest gap with the first item that fits, as a skyline grows: the item of the lowest offset is next, of
// equal ones the first in order.
[[nodiscard]] Offsets place_lowest(const Problem& problem, const Ranks& ranks);

// Moves items down, the lowest first, as far as they go.
void settle(const Problem& problem, Offsets& offsets);

// The smallest pool of all of these in all orders.
[[nodiscard]] Offsets place_greedily(const Problem& problem);

}  // namespace kasen::packing
