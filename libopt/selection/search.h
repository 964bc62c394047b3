// MPSkipEnum (Boehm et al., section 4.4, Algorithm 2): the cheapest assignment of a partition's interesting points.
#pragma once

#include <cstdint>

#include "libopt/selection/cut_sets.h"

namespace kasen::fusion {

inline constexpr int exact_points = 15;

struct SearchRules {
  bool by_cost = true;       // skip plans that cannot be cheaper, and stop costing one that has become dearer
  bool by_structure = true;  // solve the two sides of a cut set apart
  // Plans that are costed at most, and operators that are looked at in them: counts, so that equal input gives equal
  // output. All plans of 15 points are within it, whatever is skipped.
  std::int64_t budget = std::int64_t{1} << exact_points, visits = std::int64_t{1} << 20;
};

struct SearchResult {
  Assignment plan;
  double seconds = unlimited;
  std::int64_t evaluated = 0;  // plans that were costed, in part or whole, those of both sides of cut sets included
  bool exact = true;           // the budget sufficed
};

// The heuristics (section 4.1) as assignments: fuse-all takes up whatever can be; fuse-no-redundancy materializes what
// has several consumers.
[[nodiscard]] Assignment fuse_all(const Partition& partition);
[[nodiscard]] Assignment fuse_no_redundancy(const Partition& partition);

// Never dearer than either heuristic: they are costed first. Of more points than can be searched through, the better
// one is improved point by point, and target by target, before the search begins.
[[nodiscard]] SearchResult cheapest_plan(const Dag& dag, const Memo& memo, const Partition& partition,
                                         const CostRules& costs, const SearchRules& rules = {});

}  // namespace kasen::fusion
