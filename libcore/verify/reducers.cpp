// Checks that reducers are associative and commutative and have an identity element, and that no assumption is wrong.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/ir/products.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

struct ReducerCheck {
  const Module& m;
  LawChecker& laws;
  Faults& faults;
  std::vector<FnId> known;  // checked already: an error is reported once

  [[nodiscard]] static bool stated(const std::vector<LawUse>& list, LawKind kind, FnId fn) {
    return std::any_of(list.begin(), list.end(),
                       [&](const LawUse& use) { return use.kind == kind && (use.fn == fn || use.reducer == fn); });
  }

  // The plan states that a solver proved the law. This checker cannot decide that; it must only find no counterexample.
  [[nodiscard]] bool proven_elsewhere(LawKind kind, FnId fn) const {
    return std::any_of(m.laws.begin(), m.laws.end(),
                       [&](const LawUse& use) { return use.kind == kind && use.fn == fn && use.basis == "proven"; });
  }

  // False if an error was reported.
  bool obeys(const Op& op, FnId id, LawKind kind) {
    const char* const does = op.code == OpCode::scan ? "scan" : "reduce";
    const ScalarFunction& fn = m.fn(id);
    const LawAnswer answer = laws.law(m, kind, id, id, 0);
    if (answer.verdict == Verdict::refuted) {
      faults.add_plain(op, fmt::format("'{}' cannot {}: it is not {}", fn.name, does, law_name(kind)),
                       answer.counterexample,
                       fmt::format("{} with a function whose result does not depend on {}", does,
                                   op.code == OpCode::scan ? "where it begins" : "the order"));
      return false;
    }
    const bool taken = stated(m.assumptions, kind, id) || proven_elsewhere(kind, id);
    if (answer.verdict == Verdict::proven || taken) return true;
    faults.add_plain(
        op, fmt::format("'{}' is not known to be {}", fn.name, law_name(kind)), answer.note,
        op.code == OpCode::scan
            ? "if it is associative, say so with 'assume associative'"
            : "if it is associative and commutative, say so with 'assume associative' and 'assume commutative'");
    return false;
  }

  void ask(const Op& op, FnId id) {
    if (!obeys(op, id, LawKind::associative) || !obeys(op, id, LawKind::commutative)) return;
    const LawAnswer answer = laws.law(m, LawKind::identity, id, id, 0);
    if (answer.verdict != Verdict::refuted && reducer_identity(m.fn(id))) return;
    faults.add_plain(
        op, fmt::format("'{}' has no known identity element", m.fn(id).name),
        answer.counterexample.empty() ? "where nothing is stored, the result is the reducer's identity"
                                      : answer.counterexample,
        "carry a flag in the element that shows whether it holds a value, or use a reducer with an identity");
  }

  void check(const Op& op, FnId id) {
    if (std::find(known.begin(), known.end(), id) != known.end()) return;
    known.push_back(id);
    ask(op, id);
  }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      if (op.code == OpCode::reduce || op.code == OpCode::reduce_by) check(op, op.fns[0]);
      if (reduces_terms(op)) check(op, op.fns[1]);
      if (op.code == OpCode::scan && !contains(known, op.fns[0]))
        static_cast<void>(obeys(op, op.fns[0], LawKind::associative));
      for (const Block& inner : op.blocks) block(inner);
    }
  }

  // The user's assumption counts if nothing is known, but not against a counterexample.
  void assumption(const LawUse& use) {
    const LawAnswer answer = laws.law(m, use.kind, use.fn, use.reducer == no_fn ? use.fn : use.reducer, use.operand);
    if (answer.verdict != Verdict::refuted) return;
    const std::string with = use.reducer == no_fn ? "" : ", " + m.fn(use.reducer).name;
    faults.add_at(use.where,
                  fmt::format("{}({}{}) is assumed, but does not hold", law_name(use.kind), m.fn(use.fn).name, with),
                  answer.counterexample, "remove the assumption");
  }

  void listed(const LawUse& use) {
    const LawAnswer answer = laws.law(m, use.kind, use.fn, use.fn, 0);
    const std::string text = fmt::format("law {}({})", law_name(use.kind), m.fn(use.fn).name);
    if (answer.verdict == Verdict::refuted) {
      faults.add(text + " does not hold", answer.counterexample, "plan the program again");
    } else if (answer.verdict == Verdict::unknown && use.basis != "proven") {
      faults.add(text + " is not known to hold", fmt::format("its basis is '{}'", use.basis), "plan the program again");
    }
  }
};

}  // namespace

void verify_reducers(const Module& module, LawChecker& laws, Faults& faults) {
  ReducerCheck check{module, laws, faults, {}};
  for (const LawUse& use : module.assumptions) check.assumption(use);
  for (const LawUse& use : module.laws) {
    if (use.reducer == no_fn) check.listed(use);
  }
  if (faults.empty()) check.block(module.body);
}

}  // namespace kasen
