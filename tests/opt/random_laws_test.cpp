// Random functions and reducers: what the prover says of their laws, held against trials of its own. A proven law fails
// none; a refuted one's counterexample is read back from its text and fails; no verdict depends on what was asked
// before.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "libcore/laws/cases.h"
#include "libcore/laws/trial.h"
#include "libcore/scalar/element_range.h"
#include "libopt/prover/prover.h"
#include "tests/opt/law_support.h"

namespace kasen {
namespace {

class RandomFunctions {
 public:
  explicit RandomFunctions(unsigned seed) : random_(seed) {}

  Module pair() {
    Module m = functions("fn R(x: f64, y: f64) -> f64 = " + reducer() +
                         "\nfn I(x: i64, y: i64) -> i64 = " + reducer_of_integers());
    const bool whole = below(4) == 0;
    const ElementType type = ElementType::of(whole ? Scalar::i64 : Scalar::f64);
    ScalarFunction fn{"F", {{"x", type, {}}, {"c", type, as_declared({range()})}, {"d", type, {}}}, {}};
    fn.body = whole ? of_integers(2) : of_reals(1 + static_cast<int>(below(3)));
    m.functions.push_back(std::move(fn));
    whole_ = whole;
    return m;
  }

  Interval range() {
    switch (below(4)) {
      case 0:
        return {0, std::numeric_limits<double>::infinity(), true};
      case 1:
        return {-4, 0, false, true};
      case 2: {
        Interval r;
        r.not_zero = true;
        return r;
      }
      default:
        return {};
    }
  }

  [[nodiscard]] const char* reducer_name() const { return whole_ ? "I" : "R"; }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  std::mt19937& source() { return random_; }

 private:
  std::string reducer() {
    static const std::array<std::string, 6> bodies{"x + y",     "x * y",         "min(x, y)",
                                                   "max(x, y)", "x + y - x * y", "if x > y then x else y"};
    return bodies[below(bodies.size())];
  }
  std::string reducer_of_integers() {
    static const std::array<std::string, 4> bodies{"x + y", "x * y", "min(x, y)", "max(x, y)"};
    return bodies[below(bodies.size())];
  }

  // The pre-reduced x is likelier than the others, so that laws are not all about nothing.
  Expr leaf(Scalar s) {
    const ElementType type = ElementType::of(s);
    const size_t kind = below(6);
    if (kind < 3) return make_param(0, type);
    if (kind < 5) return make_param(static_cast<int>(kind) - 2, type);
    const auto value = static_cast<std::int64_t>(below(7)) - 3;
    return make_literal(s, s == Scalar::f64 ? Word::real(static_cast<double>(value) / 2) : Word::integer(value));
  }

  Expr condition(Scalar s) { return make_op(below(2) == 0 ? ScalarOp::lt : ScalarOp::ge, {leaf(s), leaf(s)}); }

  Expr of_reals(int depth) {
    if (depth == 0) return leaf(Scalar::f64);
    static constexpr std::array unary{ScalarOp::neg,   ScalarOp::abs,  ScalarOp::exp,
                                      ScalarOp::floor, ScalarOp::tanh, ScalarOp::sqrt};
    static constexpr std::array binary{ScalarOp::add, ScalarOp::mul, ScalarOp::sub, ScalarOp::mul,
                                       ScalarOp::div, ScalarOp::min, ScalarOp::max};
    const size_t kind = below(6);
    if (kind == 0) return make_op(unary[below(unary.size())], {of_reals(depth - 1)});
    if (kind == 1) return make_op(ScalarOp::select, {condition(Scalar::f64), of_reals(depth - 1), of_reals(depth - 1)});
    return make_op(binary[below(binary.size())], {of_reals(depth - 1), of_reals(below(2) == 0 ? 0 : depth - 1)});
  }

  Expr of_integers(int depth) {
    if (depth == 0) return leaf(Scalar::i64);
    static constexpr std::array binary{ScalarOp::add, ScalarOp::mul, ScalarOp::sub,      ScalarOp::min,
                                       ScalarOp::max, ScalarOp::mod, ScalarOp::floor_div};
    if (below(6) == 0)
      return make_op(ScalarOp::select, {condition(Scalar::i64), of_integers(depth - 1), leaf(Scalar::i64)});
    return make_op(binary[below(binary.size())], {of_integers(depth - 1), leaf(Scalar::i64)});
  }

