#include "libopt/prover/law_solver.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "libopt/prover/encoder.h"

namespace kasen::prover {
namespace {

// Solver steps for one formula. A reducer without a verdict stops the program, so it may cost more.
constexpr unsigned steps_for_maps = 30'000;
constexpr unsigned steps_for_reducers = 300'000;

// The cheapest view comes first. A proof by one view holds, and the next view may prove more.
constexpr std::array views{Numbers::opaque, Numbers::relaxed, Numbers::whole};

enum class Outcome : std::uint8_t { holds, fails, unknown };

// One formula: `goal` holds under `facts` and `given`.
struct Goal {
  const std::vector<z3::expr>& facts;
  z3::expr given;
  z3::expr goal;
  bool linear, whole;
};

// Parses "-0.618033988749?" digit by digit, since a number that is read from text with a leading zero is octal.
Rational rational_of_decimal(const std::string& text) {
  Rational value = 0;
  Rational scale = 1;
  bool fraction = false;
  for (const char c : text) {
    fraction = fraction || c == '.';
    if (c < '0' || c > '9') continue;
    value = value * 10 + (c - '0');
    if (fraction) scale *= 10;
  }
  value /= scale;
  return text.starts_with('-') ? Rational(-value) : value;
}

// Returns a numeral of the model: 7, 1/2, or the beginning of an irrational one.
std::optional<Rational> rational_of(const z3::expr& value) {
  if (value.is_true() || value.is_false()) return Rational(value.is_true() ? 1 : 0);
  if (value.is_algebraic()) return rational_of_decimal(value.get_decimal_string(12));
  if (!value.is_numeral()) return std::nullopt;
  const std::string text = Z3_get_numeral_string(value.ctx(), value);
  return Rational(text);
}

}  // namespace

struct LawSolver::Impl {
  z3::context z3;
  std::vector<Element> variables;
  std::vector<ScalarParam> params;  // the parameters of the variables
  std::optional<z3::model> model;

  // ---- the solver

  // The plain solver decides linear formulas at once. Cylindrical decomposition decides products of reals, and the
  // general solver may decide products of integers.
  Outcome solve(const Goal& goal, unsigned steps) {
    model.reset();
    if (goal.goal.is_true()) return Outcome::holds;
    try {
      z3::solver solver = goal.linear  ? z3::solver(z3, z3::solver::simple())
                          : goal.whole ? z3::solver(z3)
                                       : z3::tactic(z3, "qfnra-nlsat").mk_solver();
      z3::params options(z3);
      options.set("rlimit", steps);
      if (goal.linear) options.set("random_seed", 0U);
      solver.set(options);
      for (const z3::expr& fact : goal.facts) solver.add(fact);
      solver.add(goal.given);
      solver.add(!goal.goal);
      const z3::check_result result = solver.check();
      if (result == z3::unsat) return Outcome::holds;
      if (result == z3::sat) model = solver.get_model();
      return result == z3::sat ? Outcome::fails : Outcome::unknown;
    } catch (const z3::exception&) {  // this solver does not take the formula
      return Outcome::unknown;
    }
  }

  // Solves all goals, one for each plane: together, which is quick if they are simple, else one by one.
  Outcome solve_all(const Encoder& encoder, const z3::expr& given, const std::vector<z3::expr>& goals, Numbers numbers,
                    unsigned steps) {
    z3::expr all = z3.bool_val(true);
    for (const z3::expr& goal : goals) all = both(all, goal);
    Goal goal{encoder.facts(), given, all, encoder.linear(), numbers == Numbers::whole};
    Outcome outcome = solve(goal, steps);
    if (outcome != Outcome::unknown || goals.size() == 1) return outcome;
    for (const z3::expr& one : goals) {
      goal.goal = one;
      outcome = solve(goal, steps);
      if (outcome != Outcome::holds) break;
    }
    return outcome;
  }

  // ---- sides as terms

