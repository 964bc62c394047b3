// Laws decided by cases, without the solver: what is decided, what is left open, and random functions whose verdicts
// are held against trials and the solver.
#include <fmt/format.h>

#include <random>

#include "libcore/laws/cases.h"
#include "libcore/laws/inequalities.h"
#include "libcore/laws/quotients.h"
#include "libopt/prover/law_solver.h"
#include "tests/opt/law_support.h"

namespace kasen {
namespace {

// The last function of `text`.
ByCases of_last(LawKind kind, const std::string& text) {
  const Module m = functions(text);
  return law_by_cases({kind, m.functions.back(), m.functions.back(), 0});
}

bool is_reducer(const std::string& text) {
  return of_last(LawKind::associative, text) == ByCases::holds && of_last(LawKind::commutative, text) == ByCases::holds;
}

ByCases map_by_cases(LawKind kind, const std::string& text) {
  const Module m = functions(text);
  return law_by_cases({kind, m.fn(find_fn(m, "F")), m.fn(find_fn(m, "R")), 0});
}

std::string masked(const std::string& body) {
  return "fn r(a: (bool, f64), b: (bool, f64)) -> (bool, f64) = tuple(a.0 || b.0, if a.0 && b.0 then " + body +
         " else if a.0 then a.1 else if b.0 then b.1 else a.1 + b.1)";
}

TEST(LawCases, DecideReducersOfNumbers) {
  for (const std::string body :
       {"x + y + 3.0", "x + y - x * y", "2.0 * x * y", "(x + y) / (1.0 + x * y)", "log(exp(x) + exp(y))",
        "if x > y then x else y", "x * y / (x + y)", "max(max(x, y), 0.25)", "exp(log(x) + log(y))"}) {
    EXPECT_TRUE(is_reducer("fn r(x: f64, y: f64) -> f64 = " + body)) << body;
  }
  for (const std::string body : {"x - y", "(x + y) / 2.0", "x", "if x + y > 1.0e6 then x else x + y", "x + y * y"}) {
    EXPECT_FALSE(is_reducer("fn r(x: f64, y: f64) -> f64 = " + body)) << body;
  }
}

TEST(LawCases, DecideReducersOfElements) {
  for (const std::string whole :
       {"fn r(a: (f64, i64), b: (f64, i64)) -> (f64, i64) = if a.0 < b.0 || a.0 == b.0 && a.1 <= b.1 then a else b",
        "fn r(a: ([f64; 3], i64), b: ([f64; 3], i64)) -> ([f64; 3], i64) ="
        " tuple([$0 in 3: a.0[$0] + b.0[$0]], a.1 + b.1)",
        "fn r(a: [f64; 4], b: [f64; 4]) -> [f64; 4] = [$0 in 4: max(a[$0], b[$0])]",
        "fn r(a: bool, b: bool) -> bool = a != b"}) {
    EXPECT_TRUE(is_reducer(whole)) << whole;
  }
  EXPECT_TRUE(is_reducer(masked("a.1 + b.1 + 3.0")));
  EXPECT_TRUE(is_reducer(masked("max(max(a.1, b.1), 0.25)")));
  EXPECT_FALSE(is_reducer(masked("a.1 - b.1")));
  EXPECT_EQ(of_last(LawKind::identity, masked("a.1 + b.1 + 3.0")), ByCases::holds);
}

TEST(LawCases, AskForTheIdentity) {
  const std::string sum = "fn R(x: f64, y: f64) -> f64 = x + y\nfn F";
  const std::string most = "fn R(x: f64, y: f64) -> f64 = max(x, y)\nfn F";
  EXPECT_EQ(map_by_cases(LawKind::exchange, sum + "(x: f64, c: f64) -> f64 = x * c"), ByCases::holds);
  EXPECT_EQ(map_by_cases(LawKind::exchange, sum + "(x: f64, c: f64 > 0.0) -> f64 = x / c"), ByCases::holds);
  EXPECT_EQ(map_by_cases(LawKind::exchange, sum + "(x: f64, c: f64) -> f64 = x / c"), ByCases::of_numbers);
  EXPECT_EQ(map_by_cases(LawKind::exchange, sum + "(x: f64, c: f64) -> f64 = x / (1.0 + c * c)"), ByCases::holds);
  EXPECT_EQ(map_by_cases(LawKind::exchange, most + "(x: f64) -> f64 = if x > 1.0 then 2.0 * x else x + 1.0"),
            ByCases::holds);
  EXPECT_EQ(map_by_cases(LawKind::exchange, most + "(x: f64) -> f64 = -x"), ByCases::undecided);
  const std::string flagged = masked("a.1 + b.1 + 3.0") +
                              "\nfn R(a: (bool, f64), b: (bool, f64)) -> (bool, f64) = "
                              "tuple(a.0 || b.0, if a.0 && b.0 then max(a.1, b.1) else if a.0 then a.1 else if b.0 "
                              "then b.1 else a.1 + b.1)\nfn F";
  EXPECT_EQ(map_by_cases(LawKind::exchange, flagged + "(a: (bool, f64)) -> (bool, f64) = tuple(a.0, 2.0 * a.1)"),
            ByCases::holds);
  EXPECT_EQ(map_by_cases(LawKind::exchange, flagged + "(a: (bool, f64)) -> (bool, f64) = tuple(true, 2.0 * a.1)"),
            ByCases::undecided);
}

TEST(LawCases, IntegersStayInTheirTypeBesideTheIdentity) {
  const std::string least = "fn R(x: i64, y: i64) -> i64 = min(x, y)\nfn F";
  EXPECT_EQ(map_by_cases(LawKind::exchange, least + "(x: i64) -> i64 = if x > 5 then x + 1 else x"), ByCases::holds);
  const std::string sum = "fn R(x: i64, y: i64) -> i64 = x + y\nfn F";
  EXPECT_EQ(map_by_cases(LawKind::exchange, sum + "(x: i64) -> i64 = 3 * x"), ByCases::holds);
  EXPECT_EQ(map_by_cases(LawKind::exchange, sum + "(x: i64) -> i64 = x // 2"), ByCases::undecided);
}

TEST(LawCases, GiveUpWhereThereAreTooMany) {
  std::string body = "x";
  for (int i = 0; i < 24; ++i) body = fmt::format("max(min({}, y * {}.0), x * y - {}.0)", body, i, i * i);
  EXPECT_EQ(of_last(LawKind::associative, "fn r(x: f64, y: f64) -> f64 = " + body), ByCases::undecided);
}

TEST(Inequalities, ContradictOrDoNot) {
  const auto make = [](int x, int y, int c, bool strict) {
    Inequality i{{}, c, strict};
    if (x != 0) i.terms.emplace_back(0, x);
    if (y != 0) i.terms.emplace_back(1, y);
    return i;
  };
  size_t steps = 0;
  const auto contradict = [&](const std::vector<Inequality>& all) { return contradictory(all, steps); };
  EXPECT_FALSE(contradict({}));
  EXPECT_TRUE(contradict({make(0, 0, 0, true)}));
  EXPECT_TRUE(contradict({make(1, -1, 0, true), make(-1, 1, 0, false)}));    // x > y, y >= x
  EXPECT_FALSE(contradict({make(1, -1, 0, false), make(-1, 1, 0, false)}));  // x = y
  EXPECT_TRUE(contradict({make(1, 1, -2, false), make(-1, 0, 0, false), make(0, -1, 1, false)}));
  EXPECT_FALSE(contradict({make(1, 1, -2, false), make(-1, 0, 1, false), make(0, -1, 1, false)}));
}

TEST(Inequalities, AreWrittenInWholeNumbers) {
  const auto made = make_inequality({{0, Rational(1, 2)}, {1, Rational(-2, 3)}}, Rational(5), false);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->terms, (std::vector<std::pair<int, std::int64_t>>{{0, 3}, {1, -4}}));
  EXPECT_EQ(made->constant, 30);
  EXPECT_FALSE(make_inequality({{0, Rational(1)}}, Rational("100000000000000000000"), false));
  // Where coefficients would not fit, nothing is claimed.
  constexpr std::int64_t large = 4'000'000'000'000'000'000;
  size_t steps = 0;
  EXPECT_FALSE(contradictory({{{{0, large}, {1, 1}}, 0, true}, {{{0, -large + 1}, {1, -1}}, 0, true}}, steps));
}

TEST(Quotients, MultiplyOut) {
  const Quotient x(RationalPolynomial::unknown(0)), y(RationalPolynomial::unknown(1)), one(Rational(1));
  const Quotient a = x + one, b = x + negated(one);
  EXPECT_TRUE(difference(a * b, x * x + negated(one)).is_zero());
  EXPECT_FALSE(difference(a * b, x * x + one).is_zero());
  const Quotient inverse(RationalPolynomial(Rational(1)), y.over);
  EXPECT_TRUE(difference(x * inverse + one, Quotient((x + y).over, y.over)).is_zero());
  EXPECT_TRUE((x + negated(x)).over.is_zero());
}

// ---- at random

class RandomReducers {
 public:
  explicit RandomReducers(unsigned seed) : random_(seed) {}

