#include "libopt/prover/prover.h"

#include "libcore/laws/trial.h"

namespace kasen {

LawAnswer Prover::law(const Module& module, LawKind kind, FnId id, FnId by, int operand) {
  LawAnswer tried = trial_.law(module, kind, id, by, operand);
  const bool map = is_map_law(kind);
  // A passed trial proves a map on bools, since it tries every case, but it proves no reducer.
  const bool settled =
      tried.basis != "trial" || tried.verdict == Verdict::refuted || (tried.verdict == Verdict::proven && map);
  if (settled) return tried;
  const ScalarFunction& fn = module.fn(id);
  const ScalarFunction& reducer = module.fn(map ? by : id);
  return known_.answer(kind, fn, reducer, operand, [&] {
    LawAnswer answer = solver_.ask({kind, fn, reducer, static_cast<size_t>(operand)});
    // If the solver cannot confirm an identity, it is enough that the identity serves all numbers that were tried.
    return kind == LawKind::identity && answer.verdict == Verdict::unknown ? tried : answer;
  });
}

}  // namespace kasen
