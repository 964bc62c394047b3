// Why: as a region, products with one matrix in one direction read its nonzeros once; alone, each reads them once.
// Members need operands in one space, so that one stored form of the matrix serves all. A dense matrix has one form for
// both directions: its products over the ordinary semiring are members in either direction. Requires placed values;
// keeps the order of everything else as nearly as possible. The level becomes 3.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/selection/greedy.h"

namespace kasen {

bool pass_fuse_products(Module& module, PassContext& /*context*/) {
  return form_regions(module, fusion::product_clusters);
}

}  // namespace kasen
