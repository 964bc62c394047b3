// Branch and bound where elimination would need tables that are too large.
#pragma once

#include "libopt/tiling/solve/elimination.h"

namespace kasen::tiling {

// An assignment of a part's variables (others are as they were), and what is known of the least cost.
struct Outcome {
  Choices at;
  double cost = forbidden;  // forbidden: nothing was found
  double bound = 0;         // at least the cost: it is the least
};

// What bounds the search: an elimination of the tables of a part. With a budget, each unit of memory may have a price
// in it, so that the bound is higher where the cheapest assignment takes too much.
struct Guide {
  const Part& part;
  const Plan& plan;
  const Elimination& elimination;
  double price = 0;
};

// Variables choose in the order against that of the elimination. The partial assignment of the least bound goes on
// first, downwards as long as its bound stays. `best` is the first solution; of the problem's other parts, its choices
// stay. Ends after `nodes` partial assignments.
[[nodiscard]] Outcome branch_and_bound(const Problem& problem, const Guide& guide, Outcome best, double unit,
                                       std::uint64_t nodes);

}  // namespace kasen::tiling
