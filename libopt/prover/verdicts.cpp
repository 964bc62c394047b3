#include "libopt/prover/verdicts.h"

#include <algorithm>

#include "libcore/ir/products.h"

namespace kasen {
namespace {

void collect_reducers(const Block& block, std::vector<FnId>& found) {
  for (const Op& op : block.ops) {
    if (op.code == OpCode::reduce || op.code == OpCode::reduce_by) found.push_back(op.fns[0]);
    if (reduces_terms(op)) found.push_back(op.fns[1]);
    for (const Block& inner : op.blocks) collect_reducers(inner, found);
  }
}

}  // namespace

void record_reducer_laws(Module& module, LawChecker& laws) {
  std::vector<FnId> reducers;
  collect_reducers(module.body, reducers);
  for (const FnId fn : reducers) {
    for (const LawKind kind : {LawKind::associative, LawKind::commutative}) {
      const bool listed = std::any_of(module.laws.begin(), module.laws.end(),
                                      [&](const LawUse& use) { return use.kind == kind && use.fn == fn; });
      if (listed) continue;
      const LawAnswer answer = laws.law(module, kind, fn, fn, 0);
      if (answer.verdict != Verdict::proven || answer.basis == "built-in") continue;
      module.laws.push_back({kind, fn, no_fn, 0, answer.basis});
    }
  }
}

}  // namespace kasen
