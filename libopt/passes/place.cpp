// Why: a program states what to compute. A plan has to state where each value lives on the workers and when bytes move.
// The naive way fails at a carried value: its first value, its argument in the body and the value that an iteration
// yields have one state. So the pass tries the state that the body prefers, and weakens it to P if the body cannot keep
// it. Rules, laws and sets of ghosts: libcore/analysis/state_rules.h. Requires level 1; gives level 2.
#include "libcore/ir/layout.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/layouts/tile.h"
#include "libopt/passes/passes.h"
#include "libopt/sync/box_placer.h"
#include "libopt/sync/placer.h"
#include "libopt/sync/search.h"

namespace kasen {

bool pass_place(Module& module, PassContext& context) {
  if (!context.options.mesh.empty() || names_layouts(module)) {
    if (!is_tiled(module)) tile_usually(module, context.laws, context.options);
    BoxPlacer(module, context.laws, known_sizes(module, context.options)).run();
    (void)pass_dead_code(module, context);
    return true;
  }
  Placement placement = choose_sync(module, context);
  Placer(module, context.laws, context.options, std::move(placement)).run();
  (void)pass_dead_code(module, context);  // removes forms that were made early but have no reader
  return true;
}

}  // namespace kasen
