// Why: products with one matrix in one direction read its entries once as a region, and once each without. Members
// need operands in one space, so that one stored form of the matrix serves all. A dense matrix has one form for both
// directions: its products over the ordinary semiring are members whatever their direction.
// Requires placed values; keeps the order of everything else as near as can be. The level becomes 3.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"

namespace kasen {

bool pass_fuse_products(Module& module, PassContext& /*context*/) { return form_regions(module, RegionKind::mxm); }

}  // namespace kasen
