// The greedy selector: regions compute everything once and hold all operators that may be together. They have several
// results, and hold operators that are no nodes of a fusion plan (maps that hand ghosts on). So it chooses among a
// block's operators, not among entries of the memo table.
#pragma once

#include <vector>

#include "libopt/selection/pieces.h"
#include "libopt/selection/shapes.h"

namespace kasen::fusion {

// Return the clusters of a block that become regions of one kind next: iter_on_vec and mxm all at once, since clusters
// are maximal, row_chain and rows one after the other. These two go around the block from the operator `from` on, where
// they found the last one: what stands before it found nothing.
[[nodiscard]] std::vector<Cluster> vector_clusters(const Module& module, const Block& block, int& from);
[[nodiscard]] std::vector<Cluster> product_clusters(const Module& module, const Block& block, int& from);
[[nodiscard]] std::vector<Cluster> chain_clusters(const Module& module, const Block& block, int& from);
[[nodiscard]] std::vector<Cluster> row_clusters(const Module& module, const Block& block, int& from);

// Returns the regions of a block that has none, and its operators that stay as they are, as nodes of its DAG. `module`
// is the block's.
[[nodiscard]] std::vector<Piece> greedy_pieces(const Module& module, const BlockDag& block);

}  // namespace kasen::fusion
