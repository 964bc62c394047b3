// Candidate selection (Boehm et al., section 4): the operators of a block that run as one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libopt/selection/search.h"

namespace kasen::fusion {

enum class Selector : std::uint8_t {
  none,                // every operator runs by itself
  fuse_all,            // fuses all that it can; each operator that needs a common subexpression computes it again
  fuse_no_redundancy,  // values with several consumers are materialized: nothing is computed twice
  cost,                // the cheapest
};
[[nodiscard]] std::string_view selector_name(Selector selector);  // "none", "fuse-all", "fuse-no-redundancy", "cost"

struct PartitionChoice {
  Partition partition;
  Assignment plan;
  double seconds = 0;
  std::int64_t evaluated = 0;
  bool exact = true;
  double least = 0;  // of a search: no plan takes fewer seconds
};
// Returns what a search that was cut off did, as "48 of 2^20 plans were costed; the choice takes at most 12 % more than
// the least", or nothing.
[[nodiscard]] std::string cut_text(const PartitionChoice& choice);

struct Selection {
  std::vector<PartitionChoice> partitions;
  std::vector<PlanOperator> operators;  // by their first root; those that run by themselves are among them
  double seconds = 0;                   // of all of them
};

// `memo` holds all entries; heuristics drop the dominated ones here. If every plan of a partition breaks a constraint,
// its operators run by themselves. The cost is never more than that of either heuristic.
[[nodiscard]] Selection select(const Dag& dag, const Memo& memo, Selector selector, const CostRules& costs,
                               const SearchRules& rules = {});

// Drops the entries that break a constraint in every plan (section 4.4, prefiltering).
[[nodiscard]] Memo feasible(const Dag& dag, const Memo& memo, const CostRules& costs);

// Operators of a template that joins run as one if that is cheaper. These are full aggregates over arrays of one shape
// (MAgg, section 2.2), and products of one matrix in one direction (MxM). They share an input, and none waits for
// another's result.
void join_operators(const Dag& dag, const Memo& memo, const CostRules& costs, std::vector<PlanOperator>& operators);

}  // namespace kasen::fusion