  // Of numbers, or of numbers with a flag: some are right, some are nearly so.
  std::string text() {
    if (pick(2) == 0) return "fn r(x: f64, y: f64) -> f64 = " + expression(2, "x", "y");
    const std::string join = pick(2) == 0 ? known("a.1", "b.1") : expression(1, "a.1", "b.1");
    const std::string flag = one_of({"a.0 || b.0", "a.0 || b.0", "a.0 || b.0", "a.0 && b.0", "a.0 != b.0"});
    const std::string neither = one_of({"a.1 + b.1", "0.0", "max(a.1, b.1)", "a.1"});
    const std::string single = one_of({"if a.0 then a.1 else if b.0 then b.1 else " + neither, "a.1", "a.1 + b.1"});
    return fmt::format("fn r(a: (bool, f64), b: (bool, f64)) -> (bool, f64) = tuple({}, if a.0 && b.0 then {} else {})",
                       flag, join, single);
  }

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  std::string one_of(const std::vector<std::string>& list) { return list[pick(list.size())]; }
  std::string known(const std::string& x, const std::string& y) {
    return one_of({x + " + " + y, x + " * " + y, fmt::format("min({}, {})", x, y), fmt::format("max({}, {})", x, y),
                   fmt::format("{0} + {1} - {0} * {1}", x, y), fmt::format("{} + {} + 2.0", x, y),
                   fmt::format("if {0} > {1} then {0} else {1}", x, y)});
  }
  std::string expression(int depth, const std::string& x, const std::string& y) {
    if (depth == 0) return one_of({x, y, x, y, "1.0", "0.0", "-2.0"});
    if (pick(3) == 0) return '(' + known(x, y) + ')';
    const std::string a = expression(depth - 1, x, y), b = expression(depth - 1, x, y);
    switch (pick(7)) {
      case 0:
        return fmt::format("({} + {})", a, b);
      case 1:
        return fmt::format("({} * {})", a, b);
      case 2:
        return fmt::format("min({}, {})", a, b);
      case 3:
        return fmt::format("max({}, {})", a, b);
      case 4:
        return fmt::format("({} / {})", a, b);
      case 5:
        return fmt::format("(if {} < {} then {} else {})", x, b, a, y);
      default:
        return fmt::format("abs({} - {})", a, b);
    }
  }

