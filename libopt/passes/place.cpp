// Why: a program states what to compute. A plan has to state where each value lives on the workers and when bytes move.
// The naive way fails at a carried value: its first value, its argument in the body and the value that an iteration
// yields have one state. So the pass tries the state that the body prefers, and weakens it to P if the body cannot keep
// it. Rules, laws and sets of ghosts: libcore/analysis/state_rules.h. Requires level 1; gives level 2.
#include <fmt/format.h>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libopt/passes/passes.h"
#include "libopt/sync/box_placer.h"
#include "libopt/sync/placer.h"
#include "libopt/sync/search.h"

namespace kasen {

namespace {

void require_dense(const Module& module) {
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input) continue;
    const Type& type = module.type(op.results.at(0));
    if (!type.sparse && !type.compressed) continue;
    fail(ExitStatus::bad_input, fmt::format("input '{}' is {}", op.name, type.sparse ? "sparse" : "compressed"),
         "a mesh of workers takes dense arrays alone", "leave out --mesh: all workers share sparse matrices", op.where);
  }
}

void place_over_mesh(Module& module, PassContext& context) {
  require_dense(module);
  if (module.mesh.empty()) module.mesh = context.options.mesh;
  const Polynomial::Bindings known =
      context.options.sizes ? context.options.sizes(module).totals : Polynomial::Bindings();
  BoxPlacer(module, context.laws, known).run();
}

}  // namespace

bool pass_place(Module& module, PassContext& context) {
  if (!context.options.mesh.empty() || names_layouts(module)) {
    place_over_mesh(module, context);
    (void)pass_dead_code(module, context);
    return true;
  }
  Placement placement = choose_sync(module, context);
  Placer(module, context.laws, context.options, std::move(placement)).run();
  (void)pass_dead_code(module, context);  // removes forms that were made early but have no reader
  return true;
}

}  // namespace kasen
