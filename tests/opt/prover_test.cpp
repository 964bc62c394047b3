// The prover beyond the table of laws: reducers, integers, identities, elementary functions, limits.
#include "libopt/prover/prover.h"

#include "libcore/laws/trial.h"
#include "tests/opt/law_support.h"

namespace kasen {
namespace {

LawAnswer of_reducer(const std::string& text) {
  const Module m = functions(text);
  Prover laws;
  return laws.reducer(m, FnId(m.functions.size() - 1));
}

LawAnswer one_law(LawKind kind, const std::string& text) {
  const Module m = functions(text);
  Prover laws;
  return laws.law(m, kind, FnId(m.functions.size() - 1), no_fn, 0);
}

// `text` defines R and F; F's operand 0 is pre-reduced.
LawAnswer of_map(LawKind kind, const std::string& text) {
  const Module m = functions(text);
  Prover laws;
  return laws.law(m, kind, find_fn(m, "F"), find_fn(m, "R"), 0);
}

LawAnswer over_max(const std::string& fn) {
  return of_map(LawKind::distributive, "fn R(x: f64, y: f64) -> f64 = max(x, y)\nfn F" + fn);
}

TEST(ProvenReducers, OfNumbers) {
  for (const std::string body :
       {"x + y", "x * y", "max(x, y)", "x + y - x * y", "x + y + 1.0", "2.0 * x * y", "(x + y) / (1.0 + x * y)",
        "log(exp(x) + exp(y))", "if x > y then x else y", "x * y / (x + y)", "x * y + x + y"}) {
    const LawAnswer a = of_reducer("fn r(x: f64, y: f64) -> f64 = " + body);
    EXPECT_EQ(a.verdict, Verdict::proven) << body << ": " << a.counterexample << a.note;
  }
}

TEST(ProvenReducers, OfTuplesArraysAndTruths) {
  for (const std::string whole :
       {"fn argmin(a: (f64, i64), b: (f64, i64)) -> (f64, i64) = if a.0 < b.0 || a.0 == b.0 && a.1 <= b.1 then a else "
        "b",
        "fn both(a: ([f64; 3], i64), b: ([f64; 3], i64)) -> ([f64; 3], i64) ="
        " tuple([$0 in 3: a.0[$0] + b.0[$0]], a.1 + b.1)",
        "fn boxes(a: [f64; 4], b: [f64; 4]) -> [f64; 4] = [$0 in 4: max(a[$0], b[$0])]",
        "fn xor(a: bool, b: bool) -> bool = a != b",
        "fn last(a: (i64, f64), b: (i64, f64)) -> (i64, f64) ="
        " if a.0 > b.0 || a.0 == b.0 && a.1 >= b.1 then a else b",
        "fn mean(a: (f64, i64), b: (f64, i64)) -> (f64, i64) = tuple(a.0 + b.0, a.1 + b.1)"}) {
    const LawAnswer a = of_reducer(whole);
    EXPECT_EQ(a.verdict, Verdict::proven) << whole << ": " << a.counterexample << a.note;
  }
}

TEST(RefutedReducers, NameTheUsersFunctions) {
  EXPECT_EQ(of_reducer("fn sub(x: f64, y: f64) -> f64 = x - y").counterexample,
            "sub(sub(1, 2), 3) = -4 but sub(1, sub(2, 3)) = 2");
  EXPECT_EQ(of_reducer("fn first(x: f64, y: f64) -> f64 = x").counterexample, "first(1, 2) = 1 but first(2, 1) = 2");
  for (const std::string body : {"(x + y) / 2.0", "x * y + 1.0", "abs(x - y)", "sqrt(x * x + y)", "exp(x) + y",
                                 "if x > 1000.0 then x - y else x + y", "if x * y == 12345.0 then x else x + y"}) {
    const LawAnswer a = of_reducer("fn r(x: f64, y: f64) -> f64 = " + body);
    EXPECT_EQ(a.verdict, Verdict::refuted) << body << ": " << a.note;
    EXPECT_NE(a.counterexample.find("r(r("), std::string::npos) << a.counterexample;
  }
}

// Where no value on a small grid tells: the solver finds one that does.
TEST(RefutedReducers, BySearchingBeyondTheGrid) {
  const std::string odd = "fn r(x: f64, y: f64) -> f64 = if x + y > 1.0e6 then x else x + y";
  const Module m = functions(odd);
  prover::LawSolver solver;
  const LawAnswer a = solver.ask({LawKind::associative, m.functions[FnId(0)], m.functions[FnId(0)], 0});
  EXPECT_EQ(a.verdict, Verdict::refuted) << a.note;
  EXPECT_FALSE(a.counterexample.empty());
}

// It fails where x * x is one half alone: an irrational number between 0 and 1 (or -1), which cannot be replayed.
TEST(RefutedReducers, NotAtNumbersThatCannotBeReplayed) {
  const Module m = functions("fn r(x: f64, y: f64) -> f64 = if x * x == 0.5 then x + 1.0 else x + y");
  prover::LawSolver solver;
  const LawAnswer a = solver.ask({LawKind::commutative, m.functions[FnId(0)], m.functions[FnId(0)], 0});
  EXPECT_EQ(a.verdict, Verdict::unknown);
  EXPECT_NE(a.note.find("does not fail with the real functions"), std::string::npos) << a.note;
}

TEST(Reducers, OneLawAtATime) {
  const std::string first = "fn first(x: f64, y: f64) -> f64 = x";
  EXPECT_EQ(one_law(LawKind::associative, first).verdict, Verdict::proven);
  EXPECT_EQ(one_law(LawKind::commutative, first).verdict, Verdict::refuted);
  EXPECT_EQ(one_law(LawKind::commutative, "fn r(x: f64, y: f64) -> f64 = exp(x) * exp(y)").verdict, Verdict::proven);
  for (const auto& [body, idempotent] : std::vector<std::pair<std::string, bool>>{
           {"min(x, y)", true}, {"max(x, y)", true}, {"x + y", false}, {"x * y", false}, {"(x + y) / 2.0", true}}) {
    EXPECT_EQ(one_law(LawKind::idempotent, "fn r(x: f64, y: f64) -> f64 = " + body).verdict,
              idempotent ? Verdict::proven : Verdict::refuted)
        << body;
  }
}

TEST(Identities, AreFoundAndConfirmed) {
  for (const std::string body : {"x + y", "x * y", "min(x, y)", "max(x, y)", "x + y - x * y"}) {
    EXPECT_EQ(one_law(LawKind::identity, "fn r(x: f64, y: f64) -> f64 = " + body).verdict, Verdict::proven) << body;
  }
  EXPECT_EQ(one_law(LawKind::identity, "fn r(x: i64, y: i64) -> i64 = min(x, y)").verdict, Verdict::proven);
  EXPECT_NE(one_law(LawKind::identity, "fn r(x: f64, y: f64) -> f64 = min(max(x, 0.0), max(y, 0.0))").verdict,
            Verdict::proven);
}

// 0 times minus infinity is no number: y >= 0 is not enough, and exp of a very small number is 0.
TEST(Laws, TheIdentityOfAnExtremumIsAnInfinity) {
  EXPECT_EQ(over_max("(x: f64, y: f64 > 0.0) -> f64 = x * y").verdict, Verdict::proven);
  const LawAnswer a = over_max("(x: f64, y: f64 >= 0.0) -> f64 = x * y");
  EXPECT_EQ(a.verdict, Verdict::unknown);
  EXPECT_NE(a.note.find("without a contribution"), std::string::npos) << a.note;
  EXPECT_EQ(over_max("(x: f64, y: f64) -> f64 = x * exp(y)").verdict, Verdict::unknown);
  EXPECT_EQ(over_max("(x: f64, y: f64 >= -50.0) -> f64 = x * exp(y)").verdict, Verdict::proven);
  EXPECT_EQ(over_max("(x: f64, y: f64 >= 0.0) -> f64 = max(x, 0.0) * y").verdict, Verdict::proven);
  EXPECT_EQ(over_max("(x: f64, y: f64) -> f64 = x * (y * y + 1.0)").verdict, Verdict::proven);
  EXPECT_EQ(over_max("(x: f64, y: f64) -> f64 = x / (abs(y) + 1.0)").verdict, Verdict::proven);
}

// Over a sum the identity is 0, and 0 / 0 is no number.
TEST(Laws, AreAskedWhereBothSidesAreDefined) {
  const std::string sum = "fn R(x: f64, y: f64) -> f64 = x + y\n";
  EXPECT_EQ(of_map(LawKind::distributive, sum + "fn F(x: f64, y: f64) -> f64 = x / y").verdict, Verdict::unknown);
  EXPECT_EQ(of_map(LawKind::distributive, sum + "fn F(x: f64, y: f64 != 0.0) -> f64 = x / y").verdict, Verdict::proven);
  EXPECT_EQ(of_map(LawKind::distributive, sum + "fn F(x: f64, y: f64) -> f64 = x * (1.0 / y)").verdict,
            Verdict::unknown);
  EXPECT_EQ(of_map(LawKind::distributive, sum + "fn F(x: f64, y: f64 > 0.0) -> f64 = x * log(y)").verdict,
            Verdict::proven);
  EXPECT_EQ(of_map(LawKind::distributive, sum + "fn F(x: f64, y: f64) -> f64 = x * sqrt(y)").verdict, Verdict::proven);
}

TEST(Laws, OfIntegersAreThoseOfWholeNumbers) {
  const std::string sum = "fn R(x: i64, y: i64) -> i64 = x + y\n";
  const std::string most = "fn R(x: i64, y: i64) -> i64 = max(x, y)\n";
  EXPECT_EQ(of_map(LawKind::exchange, sum + "fn F(x: i64) -> i64 = x // 2").verdict, Verdict::refuted);
  EXPECT_EQ(of_map(LawKind::exchange, sum + "fn F(x: i64) -> i64 = 3 * x").verdict, Verdict::proven);
  EXPECT_EQ(of_map(LawKind::exchange, sum + "fn F(x: i64) -> i64 = x % 2").verdict, Verdict::refuted);
  EXPECT_EQ(of_map(LawKind::exchange, most + "fn F(x: i64) -> i64 = x // 2").verdict, Verdict::proven);
  EXPECT_EQ(of_map(LawKind::distributive, most + "fn F(x: i64, y: i64 > 0.0) -> i64 = x // y").verdict,
            Verdict::proven);
  EXPECT_EQ(of_map(LawKind::distributive, most + "fn F(x: i64, y: i64) -> i64 = x // y").verdict, Verdict::refuted);
  EXPECT_EQ(of_map(LawKind::exchange, most + "fn F(x: i64) -> i64 = (x // 4) * 2").verdict, Verdict::proven);
}

// The identity of min is the largest integer, which sums, differences and products leave infinite.
TEST(Laws, TheEndsOfIntegersAreInfinities) {
  const auto over_min = [](const std::string& fn) {
    return of_map(LawKind::exchange, "fn R(x: i64, y: i64) -> i64 = min(x, y)\nfn F" + fn).verdict;
  };
  EXPECT_EQ(over_min("(x: i64) -> i64 = x + 1"), Verdict::proven);
  EXPECT_EQ(over_min("(x: i64) -> i64 = max(x, 7)"), Verdict::proven);
  EXPECT_EQ(over_min("(x: i64) -> i64 = if x > 5 then x + 1 else x"), Verdict::proven);
  EXPECT_EQ(over_min("(x: i64) -> i64 = 3 * (x - 2) + x // 2"), Verdict::proven);
  EXPECT_EQ(over_min("(x: i64) -> i64 = if x == 9223372036854775807 then x else x + 1"), Verdict::proven);
  EXPECT_EQ(over_min("(x: i64, y: i64 >= 0.0) -> i64 = x * y"), Verdict::proven);  // of integers, 0 times infinity is 0
  EXPECT_EQ(over_min("(x: i64, y: i64 > 0.0) -> i64 = x * y"), Verdict::proven);
  EXPECT_EQ(of_reducer("fn r(x: i32, y: i32) -> i32 = if x < y then x else y").verdict, Verdict::proven);
}

TEST(Laws, OfUsersReducersAndTuples) {
  const std::string pair = "fn R(a: (f64, i64), b: (f64, i64)) -> (f64, i64) = tuple(a.0 + b.0, a.1 + b.1)\n";
  EXPECT_EQ(
      of_map(LawKind::distributive, pair + "fn F(a: (f64, i64), c: f64) -> (f64, i64) = tuple(c * a.0, a.1)").verdict,
      Verdict::proven);
  EXPECT_EQ(of_map(LawKind::exchange, pair + "fn F(a: (f64, i64)) -> (f64, i64) = tuple(a.0 + 1.0, a.1)").verdict,
            Verdict::refuted);
  EXPECT_EQ(of_map(LawKind::pushdown, pair + "fn F(a: (f64, i64)) -> (f64, i64) = tuple(a.0 + 1.0, a.1)").verdict,
            Verdict::proven);
  const std::string points = "fn R(a: [f64; 3], b: [f64; 3]) -> [f64; 3] = [$0 in 3: a[$0] + b[$0]]\n";
  EXPECT_EQ(
      of_map(LawKind::distributive, points + "fn F(a: [f64; 3], c: f64) -> [f64; 3] = [$0 in 3: c * a[$0]]").verdict,
      Verdict::proven);
  // A rotation: each coordinate is a sum over all.
  EXPECT_EQ(of_map(LawKind::exchange,
                   points + "fn F(a: [f64; 3]) -> [f64; 3] = [$0 in 3: sum($1 in 3: a[$1] * f64($0 + 2 * $1))]")
                .verdict,
            Verdict::proven);
  EXPECT_EQ(
      of_map(LawKind::exchange, points + "fn F(a: [f64; 3]) -> [f64; 3] = [$0 in 3: a[$0] / sum($1 in 3: abs(a[$1]))]")
          .verdict,
      Verdict::refuted);
}

TEST(Laws, WhatIsTooLongIsUnknown) {
  const LawAnswer a =
      of_map(LawKind::exchange,
             "fn R(a: [f64; 2], b: [f64; 2]) -> [f64; 2] = [$0 in 2: a[$0] + b[$0]]\nfn F(a: [f64; 2]) -> "
             "[f64; 2] = [$0 in 2: sum($1 in 5000: a[$0] * f64($1))]");
  EXPECT_EQ(a.verdict, Verdict::unknown);
  EXPECT_NE(a.note.find("too long"), std::string::npos) << a.note;
}

TEST(Laws, LongPointsAreStillProven) {
  const LawAnswer a = of_map(LawKind::distributive,
                             "fn R(a: [f64; 100], b: [f64; 100]) -> [f64; 100] = [$0 in 100: a[$0] + b[$0]]\n"
                             "fn F(a: [f64; 100], c: f64) -> [f64; 100] = [$0 in 100: c * a[$0]]");
  EXPECT_EQ(a.verdict, Verdict::proven) << a.note;
}

TEST(Laws, CounterexamplesCarryTheNamesOfParameters) {
  const LawAnswer a =
      of_map(LawKind::exchange,
             "fn R(x: f64, y: f64) -> f64 = x + y\nfn F(rank: f64, damping: f64) -> f64 = (1.0 - damping) "
             "+ damping * rank");
  EXPECT_EQ(a.verdict, Verdict::refuted);
  EXPECT_EQ(a.counterexample, "F(R(1, 3), 2) = 7 but R(F(1, 2), F(3, 2)) = 6, where rank is 1 and 3, damping is 2");
}

TEST(Laws, EqualQuestionsGetEqualAnswers) {
  const std::string text = "fn R(x: f64, y: f64) -> f64 = x * y\nfn F(x: f64, y: f64) -> f64 = sqrt(x) / (y * y + 2.0)";
  const LawAnswer first = of_map(LawKind::distributive, text);
  for (int i = 0; i < 3; ++i) {
    const LawAnswer again = of_map(LawKind::distributive, text);
    EXPECT_EQ(again.verdict, first.verdict);
    EXPECT_EQ(again.counterexample, first.counterexample);
  }
}

}  // namespace
}  // namespace kasen
