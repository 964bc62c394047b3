// MPSkipEnum (Boehm et al., section 4.4, Algorithm 2): the cheapest assignment of a partition's interesting points.
#pragma once

#include <cstdint>

#include "libopt/selection/cut_sets.h"

namespace kasen::fusion {

inline constexpr int exact_points = 15;

struct SearchRules {
  bool by_cost = true;       // skip plans that cannot be cheaper, and stop costing a plan that has become dearer
  bool by_structure = true;  // solve the two sides of a cut set apart
  // The limits on plans that are costed and on operators in them. They are counts, so that equal input gives equal
  // output. All plans of 15 points are within the limit, even if nothing is skipped.
  std::int64_t budget = std::int64_t{1} << exact_points, visits = std::int64_t{1} << 20;
};

struct SearchResult {
  Assignment plan;
  double seconds = unlimited;
  std::int64_t evaluated = 0;  // plans that were costed, in part or whole, on both sides of cut sets too
  bool exact = true;           // the budget sufficed
  double least = 0;            // no plan takes fewer seconds
};

// The heuristics (section 4.1) as assignments. Fuse-all absorbs all that it can. Fuse-no-redundancy materializes values
// that have several consumers.
[[nodiscard]] Assignment fuse_all(const Partition& partition);
[[nodiscard]] Assignment fuse_no_redundancy(const Partition& partition);

// The result is never dearer than either heuristic: both are costed first. With more points than the search can cover,
// the better one is first improved point by point, and target by target.
[[nodiscard]] SearchResult cheapest_plan(const Dag& dag, const Memo& memo, const Partition& partition,
                                         const CostRules& costs, const SearchRules& rules = {});

}  // namespace kasen::fusion
