// Orders in which heuristics and searches take items: what is hard to place comes first.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "libopt/packing/problem.h"

namespace kasen::packing {

using Ranks = std::vector<int>;  // by item; 0 is first

// Ranks of the items by size, area (size times time), lifetime or contention (the largest live set that it is in), each
// with others of them as tie breakers.
[[nodiscard]] std::vector<Ranks> orders_of(const Problem& problem);

// Items in the order of the ranks.
[[nodiscard]] std::vector<int> in_order(const Ranks& ranks);

}  // namespace kasen::packing
