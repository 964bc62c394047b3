// Why: softmax, standardisation and the normalisation of rows or columns read and write a matrix for each of their
// operators. No row needs another, so a block of rows can go through all maps, reductions of rows, small products and
// sums over the rows while it is in the cache. One region joins them, with work of several shapes: on matrices and on
// the vectors that belong to their rows. Vector work over one shape alone is left to fuse-vector, and products with one
// matrix and their work to fuse-rows, which have faster loops for it. The naive way fails at a total or a transition,
// which needs all rows: an operator that waits for it cannot be a member. Requires placed values, and clustered regions
// of vector work and of products; keeps the order of everything else as nearly as possible. The level becomes 3.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/selection/greedy.h"

namespace kasen {

bool pass_fuse_row_blocks(Module& module, PassContext& /*context*/) {
  return form_regions(module, fusion::row_clusters);
}

}  // namespace kasen
