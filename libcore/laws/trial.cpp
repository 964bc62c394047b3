#include "libcore/laws/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "libcore/scalar/wide.h"

namespace kasen {
namespace {

constexpr size_t most_literals = 6;
constexpr double rounding = 1e-9;  // relative; smaller differences between machine results are ignored

LawSide variable(size_t number) { return {nullptr, {}, number}; }
LawSide call(const ScalarFunction& fn, std::vector<LawSide> args) { return {&fn, std::move(args), 0}; }

// ---- evaluation of a side, in three ways

struct Values {
  std::span<const Planes> exact;
  std::vector<WidePlanes> wide;
  std::vector<std::vector<Word>> words;
};

std::vector<Word> words_of(const LawSide& side, const Values& at) {
  if (side.fn == nullptr) return at.words[side.variable];
  std::vector<std::vector<Word>> args;
  for (const LawSide& arg : side.args) args.push_back(words_of(arg, at));
  const std::vector<std::span<const Word>> views(args.begin(), args.end());
  std::vector<Word> out(static_cast<size_t>(side.fn->result().planes()));
  evaluate(*side.fn, views, out);
  return out;
}

std::optional<Planes> exactly(const LawSide& side, const Values& at) {
  if (side.fn == nullptr) return at.exact[side.variable];
  std::vector<Planes> args;
  for (const LawSide& arg : side.args) {
    auto value = exactly(arg, at);
    if (!value) return std::nullopt;
    args.push_back(std::move(*value));
  }
  return evaluate_exactly(*side.fn, args);
}

std::optional<WidePlanes> widely(const LawSide& side, const Values& at) {
  if (side.fn == nullptr) return at.wide[side.variable];
  std::vector<WidePlanes> args;
  for (const LawSide& arg : side.args) {
    auto value = widely(arg, at);
    if (!value) return std::nullopt;
    args.push_back(std::move(*value));
  }
  return evaluate_widely(*side.fn, args);
}

bool same_words(const ElementType& type, const std::vector<Word>& a, const std::vector<Word>& b, double tolerance) {
  for (size_t p = 0; p < a.size(); ++p) {
    const bool real = is_float(type.plane_scalar(static_cast<std::int64_t>(p)));
    if (!real && a[p].i != b[p].i) return false;
    if (!real || a[p].f == b[p].f || (a[p].f != a[p].f && b[p].f != b[p].f)) continue;
    const bool close = std::fabs(a[p].f - b[p].f) <= tolerance * (1 + std::fabs(a[p].f) + std::fabs(b[p].f));
    if (!close) return false;
  }
  return true;
}

std::string text_of(const LawSide& side, const std::vector<ScalarParam>& variables, const Values& at) {
  if (side.fn == nullptr) return planes_text(variables[side.variable].type, at.exact[side.variable]);
  std::string text;
  for (const LawSide& arg : side.args) text += (text.empty() ? "" : ", ") + text_of(arg, variables, at);
  return side.fn->name + '(' + text + ')';
}

// ---- one equation

class Trial {
 public:
  explicit Trial(const LawQuestion& question)
      : question_(question),
        variables_(law_variables(question)),
        equations_(law_equations(question)),
        exact_(is_exact(question.fn) && is_exact(question.reducer)) {}

  [[nodiscard]] const std::vector<ScalarParam>& variables() const { return variables_; }

  [[nodiscard]] std::string fault(std::span<const Planes> at) const {
    Values values{at, {}, {}};
    for (size_t i = 0; i < at.size(); ++i) values.words.push_back(to_words(variables_[i].type, at[i]));
    for (const LawEquation& equation : equations_) {
      std::string found = against(equation, values);
      if (!found.empty()) return found + where(at);
    }
    return {};
  }

 private:
  // Few points differ on the machine, and only those are evaluated exactly.
  [[nodiscard]] std::string against(const LawEquation& equation, Values& at) const {
    const ElementType& type = question_.fn.result();
    if (same_words(type, words_of(equation.left, at), words_of(equation.right, at), exact_ ? 0 : rounding)) return {};
    if (exact_) {
      const auto left = exactly(equation.left, at);
      const auto right = exactly(equation.right, at);
      if (!left || !right || *left == *right) return {};
      return differ_text(equation, at, planes_text(type, *left), planes_text(type, *right));
    }
    if (at.wide.empty()) {
      for (const Planes& value : at.exact) at.wide.push_back(to_wide(value));
    }
    const auto left = widely(equation.left, at);
    const auto right = widely(equation.right, at);
    if (!left || !right || !differ(*left, *right)) return {};
    return differ_text(equation, at, wide_text(type, *left), wide_text(type, *right));
  }

  [[nodiscard]] std::string differ_text(const LawEquation& e, const Values& at, const std::string& left,
                                        const std::string& right) const {
    return fmt::format("{} = {} but {} = {}", text_of(e.left, variables_, at), left, text_of(e.right, variables_, at),
                       right);
  }

  // ", where x is 1 and 2, r is 0.5": the values of a map by the names of its parameters.
  [[nodiscard]] std::string where(std::span<const Planes> at) const {
    if (!is_map_law(question_.kind)) return {};
    std::string text = ", where ";
    for (size_t i = 0; i < question_.fn.params.size(); ++i) {
      const ScalarParam& param = question_.fn.params[i];
      text += fmt::format("{}{} is {}", i > 0 ? ", " : "", param.name, planes_text(param.type, at[i]));
      if (i == question_.operand) text += " and " + planes_text(param.type, at.back());
    }
    return text;
  }

