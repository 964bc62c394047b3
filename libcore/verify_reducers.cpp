// What reduces is associative and commutative, and has an identity element.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/verify_rules.h"

namespace kasen {
namespace {

struct ReducerCheck {
  const Module& m;
  LawChecker& laws;
  Faults& faults;
  std::vector<FnId> known;  // asked before: a fault is told once

  [[nodiscard]] bool assumed(LawKind kind, FnId fn) const {
    return std::any_of(m.assumptions.begin(), m.assumptions.end(),
                       [&](const LawUse& use) { return use.kind == kind && (use.fn == fn || use.reducer == fn); });
  }

  void ask(const Op& op, FnId id) {
    const ScalarFunction& fn = m.fn(id);
    const LawAnswer answer = laws.reducer(m, id);
    const bool word = assumed(LawKind::associative, id) && assumed(LawKind::commutative, id);
    if (answer.verdict == Verdict::refuted) {
      faults.add_plain(op, fmt::format("'{}' cannot reduce: it is not associative and commutative", fn.name),
                       answer.counterexample, "reduce with a function whose result does not depend on the order");
    } else if (answer.verdict == Verdict::unknown && !word) {
      faults.add_plain(op, fmt::format("'{}' is not known to be associative and commutative", fn.name),
                       "it could not be tried exactly",
                       "if it is, say so with 'assume associative' and 'assume commutative'");
    } else if (!reducer_identity(fn)) {
      faults.add_plain(
          op, fmt::format("'{}' has no known identity element", fn.name),
          "where nothing is stored, the result is the reducer's identity",
          "carry a flag in the element that tells whether it holds a value, or use a reducer with an identity");
    }
  }

  void check(const Op& op, FnId id) {
    if (std::find(known.begin(), known.end(), id) != known.end()) return;
    known.push_back(id);
    ask(op, id);
  }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      if (op.code == OpCode::reduce) check(op, op.fns[0]);
      if (op.code == OpCode::mxv || op.code == OpCode::mxvt) check(op, op.fns[1]);
      for (const Block& inner : op.blocks) block(inner);
    }
  }
};

}  // namespace

void verify_reducers(const Module& module, LawChecker& laws, Faults& faults) {
  ReducerCheck{module, laws, faults, {}}.block(module.body);
}

}  // namespace kasen