  std::mt19937 random_;
  bool whole_ = false;
};

// ---- an evaluation of both sides that shares nothing with the trial but the functions' meaning

using Args = std::vector<double>;

Word apply_words(const ScalarFunction& fn, const std::vector<Word>& words) {
  std::vector<std::span<const Word>> spans;
  for (const Word& word : words) spans.emplace_back(&word, 1);
  Word out{};
  evaluate(fn, spans, std::span(&out, 1));
  return out;
}

Word word_of(const ScalarFunction& fn, double v) {
  return is_float(fn.result().scalar()) ? Word::real(v) : Word::integer(static_cast<std::int64_t>(v));
}

double number_of(const ScalarFunction& fn, Word word) {
  return is_float(fn.result().scalar()) ? word.f : static_cast<double>(word.i);
}

double apply(const ScalarFunction& fn, const Args& args) {
  std::vector<Word> words;
  for (const double arg : args) words.push_back(word_of(fn, arg));
  return number_of(fn, apply_words(fn, words));
}

struct Sides {
  double left, right;
};

std::vector<Sides> sides(LawKind kind, const ScalarFunction& f, const ScalarFunction& r, const Args& others, double a,
                         double b) {
  const auto mapped = [&](double x) { return apply(f, {x, others[0], others[1]}); };
  const double whole = mapped(apply(r, {a, b}));
  if (kind != LawKind::pushdown) return {{whole, apply(r, {mapped(a), mapped(b)})}};
  return {{whole, apply(r, {mapped(a), b})}, {whole, apply(r, {a, mapped(b)})}};
}

// So far apart that rounding of numbers of this size does not explain it.
bool apart(const Sides& s, double size) {
  if (!std::isfinite(s.left) || !std::isfinite(s.right)) return false;
  return std::fabs(s.left - s.right) > 1e-6 * (1 + size + std::fabs(s.left) + std::fabs(s.right));
}

// A worker without a contribution holds the reducer's identity: what F makes of that must not be noticed.
Sides beside_the_identity(LawKind kind, const ScalarFunction& f, const ScalarFunction& r, const Args& others,
                          double b) {
  const Word e = reducer_identity(r).value()[0];
  const Word at_b = word_of(f, b);
  const auto mapped = [&](Word x) { return apply_words(f, {x, word_of(f, others[0]), word_of(f, others[1])}); };
  const Word whole = mapped(at_b);
  const Word joined = apply_words(r, {mapped(e), kind == LawKind::pushdown ? at_b : whole});
  return {number_of(f, whole), number_of(f, joined)};
}

struct Tally {
  int proven = 0, refuted = 0, unknown = 0;
};

void check_pair(unsigned seed, Tally& tally) {
  RandomFunctions random(seed);
  const Module m = random.pair();
  const FnId f = find_fn(m, "F");
  const FnId r = find_fn(m, random.reducer_name());
  const ScalarFunction& fn = m.fn(f);
  const bool whole = !is_float(fn.result().scalar());
  Prover laws;
  for (const LawKind kind : {LawKind::exchange, LawKind::pushdown}) {
    const LawAnswer answer = laws.law(m, kind, f, r, 0);
    const std::string what =
        fmt::format("seed {}: {} over {}: {} by {} {}{}", seed, print_function(m, fn), print_function(m, m.fn(r)),
                    law_name(kind), answer.basis, answer.counterexample, answer.note);
    tally.proven += answer.verdict == Verdict::proven ? 1 : 0;
    tally.refuted += answer.verdict == Verdict::refuted ? 1 : 0;
    tally.unknown += answer.verdict == Verdict::unknown ? 1 : 0;
    if (answer.verdict == Verdict::refuted) {
      EXPECT_FALSE(answer.counterexample.empty()) << what;
    }
    if (answer.verdict != Verdict::proven) continue;
    for (int i = 0; i < 300; ++i) {
      const auto draw = [&] {
        const double v = static_cast<double>(random.below(161)) / 8 - 10;
        return whole ? std::floor(v) : v;
      };
      const double a = draw();
      const double b = draw();
      const Args others{draw(), draw()};
      if (!declared_range(fn.params[1], 0).holds(others[0])) continue;
      for (const Sides& s : sides(kind, fn, m.fn(r), others, a, b)) {
        EXPECT_FALSE(apart(s, std::fabs(a) + std::fabs(b)))
            << what << "\nat x = " << a << " and " << b << ", c = " << others[0] << ", d = " << others[1] << ": "
            << s.left << " against " << s.right;
      }
      const Sides s = beside_the_identity(kind, fn, m.fn(r), others, b);
      const bool noticed = std::isfinite(s.left) && (!std::isfinite(s.right) || apart(s, std::fabs(b)));
      EXPECT_FALSE(noticed) << what << "\nbeside the identity at x = " << b << ", c = " << others[0]
                            << ", d = " << others[1] << ": " << s.left << " against " << s.right;
    }
  }
}

// "F(R(1, 3), 2, 1) = 7 but ..., where x is 1 and 3, c is 2, d is 1": the numbers after `where`.
std::vector<double> numbers_of(const std::string& counterexample) {
  std::vector<double> numbers;
  std::string text = counterexample.substr(counterexample.rfind("where x is "));
  for (size_t at = text.find(" is "); at != std::string::npos; at = text.find(" is ", at + 1)) {
    const char* from = text.c_str() + at + 4;
    char* end = nullptr;
    numbers.push_back(std::strtod(from, &end));
    if (std::string_view(end).starts_with(" and ")) numbers.push_back(std::strtod(end + 5, nullptr));
  }
  return numbers;
}

void check_counterexamples(unsigned seed) {
  RandomFunctions random(seed);
  const Module m = random.pair();
  const ScalarFunction& fn = m.fn(find_fn(m, "F"));
  const ScalarFunction& r = m.fn(find_fn(m, random.reducer_name()));
  prover::LawSolver solver;  // without the trial in front of it
  for (const LawKind kind : {LawKind::exchange, LawKind::pushdown}) {
    Prover laws;
    const LawAnswer first = laws.law(m, kind, find_fn(m, "F"), find_fn(m, random.reducer_name()), 0);
    for (const LawAnswer& answer : {first, solver.ask({kind, fn, r, 0})}) {
      if (answer.verdict != Verdict::refuted) continue;
      const std::vector<double> at = numbers_of(answer.counterexample);
      ASSERT_EQ(at.size(), 4U) << answer.counterexample;
      EXPECT_TRUE(declared_range(fn.params[1], 0).holds(at[2])) << answer.counterexample;
      bool fails = false;
      for (const Sides& s : sides(kind, fn, r, {at[2], at[3]}, at[0], at[1])) fails = fails || s.left != s.right;
      EXPECT_TRUE(fails) << "seed " << seed << ": " << print_function(m, fn) << " over " << print_function(m, r) << ": "
                         << answer.counterexample;
    }
    // What cases decide neither a trial nor the solver refutes.
    const LawQuestion question{kind, fn, r, 0};
    if (law_by_cases(question) != ByCases::undecided) {
      EXPECT_EQ(try_law(question, 4096), "") << print_function(m, fn) << " over " << print_function(m, r);
      EXPECT_NE(solver.ask(question).verdict, Verdict::refuted)
          << print_function(m, fn) << " over " << print_function(m, r);
    }
    // What one of them proves the other does not refute.
    const LawAnswer alone = solver.ask({kind, fn, r, 0});
    const bool contrary = (alone.verdict == Verdict::proven && first.verdict == Verdict::refuted) ||
                          (alone.verdict == Verdict::refuted && first.verdict == Verdict::proven);
    EXPECT_FALSE(contrary) << "seed " << seed << ": " << print_function(m, fn) << " over " << print_function(m, r);
  }
}

void check_all(unsigned pairs) {
  Tally tally;
  for (unsigned seed = 0; seed < pairs; ++seed) {
    check_pair(seed, tally);
    check_counterexamples(seed);
  }
  // The generator makes what the test is about.
  EXPECT_GT(tally.proven, static_cast<int>(pairs / 20));
  EXPECT_GT(tally.refuted, static_cast<int>(pairs / 2));
  EXPECT_LT(tally.unknown, static_cast<int>(pairs / 2));
  std::printf("%d proven, %d refuted, %d unknown\n", tally.proven, tally.refuted, tally.unknown);
}

// ---- reducers of pairs, about whose components something is known

// Its first component is a plain reduction; the second one goes by it.
Module pair_reducer(RandomFunctions& random) {
  static const std::array<std::string, 4> first{"x.0 + y.0", "x.0 * y.0", "max(x.0, y.0)", "min(x.0, y.0)"};
  static const std::array<std::string, 8> second{"(x.0 * x.1 + y.0 * y.1) / (x.0 + y.0)",
                                                 "x.1 + (y.1 - x.1) * y.0 / (x.0 + y.0)",
                                                 "x.1 * y.1",
                                                 "if x.0 + y.0 > 0.0 then x.1 + y.1 else 0.0",
                                                 "x.0 * y.1 + y.0 * x.1",
                                                 "max(x.0 * x.1, y.0 * y.1) / max(x.0, y.0)",
                                                 "abs(x.1) + abs(y.1)",
                                                 "sqrt(x.1 * x.1 + y.1 * y.1)"};
  Module m = functions(fmt::format("fn R(x: (f64, f64), y: (f64, f64)) -> (f64, f64) = tuple({}, {})",
                                   first[random.below(first.size())], second[random.below(second.size())]));
  const ElementRange range = as_declared({random.range(), random.range()});
  for (ScalarParam& param : m.functions[FnId(0)].params) param.range = range;
  return m;
}

using Pair = std::array<double, 2>;

Pair combined(const ScalarFunction& r, const Pair& a, const Pair& b) {
  const std::array<Word, 2> x{Word::real(a[0]), Word::real(a[1])}, y{Word::real(b[0]), Word::real(b[1])};
  const std::array<std::span<const Word>, 2> args{x, y};
  std::array<Word, 2> out{};
  evaluate(r, args, out);
  return {out[0].f, out[1].f};
}

bool inside(const ScalarFunction& r, const Pair& a) {
  return declared_range(r.params[0], 0).holds(a[0]) && declared_range(r.params[0], 1).holds(a[1]);
}

double distance(const Pair& a, const Pair& b) {
  double most = 0;
  for (size_t i = 0; i < 2; ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return 0;
    most = std::max(most, std::fabs(a[i] - b[i]) / (1 + std::fabs(a[i]) + std::fabs(b[i])));
  }
  return most;
}

// How far both sides of the law are from each other.
double law_distance(const ScalarFunction& r, LawKind kind, const Pair& a, const Pair& b, const Pair& c) {
  if (kind == LawKind::commutative) return distance(combined(r, a, b), combined(r, b, a));
  return distance(combined(r, combined(r, a, b), c), combined(r, a, combined(r, b, c)));
}

// The numbers of "R(R((1, 2), (3, 4)), (5, 6)) = ...": those before the first '='.
std::vector<Pair> pairs_of(const std::string& counterexample) {
  std::vector<double> numbers;
  const std::string text = counterexample.substr(0, counterexample.find(" = "));
  for (size_t at = text.find_first_of("-0123456789"); at != std::string::npos;) {
    char* end = nullptr;
    numbers.push_back(std::strtod(text.c_str() + at, &end));
    at = text.find_first_of("-0123456789", static_cast<size_t>(end - text.c_str()));
  }
  std::vector<Pair> pairs;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) pairs.push_back({numbers[i], numbers[i + 1]});
  return pairs;
}

void check_reducer_of_pairs(unsigned seed, LawChecker& laws, Tally& tally) {
  RandomFunctions random(seed);
  const Module m = pair_reducer(random);
  const ScalarFunction& r = m.fn(FnId(0));
  for (const LawKind kind : {LawKind::associative, LawKind::commutative}) {
    const LawAnswer answer = laws.law(m, kind, FnId(0), FnId(0), 0);
    if (answer.basis == "trial" && answer.verdict == Verdict::proven) continue;  // nothing spoke against it, no more
    const std::string what = fmt::format("seed {}: {}: {} by {} {}{}", seed, print_function(m, r), law_name(kind),
                                         answer.basis, answer.counterexample, answer.note);
    tally.proven += answer.verdict == Verdict::proven ? 1 : 0;
    tally.refuted += answer.verdict == Verdict::refuted ? 1 : 0;
    tally.unknown += answer.verdict == Verdict::unknown ? 1 : 0;
    if (answer.verdict == Verdict::refuted) {
      std::vector<Pair> at = pairs_of(answer.counterexample);
      ASSERT_EQ(at.size(), kind == LawKind::associative ? 3U : 2U) << what;
      at.resize(3);
      for (size_t i = 0; i < (kind == LawKind::associative ? 3U : 2U); ++i) EXPECT_TRUE(inside(r, at[i])) << what;
      EXPECT_GT(law_distance(r, kind, at[0], at[1], at[2]), 0) << what;
    }
    if (answer.verdict != Verdict::proven) continue;
    for (int i = 0; i < 300; ++i) {
      std::array<Pair, 3> at{};
      for (Pair& pair : at) {
        for (double& number : pair) number = static_cast<double>(random.below(65)) / 8 - 4;
      }
      const bool asked = inside(r, at[0]) && inside(r, at[1]) && inside(r, at[2]);
      if (!asked) continue;
      EXPECT_LT(law_distance(r, kind, at[0], at[1], at[2]), 1e-9) << what;
    }
  }
}

void check_reducers_of_pairs(unsigned count, LawChecker& laws) {
  Tally tally;
  for (unsigned seed = 0; seed < count; ++seed) check_reducer_of_pairs(seed, laws, tally);
  EXPECT_GT(tally.proven, 0);
  EXPECT_GT(tally.refuted, 0);
  std::printf("%d proven, %d refuted, %d unknown\n", tally.proven, tally.refuted, tally.unknown);
}

// By cases and trials; the solver, whose time is that of the hardest question, is for the long tests.
TEST(RandomLaws, OfPairsHoldInTheRangesOfTheirComponents) {
  TrialLawChecker laws(160);
  check_reducers_of_pairs(60, laws);
}
TEST(LongRandomLaws, OfPairsHoldInTheRangesOfTheirComponents) {
  Prover laws;
  check_reducers_of_pairs(1000, laws);
}

TEST(RandomLaws, VerdictsAgreeWithTrials) { check_all(100); }
TEST(LongRandomLaws, VerdictsAgreeWithTrials) { check_all(1000); }

}  // namespace
}  // namespace kasen
