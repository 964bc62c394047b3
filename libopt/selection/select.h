// Candidate selection (Boehm et al., section 4): which operators of a block run as one.
#pragma once

#include <string_view>
#include <vector>

#include "libopt/selection/search.h"

namespace kasen::fusion {

enum class Selector : std::uint8_t {
  none,                // every operator by itself
  fuse_all,            // as much as can be, common subexpressions computed again in each operator that needs them
  fuse_no_redundancy,  // what has several consumers is materialized: nothing is computed twice
  cost,                // the cheapest
};
[[nodiscard]] std::string_view selector_name(Selector selector);  // "none", "fuse-all", "fuse-no-redundancy", "cost"

struct PartitionChoice {
  Partition partition;
  Assignment plan;
  double seconds = 0;
  std::int64_t evaluated = 0;
  bool exact = true;
};

struct Selection {
  std::vector<PartitionChoice> partitions;
  std::vector<PlanOperator> operators;  // by their first root; what runs by itself among them
  double seconds = 0;                   // of all of them
};

// `memo` holds all entries: for heuristics the dominated ones are left out here. Where every plan of a partition breaks
// a constraint, its operators run by themselves. Cost is never more than either heuristic's.
[[nodiscard]] Selection select(const Dag& dag, const Memo& memo, Selector selector, const CostRules& costs,
                               const SearchRules& rules = {});

// Without entries that break a constraint whatever else is chosen (section 4.4, prefiltering).
[[nodiscard]] Memo feasible(const Dag& dag, const Memo& memo, const CostRules& costs);

// Operators of a template that joins run as one where that is cheaper: full aggregates over arrays of one shape (MAgg,
// section 2.2), products of one matrix in one direction (MxM). They share an input, and none waits for another's
// result.
void join_operators(const Dag& dag, const Memo& memo, const CostRules& costs, std::vector<PlanOperator>& operators);

}  // namespace kasen::fusion
