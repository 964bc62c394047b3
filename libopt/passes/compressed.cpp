// Why: a bundle may hold a matrix compressed, and a plan that reads this form touches fewer bytes. But not every
// operator can read it (libcore/analysis/compressed_rules.h), and one that cannot needs all cells in memory. So all
// readers decide for each input, if the bundle has it compressed. Copies by identity do not count as readers that can:
// later passes forward the copied values to readers of any kind. Requires nothing, keeps the level.
#include <algorithm>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libopt/passes/passes.h"

namespace kasen {
namespace {

bool is_copied(const Module& module, ValueId value) {
  bool copied = false;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::map && contains(op.operands, value)) copied = copied || is_identity(module.fn(op.fns.at(0)));
  });
  return copied;
}

}  // namespace

bool pass_compressed(Module& module, PassContext& context) {
  if (!context.options.sizes || !context.options.mesh.empty() || names_layouts(module)) return false;
  bool changed = false;
  const Sizes sizes = context.options.sizes(module);
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || module.type(op.results[0]).compressed) continue;
    if (!sizes.totals.contains(Symbol{SymbolKind::compressed, op.name, {}, -1})) continue;
    if (hinders_compressed(module, op) || is_copied(module, op.results[0])) continue;
    module.value(op.results[0]).type.compressed = true;
    changed = true;
  }
  return changed;
}

}  // namespace kasen
