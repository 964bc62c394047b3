// Sets of interesting points that, if all are true, leave two independent problems (Boehm et al., section 4.4,
// structural pruning).
#pragma once

#include <vector>

#include "libopt/selection/plan_cost.h"

namespace kasen::fusion {

// Indices in Partition::points.
using Points = std::vector<int>;

struct Problem {
  Scope scope;
  Points points;  // the chosen points, in the order of the search; all others stay as they are
};

struct CutSet {
  Points cut;
  Problem above, below;  // between the tops and the cut, and behind it
  double score = 0;      // equation 5: the number of plans left to evaluate; less is better
};

// Candidates are the points of one target, or of two whose points do not cut by themselves. A set is valid if either
// side has points. No node is on both sides. The paper asks that of points, but a node without points that both sides
// can compute or write would still tie them together. The best score comes first; sets are disjoint.
[[nodiscard]] std::vector<CutSet> cut_sets(const Dag& dag, const Memo& memo, const Partition& partition,
                                           const Problem& problem);

}  // namespace kasen::fusion