  const LawQuestion& question_;
  std::vector<ScalarParam> variables_;
  std::vector<LawEquation> equations_;
  bool exact_;
};

// The number of points to try: fewer for functions with long loops over coordinates, or if each takes 50 digits.
std::int64_t trial_points(const LawQuestion& question, std::int64_t most) {
  const double steps = evaluation_steps(question.fn) + evaluation_steps(question.reducer);
  const bool exact = is_exact(question.fn) && is_exact(question.reducer);
  return std::min(most, static_cast<std::int64_t>(std::clamp(200'000.0 / steps, 4.0, exact ? 4096.0 : 256.0)));
}

std::vector<Rational> literals_of_both(const LawQuestion& question) {
  std::vector<Rational> literals = literals_of(question.fn, most_literals);
  for (const Rational& more : literals_of(question.reducer, most_literals)) {
    if (std::find(literals.begin(), literals.end(), more) == literals.end()) literals.push_back(more);
  }
  return literals;
}

}  // namespace

std::string law_misfit(const LawQuestion& question) {
  const ScalarFunction& fn = question.fn;
  const ScalarFunction& r = question.reducer;
  const bool reduces = r.params.size() == 2 && r.params[0].type == r.result() && r.params[1].type == r.result();
  if (!reduces) return r.name + " does not take two elements of its result's type";
  if (!is_map_law(question.kind)) return {};
  const bool keeps = question.operand < fn.params.size() && fn.params[question.operand].type == fn.result() &&
                     fn.result() == r.result();
  return keeps ? "" : fn.name + " does not keep the type that " + r.name + " reduces";
}

std::vector<ScalarParam> law_variables(const LawQuestion& question) {
  const ElementType& type = question.fn.result();
  std::vector<ScalarParam> variables;
  if (is_map_law(question.kind)) {
    variables = question.fn.params;
    variables.push_back(question.fn.params[question.operand]);
    return variables;
  }
  const size_t count = question.kind == LawKind::associative ? 3 : question.kind == LawKind::commutative ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    variables.push_back({std::string(1, static_cast<char>('a' + i)), type, question.fn.params[0].range});
  }
  return variables;
}

std::vector<LawEquation> law_equations(const LawQuestion& question) {
  const ScalarFunction& f = question.fn;
  const ScalarFunction& r = question.reducer;
  const LawSide a = variable(is_map_law(question.kind) ? question.operand : 0);
  const LawSide b = variable(is_map_law(question.kind) ? f.params.size() : 1);
  const auto mapped = [&](const LawSide& x) {
    std::vector<LawSide> args;
    for (size_t i = 0; i < f.params.size(); ++i) args.push_back(i == question.operand ? x : variable(i));
    return call(f, std::move(args));
  };
  switch (question.kind) {
    case LawKind::exchange:
    case LawKind::distributive:
      return {{mapped(call(r, {a, b})), call(r, {mapped(a), mapped(b)})}};
    case LawKind::pushdown: {
      const LawSide whole = mapped(call(r, {a, b}));
      return {{whole, call(r, {mapped(a), b})}, {whole, call(r, {a, mapped(b)})}};
    }
    case LawKind::associative:
      return {{call(f, {call(f, {a, b}), variable(2)}), call(f, {a, call(f, {b, variable(2)})})}};
    case LawKind::commutative:
      return {{call(f, {a, b}), call(f, {b, a})}};
    default:
      return {{call(f, {a, a}), a}};  // idempotent
  }
}

std::string law_fault(const LawQuestion& question, std::span<const Planes> at) { return Trial(question).fault(at); }

std::string try_law(const LawQuestion& question, std::int64_t most) {
  const Trial trial(question);
  const std::vector<Rational> literals = literals_of_both(question);
  std::string found;
  for_points(trial.variables(), literals, trial_points(question, most), [&](std::span<const Planes> at) {
    found = trial.fault(at);
    return found.empty();
  });
  return found;
}

std::string identity_noticed_text(const LawQuestion& question) {
  return fmt::format(
      "it holds for all numbers, but {} may turn the identity of {}, which workers without a contribution hold, into "
      "something else",
      question.fn.name, question.reducer.name);
}

std::string identity_noticed(const LawQuestion& question, std::int64_t most) {
  const std::optional<std::vector<Word>> identity = reducer_identity(question.reducer);
  if (!identity) return question.reducer.name + " has no known identity element";
  const std::vector<ScalarParam>& params = question.fn.params;
  const ElementType& type = question.fn.result();
  const LawSide e = variable(params.size()), b = variable(question.operand);
  const auto mapped = [&](const LawSide& x) {
    std::vector<LawSide> args;
    for (size_t i = 0; i < params.size(); ++i) args.push_back(i == question.operand ? x : variable(i));
    return call(question.fn, std::move(args));
  };
  const LawSide whole = mapped(b);
  const LawSide joined = call(question.reducer, {mapped(e), question.kind == LawKind::pushdown ? b : whole});
  const std::vector<Rational> literals = literals_of_both(question);
  bool kept = true;
  for_points(params, literals, trial_points(question, most), [&](std::span<const Planes> at) {
    Values values{at, {}, {}};
    for (size_t i = 0; i < at.size(); ++i) values.words.push_back(to_words(params[i].type, at[i]));
    values.words.push_back(*identity);
    kept = same_words(type, words_of(whole, values), words_of(joined, values), rounding);
    return kept;
  });
  return kept ? "" : identity_noticed_text(question);
}

}  // namespace kasen
