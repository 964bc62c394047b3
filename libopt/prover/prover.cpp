#include "libopt/prover/prover.h"

#include "libcore/laws/trial.h"

namespace kasen {

LawAnswer Prover::law(const Module& module, LawKind kind, FnId id, FnId by, int operand) {
  LawAnswer tried = trial_.law(module, kind, id, by, operand);
  const bool map = is_map_law(kind);
  // A trial that passes proves a map on bools, of which it tries every case, but no reducer.
  const bool settled =
      tried.basis != "trial" || tried.verdict == Verdict::refuted || (tried.verdict == Verdict::proven && map);
  if (settled) return tried;
  const ScalarFunction& fn = module.fn(id);
  const ScalarFunction& reducer = module.fn(map ? by : id);
  return known_.answer(kind, fn, reducer, operand, [&] {
    LawAnswer answer = solver_.ask({kind, fn, reducer, static_cast<size_t>(operand)});
    // That an identity serves all that was tried is as much as is asked of one that the solver cannot confirm.
    return kind == LawKind::identity && answer.verdict == Verdict::unknown ? tried : answer;
  });
}

}  // namespace kasen
