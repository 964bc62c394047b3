// Why: a program says what to compute; a plan has to say where each value lives on the workers and when bytes move.
// The case that breaks the naive way is a carried value: it has one state for its first value, in the body and for what
// a turn yields, so its state is found by trying the one that the body would like and weakening it to P where the body
// cannot keep it. Rules, laws and slave sets: libcore/analysis/state_rules.h. Requires level 1; gives level 2.
#include "libopt/passes/passes.h"
#include "libopt/sync/placer.h"
#include "libopt/sync/search.h"

namespace kasen {

bool pass_place(Module& module, PassContext& context) {
  Placement placement = choose_sync(module, context);
  Placer(module, context.laws, context.options, std::move(placement)).run();
  (void)pass_dead_code(module, context);  // forms that were made early and not read after all
  return true;
}

}  // namespace kasen
