// Why: X'(f(X v)) reads the matrix twice, once for the rows' results and once to bring them back over the columns. No
// row needs another, so a block of rows can go through both products and the vector work between while it is in the
// cache. The work before and behind can join, too: the values that it makes or reads of a row need not be in memory.
// One region joins the products with one dense matrix, cut along its rows, with vector work on owned elements. The work
// reads their rows' results, or makes the rows that one of them brings back. Regions made before are taken apart and
// join as a whole. The naive way fails at a total or a transition in between, which needs all rows: an operator that
// waits for it cannot be a member. If a product waits for results of its maker's other readers, the maker stays
// outside. (No transition stands between two products with a matrix cut along its rows, since all of a row is on one
// worker.) Requires placed values, and clustered regions of vector work and of products; keeps the order of everything
// else as nearly as possible. The level becomes 3.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/selection/greedy.h"

namespace kasen {

bool pass_fuse_rows(Module& module, PassContext& /*context*/) { return form_regions(module, fusion::chain_clusters); }

}  // namespace kasen
