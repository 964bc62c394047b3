// Why: a chain of vector operators over one dimension reads and writes each intermediate vector in memory; in one loop
// these live in registers. Program order does not matter where dependences allow another. An operator that waits for a
// transition of a member's result cannot be a member: it would close a cycle. Over a mesh these are all regions that
// there are; in the default layout fuse-selected makes them. Requires placed values; keeps the order of everything else
// as nearly as possible. The level becomes 3.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/selection/greedy.h"

namespace kasen {

bool pass_fuse_vector(Module& module, PassContext& /*context*/) {
  return form_regions(module, fusion::vector_clusters);
}

}  // namespace kasen