  std::mt19937 random_;
};

// What is decided no trial and no solver contradicts; what the solver proves of such functions is mostly decided.
void check_random(unsigned count) {
  int decided = 0, proven = 0;
  prover::LawSolver solver;
  for (unsigned seed = 0; seed < count; ++seed) {
    const std::string text = RandomReducers(seed).text();
    const Module m = functions(text);
    for (const LawKind kind : {LawKind::associative, LawKind::commutative, LawKind::idempotent}) {
      const LawQuestion question{kind, m.functions[FnId(0)], m.functions[FnId(0)], 0};
      const bool holds = law_by_cases(question) == ByCases::holds;
      const std::string fault = try_law(question, 4096);
      EXPECT_TRUE(!holds || fault.empty()) << text << ": " << law_name(kind) << ": " << fault;
      if (!fault.empty()) continue;
      const Verdict verdict = solver.ask(question).verdict;
      EXPECT_FALSE(holds && verdict == Verdict::refuted) << text << ": " << law_name(kind);
      decided += holds ? 1 : 0;
      proven += verdict == Verdict::proven ? 1 : 0;
    }
  }
  std::printf("%d decided by cases, %d proven by the solver\n", decided, proven);
  EXPECT_GT(decided, static_cast<int>(count / 4));
  EXPECT_GT(decided, proven * 9 / 10);
}

TEST(RandomLawCases, AgreeWithTrialsAndTheSolver) { check_random(60); }
TEST(LongRandomLawCases, AgreeWithTrialsAndTheSolver) { check_random(3000); }

}  // namespace
}  // namespace kasen
