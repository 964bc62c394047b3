// Reports the options and the choice of selection (`kasen fuse --print-plans`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libopt/fusion/from_module.h"
#include "libopt/selection/select.h"

namespace kasen::fusion {

// Plans that a search has costed; not `exact`: at least so many, since the budget ended it.
struct PlansCosted {
  std::int64_t plans = 0;
  bool exact = true;
};

struct PartitionView {
  Partition partition;
  PlansCosted pruned, by_cost, by_structure, unpruned;  // with both kinds of pruning, with one, with none
};

struct ChosenOperator {
  std::string kind;  // a region ("row_chain"), a template's letter ("R"), or "-" for a single operator as it is
  PlanOperator op;
};

// What one selector makes of a block.
struct SelectorView {
  std::string selector;
  double seconds = 0;
  std::vector<ChosenOperator> operators;
  std::vector<std::string> cut;  // what its searches left untried
};

// The partitions of a block with their points and the number of evaluated plans, with and without each pruning, and
// each selector's operators for the block, which has no regions, with their cost.
struct PlansView {
  std::vector<PartitionView> partitions;
  std::vector<SelectorView> selectors;
};
// `module` is the block's.
[[nodiscard]] PlansView view_plans(const Module& module, const BlockDag& block, const Memo& memo,
                                   const CostRules& costs);

// For people.
[[nodiscard]] std::string plans_text(const PlansView& view);

}  // namespace kasen::fusion
