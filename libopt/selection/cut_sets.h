// Sets of interesting points that, if all are true, leave two problems that have nothing to do with one another (Boehm
// et al., section 4.4, structural pruning).
#pragma once

#include <vector>

#include "libopt/selection/plan_cost.h"

namespace kasen::fusion {

// Places in Partition::points.
using Points = std::vector<int>;

struct Problem {
  Scope scope;
  Points points;  // those that are chosen, in the order of the search; all others stay as they are
};

struct CutSet {
  Points cut;
  Problem above, below;  // between the tops and the cut, and behind it
  double score = 0;      // equation 5: plans that are left to look at, less is better
};

// Candidates are the points of one target, and of two whose points do not cut by themselves. A set is valid if either
// side has points. No node is on both: the paper asks that of points, but a node without points of its own that both
// sides can compute or write would tie them together all the same. Best score first, disjoint.
[[nodiscard]] std::vector<CutSet> cut_sets(const Dag& dag, const Memo& memo, const Partition& partition,
                                           const Problem& problem);

}  // namespace kasen::fusion
