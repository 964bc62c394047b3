// Selected operators as the regions that a plan can hold of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/fusion/from_module.h"
#include "libopt/selection/operator_cost.h"

namespace kasen::fusion {

// One operator of the plan. If several pieces have a node among their members, each of them computes it.
struct Piece {
  PlanOperator op;
  std::optional<RegionKind> kind;  // nothing: a single operator as it is
};

// A selected operator that no kind of region can hold.
struct Split {
  std::string what, why;            // "a, b, c": the values on the way; the reason that it is no region
  std::vector<std::string> stored;  // the values in memory instead
};

struct Pieces {
  std::vector<Piece> pieces;  // each node is the root of at most one; no circle leads through them
  std::vector<Split> splits;
};

// Returns exactly these operators, except those that no kind of region can hold (regions.h, kind_of_region). These are
// taken apart: several results first, then at the one member whose result in memory costs least, and so on. A single
// operator always fits.
[[nodiscard]] Pieces pieces_of(const Module& module, const BlockDag& block, const std::vector<PlanOperator>& operators,
                               const CostRules& costs);

}  // namespace kasen::fusion
