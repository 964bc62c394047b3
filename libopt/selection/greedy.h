// The greedy selector: operators compute everything once and hold all that may be together. They have several results.
// Templates cover the operators that join (the memo table), and shapes say which of these one region can hold.
#pragma once

#include <vector>

#include "libopt/selection/units.h"

namespace kasen::fusion {

// Returns the operators of a block. The table is whole: no entry has been dropped. Work on elements joins first, then
// products with one matrix, and last the work on rows, which takes up such operators as a whole.
[[nodiscard]] std::vector<PlanOperator> greedy_operators(const Module& module, const BlockDag& block, const Memo& memo);

// Return the clusters of one kind: loops over elements and passes over a matrix all at once, since they are maximal;
// work on rows one after the other. The latter two go around the block from the unit `from` on, where they found the
// last one: what stands before it found nothing.
[[nodiscard]] std::vector<Cluster> product_clusters(const Units& units);
[[nodiscard]] std::vector<Cluster> next_chain(const Units& units, int& from);
[[nodiscard]] std::vector<Cluster> next_rows(const Units& units, int& from);

// Returns the clusters of vector operators of any block, with templates or without: over a mesh there are none.
[[nodiscard]] std::vector<Cluster> vector_clusters(const Module& module, const Block& block);

}  // namespace kasen::fusion
