#include "libcore/laws/cases.h"

#include <utility>
#include <vector>

#include "libcore/laws/evaluator.h"

namespace kasen {
namespace {

class LawCases {
 public:
  explicit LawCases(const LawQuestion& question) : q_(question), params_(law_variables(question)) {}

  ByCases answer() {
    if (q_.kind == LawKind::identity) return identity() ? ByCases::holds : ByCases::undecided;
    for (const LawEquation& equation : law_equations(q_)) {
      const bool agreed =
          everywhere(CaseMode::defined, [&](CaseEvaluator& on, size_t p) { return agree(equation, p, on); });
      if (!agreed) return ByCases::undecided;
    }
    if (!is_map_law(q_.kind)) return ByCases::holds;
    const auto e = reducer_identity(q_.reducer);
    if (!e) return ByCases::of_numbers;
    for (const bool twice : {false, true}) {
      const bool kept =
          everywhere(CaseMode::machine, [&](CaseEvaluator& on, size_t p) { return keeps(*e, twice, p, on); });
      if (!kept) return ByCases::of_numbers;
    }
    return ByCases::holds;
  }

 private:
  // True if `ask` is true for every plane of the result, on every path. False also if there are too many paths.
  template <class Ask>
  bool everywhere(CaseMode mode, const Ask& ask) {
    try {
      for (size_t p = 0; p < static_cast<size_t>(q_.fn.result().planes()); ++p) {
        LawPath path(steps_);
        do {
          if (!here(path, mode, p, ask)) return false;
        } while (path.next());
      }
    } catch (const Undecided&) {
      return false;
    }
    return true;
  }

  template <class Ask>
  static bool here(LawPath& path, CaseMode mode, size_t p, const Ask& ask) {
    try {
      CaseEvaluator evaluator(path, mode);
      return ask(evaluator, p);
    } catch (const NoSuchCase&) {
      return true;
    }
  }

  [[nodiscard]] std::vector<CaseElement> variables(CaseEvaluator& on) const {
    std::vector<CaseElement> made;
    for (const ScalarParam& param : params_) made.push_back(on.variable(param));
    return made;
  }

  [[nodiscard]] bool agree(const LawEquation& equation, size_t p, CaseEvaluator& on) const {
    const auto v = variables(on);
    return on.same(on.side(equation.left, v), on.side(equation.right, v), p);
  }

  // True if the map's result for the identity e acts as identity: F(b) = R(F(e), F(b)), or for a pushdown R(F(e), b).
  // Then F(e) = R(F(e), F(e)) holds as well.
  bool keeps(const std::vector<Word>& identity, bool twice, size_t p, CaseEvaluator& on) const {
    const ElementType& type = q_.fn.result();
    const auto v = variables(on);
    const CaseElement e = on.constant(type, identity);
    const CaseElement& b = twice ? e : v.back();
    const auto mapped = [&](const CaseElement& x) {
      std::vector<CaseElement> args(v.begin(), v.end() - 1);
      args[q_.operand] = x;
      return on.call(q_.fn, std::move(args));
    };
    const CaseElement whole = mapped(b);
    const CaseElement part = mapped(e);
    on.only_these_integers(twice ? e : whole, type);
    const bool pushed = q_.kind == LawKind::pushdown;
    const CaseElement joined = on.call(q_.reducer, {part, pushed ? b : whole});
    if (on.same(whole, joined, p)) return true;
    bool unchanged = !pushed || twice;
    for (size_t i = 0; unchanged && i < part->planes.size(); ++i) unchanged = on.same(part, e, i);
    return unchanged;
  }

  // True if every element stays as it is when combined with the result of reducer_identity, from either side.
  bool identity() {
    const auto found = reducer_identity(q_.fn);
    if (!found) return false;
    const ElementType& type = q_.fn.result();
    return everywhere(CaseMode::machine, [&](CaseEvaluator& on, size_t p) {
      const CaseElement a = on.variable({"a", type, q_.fn.params[0].range});
      const CaseElement e = on.constant(type, *found);
      return on.same(on.call(q_.fn, {e, a}), a, p) && on.same(on.call(q_.fn, {a, e}), a, p);
    });
  }

  const LawQuestion& q_;
  std::vector<ScalarParam> params_;
  size_t steps_ = 0;
};

}  // namespace

ByCases law_by_cases(const LawQuestion& question) { return LawCases(question).answer(); }

}  // namespace kasen
