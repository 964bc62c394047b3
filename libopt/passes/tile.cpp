// Why: a wrong cut of one array moves it over the network in every iteration, and which cut is wrong depends on all
// operators that meet the array. So all cuts are chosen together: the choice that moves least is searched in a graph of
// all arrays (libopt/layouts). Requires level 1, and keeps it.
#include "libopt/layouts/tile.h"

#include "libcore/ir/layout.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/passes/passes.h"

namespace kasen {

bool pass_tile(Module& module, PassContext& context) {
  const OptimizeOptions& options = context.options;
  const bool meshed = !options.mesh.empty() || options.mesh_workers > 0;
  if ((!meshed && !names_layouts(module)) || !module.mesh.empty() || is_tiled(module)) return false;
  if (options.tile == TileSearch::none) {
    tile_usually(module, context.laws, options);
  } else {
    tile_by_search(module, context.laws, options);
  }
  return true;
}

}  // namespace kasen
