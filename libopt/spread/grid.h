// Into how many blocks the axes of an array are cut, and on which worker each block lies (NumS, section 4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libopt/spread/cluster.h"

namespace kasen::spread {

using Shape = std::vector<std::int64_t>;  // elements along each axis
using Grid = std::vector<std::int64_t>;   // blocks along each axis, at least 1

inline constexpr std::int64_t small_array_bytes = 100'000'000;  // NumS cuts no array with fewer

// The default grid of NumS's code: one block if the array is small. Else each axis weighs as its share of the shape
// times the softmax of the node grid's axis, and the workers to the power of the weights are the blocks. What their
// fractions leave goes to the longest axis.
[[nodiscard]] Grid shares_grid(const Shape& shape, std::int64_t element_bytes, const Grid& node_grid, int workers);

// The default grid of NumS's paper: workers to the power of the softmax of the shape. It is 1 along all axes but the
// longest one, unless axes are almost equal.
[[nodiscard]] Grid softmax_grid(const Shape& shape, int workers);

// As many blocks as those of the grid have equal lengths, but for the last: 10 elements in 4 blocks are 3 3 3 1, and in
// 6 blocks 2 2 2 2 2, so that one block less is enough.
[[nodiscard]] Grid fitting_grid(const Shape& shape, const Grid& grid);
[[nodiscard]] std::int64_t block_length(std::int64_t length, std::int64_t blocks);  // of all blocks but the last
[[nodiscard]] std::int64_t block_length(std::int64_t length, std::int64_t blocks, std::int64_t block);

// Throws UserError(usage) if a grid cannot cut a shape.
void require_grid(const Shape& shape, const Grid& grid);
[[nodiscard]] std::int64_t count(const Grid& grid);

// Calls visit(index) for each block, in row-major order.
template <class Visit>
void for_each_block(const Grid& grid, Visit visit) {
  Grid index(grid.size(), 0);
  for (;;) {
    visit(static_cast<const Grid&>(index));
    std::size_t axis = grid.size();
    while (axis > 0 && ++index[axis - 1] == grid[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}
[[nodiscard]] std::size_t place_of(const Grid& grid, const Grid& index);  // in that order

enum class Dealing {
  cyclic,  // block i of an axis lies on node i % g of the node grid's axis, and blocks go round the node's workers
  packed,  // an axis is cut in g runs of blocks, and a node's blocks in runs for its workers
};

struct Layout {
  Cluster cluster;
  Grid node_grid;  // as many nodes as the cluster has; axes that an array lacks are at 0, and others are not cut
  Dealing dealing = Dealing::cyclic;
};

// Throws UserError(usage) if the node grid has another number of nodes.
void require_layout(const Layout& layout);

// The worker of each block, in row-major order.
[[nodiscard]] std::vector<WorkerId> workers_of_blocks(const Layout& layout, const Grid& grid);

}  // namespace kasen::spread