  Element encode(Encoder& encoder, const LawSide& side) {
    if (side.fn == nullptr) return variables[side.variable];
    std::vector<Element> args;
    for (const LawSide& arg : side.args) args.push_back(encode(encoder, arg));
    return encoder.call(*side.fn, args);
  }

  void make_variables(Encoder& encoder) {
    variables.clear();
    for (const ScalarParam& param : params) variables.push_back(encoder.variable(param));
  }

  // Returns the values that the model gives the variables, or nothing if some are not numbers that can be tried.
  [[nodiscard]] std::optional<std::vector<Planes>> values() const {
    static const Rational largest(1'000'000'000'000'000LL);
    std::vector<Planes> all;
    for (size_t i = 0; i < variables.size(); ++i) {
      Planes planes;
      for (size_t p = 0; p < variables[i].size(); ++p) {
        const auto number = rational_of(model->eval(variables[i][p].value, true));
        if (!number || abs(*number) > largest) return std::nullopt;
        const bool whole = !is_float(params[i].type.plane_scalar(static_cast<std::int64_t>(p)));
        if (whole && denominator(*number) != 1) return std::nullopt;
        planes.push_back(*number);
      }
      all.push_back(std::move(planes));
    }
    return all;
  }

  // ---- laws for all numbers

  // Compares one equation of the law under one view of the integers.
  LawAnswer compare(const LawQuestion& question, const LawEquation& equation, Numbers numbers, unsigned steps,
                    bool& integers) {
    Encoder encoder(z3, numbers, Mode::defined);
    make_variables(encoder);
    const Element left = encode(encoder, equation.left);
    const Element right = encode(encoder, equation.right);
    const z3::expr given = encoder.take_conditions();
    integers = encoder.integers();
    if (numbers == Numbers::opaque && !integers) return {Verdict::unknown, "proven", {}, {}};
    std::vector<z3::expr> goals;
    for (size_t p = 0; p < left.size(); ++p) goals.push_back(same(left[p], right[p]));
    const Outcome outcome = solve_all(encoder, given, goals, numbers, steps);
    if (outcome == Outcome::holds) return {Verdict::proven, "proven", {}, {}};
    if (outcome == Outcome::unknown) return {Verdict::unknown, "proven", {}, "the solver gave up after its steps"};
    const auto at = values();
    std::string fault = at ? law_fault(question, *at) : std::string();
    if (!fault.empty()) return {Verdict::refuted, "proven", std::move(fault), {}};
    return {Verdict::unknown, "proven", {}, "the solver's counterexample does not fail with the real functions"};
  }

  LawAnswer of_numbers(const LawQuestion& question, unsigned steps) {
    for (const LawEquation& equation : law_equations(question)) {
      LawAnswer answer;
      bool integers = false;
      for (const Numbers numbers : views) {
        answer = compare(question, equation, numbers, steps, integers);
        const bool settled =
            answer.verdict == Verdict::proven || (answer.verdict == Verdict::refuted && numbers != Numbers::opaque);
        if (settled || (numbers == Numbers::relaxed && !integers)) break;
      }
      if (answer.verdict != Verdict::proven) return answer;
    }
    return {Verdict::proven, "proven", {}, {}};
  }

  // ---- laws for the identity

  // A map's result for the identity e acts as identity: F(b) = R(F(e), F(b)), or for a pushdown R(F(e), b). Then F(e) =
  // R(F(e), F(e)) also holds.
  Outcome keeps_identity(const LawQuestion& question, const std::vector<Word>& identity, Numbers numbers, bool twice) {
    Encoder encoder(z3, numbers, Mode::machine);
    make_variables(encoder);
    const Element e = encoder.constant(question.fn.result(), identity);
    const Element b = twice ? e : variables.back();
    const auto mapped = [&](const Element& x) {
      std::vector<Element> args(variables.begin(), variables.end() - 1);
      args[question.operand] = x;
      return encoder.call(question.fn, args);
    };
    z3::expr given = z3.bool_val(true);
    const Element whole = mapped(b);
    if (!twice) given = encoder.take_conditions();  // the program has to avoid numbers that leave their type
    const Element part = mapped(e);
    const bool pushed = question.kind == LawKind::pushdown;
    const Element joined = encoder.call(question.reducer, {part, pushed ? b : whole});
    const z3::expr fits = encoder.take_conditions();
    z3::expr unchanged = z3.bool_val(true);
    if (pushed && !twice) unchanged = z3.bool_val(false);
    for (size_t p = 0; p < e.size() && !unchanged.is_false(); ++p) unchanged = both(unchanged, same(part[p], e[p]));
    std::vector<z3::expr> goals;
    for (size_t p = 0; p < e.size(); ++p) goals.push_back(both(fits, either(same(whole[p], joined[p]), unchanged)));
    return solve_all(encoder, given, goals, numbers, steps_for_maps);
  }

  bool keeps_identity(const LawQuestion& question, const std::vector<Word>& identity, bool twice) {
    return std::any_of(views.begin(), views.end(), [&](Numbers numbers) {
      return keeps_identity(question, identity, numbers, twice) == Outcome::holds;
    });
  }

  LawAnswer with_identity(const LawQuestion& question) {
    constexpr std::int64_t most_points = 160;
    std::string noticed = identity_noticed(question, most_points);
    if (!noticed.empty()) return {Verdict::unknown, "proven", {}, std::move(noticed)};
    const std::vector<Word> identity = reducer_identity(question.reducer).value();
    for (const bool twice : {false, true}) {
      if (keeps_identity(question, identity, twice)) continue;
      return {Verdict::unknown, "proven", {}, identity_noticed_text(question)};
    }
    return {Verdict::proven, "proven", {}, {}};
  }

  // Returns whether e, which reducer_identity found, is an identity for every number.
  LawAnswer identity(const LawQuestion& question) {
    const auto found = reducer_identity(question.fn);
    if (!found) return {Verdict::unknown, "proven", {}, "no candidate for an identity element is known"};
    params = {{"a", question.fn.result(), question.fn.params[0].range}};
    for (const bool left : {true, false}) {
      const bool serves = std::any_of(views.begin(), views.end(), [&](Numbers numbers) {
        return serves_as_identity(question.fn, *found, left, numbers) == Outcome::holds;
      });
      if (!serves) return {Verdict::unknown, "proven", {}, "the solver did not confirm the identity"};
    }
    return {Verdict::proven, "proven", {}, {}};
  }

  Outcome serves_as_identity(const ScalarFunction& fn, const std::vector<Word>& identity, bool left, Numbers numbers) {
    Encoder encoder(z3, numbers, Mode::machine);
    make_variables(encoder);
    const Element e = encoder.constant(fn.result(), identity);
    const Element& a = variables[0];
    const Element joined = encoder.call(fn, left ? std::vector{e, a} : std::vector{a, e});
    const z3::expr fits = encoder.take_conditions();
    std::vector<z3::expr> goals;
    for (size_t p = 0; p < a.size(); ++p) goals.push_back(same(joined[p], a[p]));
    return solve_all(encoder, fits, goals, numbers, steps_for_reducers);
  }
};

LawSolver::LawSolver() = default;
LawSolver::~LawSolver() = default;

LawAnswer LawSolver::ask(const LawQuestion& question) {
  // An equation has at most four applications of each.
  if (4 * (evaluation_steps(question.fn) + evaluation_steps(question.reducer)) > Encoder::most_steps) {
    return {Verdict::unknown, "proven", {}, "the functions are too long for the solver when their loops are unrolled"};
  }
  if (!impl_) impl_ = std::make_unique<Impl>();
  try {
    if (question.kind == LawKind::identity) return impl_->identity(question);
    const bool map = is_map_law(question.kind);
    impl_->params = law_variables(question);
    LawAnswer answer = impl_->of_numbers(question, map ? steps_for_maps : steps_for_reducers);
    if (answer.verdict == Verdict::proven && map) answer = impl_->with_identity(question);
    return answer;
  } catch (const NotEncodable& no) {
    return {Verdict::unknown, "proven", {}, no.why};
  }
}

}  // namespace kasen::prover
