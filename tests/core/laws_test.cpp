// The trial of laws: reducers with counterexamples, identities, and the table "Laws over the reals".
#include "libcore/laws/laws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "libcore/laws/shapes.h"

namespace kasen {
namespace {

Module module_of_functions(const std::string& text) {
  return parse_module("kir 1 level 1\nmodule m {\n dim N\n" + text + "\n}\n##end\n", "laws.kir");
}

FnId find(const Module& m, const std::string& name) {
  for (const FnId id : m.functions.ids()) {
    if (m.fn(id).name == name) return id;
  }
  ADD_FAILURE() << "no function " << name;
  return no_fn;
}

LawAnswer reducer(const std::string& text) {
  const Module m = module_of_functions(text);
  TrialLawChecker laws;
  return laws.reducer(m, FnId(m.functions.size() - 1));
}

TEST(Reducers, BuiltInOnesAreProven) {
  for (const std::string body : {"x + y", "x * y", "min(x, y)", "max(x, y)", "max(y, x)"}) {
    for (const std::string t : {"f64", "f32", "i64", "i32"}) {
      const LawAnswer a = reducer("fn r(x: " + t + ", y: " + t + ") -> " + t + " = " + body);
      EXPECT_EQ(a.verdict, Verdict::proven) << body << " on " << t;
    }
  }
  EXPECT_EQ(reducer("fn r(x: bool, y: bool) -> bool = x && y").verdict, Verdict::proven);
}

TEST(Reducers, SubtractionIsRefutedInTheUsersNames) {
  const LawAnswer a = reducer("fn sub(x: f64, y: f64) -> f64 = x - y");
  EXPECT_EQ(a.verdict, Verdict::refuted);
  EXPECT_EQ(a.counterexample, "sub(sub(1, 2), 3) = -4 but sub(1, sub(2, 3)) = 2");
}

TEST(Reducers, MeanAndDivisionAreRefuted) {
  EXPECT_EQ(reducer("fn mean(x: f64, y: f64) -> f64 = (x + y) / 2.0").verdict, Verdict::refuted);
  EXPECT_EQ(reducer("fn div(x: f64, y: f64) -> f64 = x / y").verdict, Verdict::refuted);
  EXPECT_EQ(reducer("fn first(x: f64, y: f64) -> f64 = x").verdict, Verdict::refuted);  // associative only
  EXPECT_EQ(reducer("fn xor(x: bool, y: bool) -> bool = x != y").verdict, Verdict::proven);
  EXPECT_EQ(reducer("fn imp(x: bool, y: bool) -> bool = !x || y").verdict, Verdict::refuted);
}

TEST(Reducers, OfPolynomialsAreMultipliedOut) {
  const LawAnswer a = reducer("fn or(x: f64, y: f64) -> f64 = x + y - x * y");
  EXPECT_EQ(a.verdict, Verdict::proven);
  EXPECT_EQ(a.basis, "proven");
  EXPECT_EQ(reducer("fn f(x: f64, y: f64) -> f64 = x + y + x * y").verdict, Verdict::proven);
  EXPECT_EQ(reducer("fn f(x: f64, y: f64) -> f64 = x * y + 1.0").verdict, Verdict::refuted);
}

TEST(Reducers, WhatCannotBeEvaluatedExactlyIsUnknownWithoutAProof) {
  EXPECT_EQ(reducer("fn lse(x: f64, y: f64) -> f64 = log(exp(x) + exp(y))").verdict, Verdict::proven);
  EXPECT_EQ(reducer("fn h(x: f64, y: f64) -> f64 = sqrt(x * x + y * y)").verdict, Verdict::unknown);
}

TEST(Reducers, ArgminOfTuples) {
  const std::string whole =
      "fn argmin(a: (f64, i64), b: (f64, i64)) -> (f64, i64) ="
      " if a.0 < b.0 || a.0 == b.0 && a.1 <= b.1 then a else b";
  const LawAnswer a = reducer(whole);
  EXPECT_EQ(a.verdict, Verdict::proven);
  EXPECT_EQ(a.basis, "proven");
  const LawAnswer tie = reducer("fn argmin(a: (f64, i64), b: (f64, i64)) -> (f64, i64) = if a.0 <= b.0 then a else b");
  EXPECT_EQ(tie.verdict, Verdict::refuted);
  EXPECT_NE(tie.counterexample.find("argmin("), std::string::npos) << tie.counterexample;
}

TEST(Reducers, SmallArraysComponentWise) {
  EXPECT_EQ(reducer("fn r(a: [f64; 3], b: [f64; 3]) -> [f64; 3] = [$0 in 3: a[$0] + b[$0]]").verdict, Verdict::proven);
  EXPECT_EQ(reducer("fn r(a: [f64; 3], b: [f64; 3]) -> [f64; 3] = [$0 in 3: a[$0] - b[$0]]").verdict, Verdict::refuted);
}

// The trial knows nothing of bit operations but as reducers of numbers.
TEST(Reducers, PartsByThemselves) {
  EXPECT_EQ(reducer("fn r(x: i64, y: i64) -> i64 = bit_xor(x, y)").basis, "built-in");
  EXPECT_EQ(reducer("fn r(x: [i64; 3], y: [i64; 3]) -> [i64; 3] = [$0 in 3: bit_or(x[$0], y[$0])]").basis, "built-in");
  const std::string pair = "fn r(x: (i64, f64), y: (i64, f64)) -> (i64, f64) = tuple(";
  EXPECT_EQ(reducer(pair + "bit_and(x.0, y.0), max(x.1, y.1))").basis, "built-in");
  const std::string with_id = "fn r(x: (i64, id[N]), y: (i64, id[N])) -> (i64, id[N]) = tuple(";
  EXPECT_EQ(reducer(with_id + "bit_and(x.0, y.0), max(x.1, y.1))").basis, "built-in");
  EXPECT_NE(reducer(pair + "bit_and(x.0, x.0), max(x.1, y.1))").verdict, Verdict::proven);
  EXPECT_NE(reducer(pair + "bit_and(bit_not(x.0), y.0), max(x.1, y.1))").verdict, Verdict::proven);
  EXPECT_NE(reducer(pair + "bit_and(x.0, y.0), f64(bit_or(x.0, y.0)))").verdict, Verdict::proven);
  EXPECT_NE(reducer("fn r(x: [i64; 2], y: [i64; 2]) -> [i64; 2] = [$0 in 2: bit_or(x[0], y[$0])]").verdict,
            Verdict::proven);
}

TEST(Reducers, LongPointsAreLookedAtByOneCoordinate) {
  for (const char* right :
       {"fn r(a: [f64; 5000], b: [f64; 5000]) -> [f64; 5000] = [$0 in 5000: a[$0] + b[$0]]",
        "fn r(a: [i32; 700], b: [i32; 700]) -> [i32; 700] = [$0 in 700: if a[$0] < b[$0] then a[$0] else b[$0]]",
        "fn r(a: ([f64; 400], i64, [f64; 300]), b: ([f64; 400], i64, [f64; 300])) -> ([f64; 400], i64, [f64; 300]) ="
        " tuple([$0 in 400: a.0[$0] + b.0[$0]], a.1 + b.1, [$0 in 300: max(a.2[$0], b.2[$0])])",
        "fn r(a: (f64, [f64; 500]), b: (f64, [f64; 500])) -> (f64, [f64; 500]) ="
        " tuple(a.0 * b.0, [$0 in 500: a.1[$0] * b.0 + b.1[$0] * a.0])"}) {
    EXPECT_EQ(reducer(right).verdict, Verdict::proven) << right;
  }
  for (const char* wrong :
       {"fn r(a: [f64; 90], b: [f64; 90]) -> [f64; 90] = [$0 in 90: a[$0] + b[89 - $0]]",
        "fn r(a: [f64; 90], b: [f64; 90]) -> [f64; 90] = [$0 in 90: a[$0] + b[$0] + f64($0) * b[0]]",
        "fn r(a: [f64; 90], b: [f64; 90]) -> [f64; 90] = [$0 in 90: a[$0] + 0.5 * b[$0]]",
        "fn r(a: ([f64; 2], f64), b: ([f64; 2], f64)) -> ([f64; 2], f64) ="
        " tuple([$0 in 2: a.0[$0] + b.0[$0]], a.1 + b.1 + a.0[1])"}) {
    EXPECT_NE(reducer(wrong).verdict, Verdict::proven) << wrong;
  }
}

TEST(Reducers, WrongTypesAreRefused) {
  EXPECT_EQ(reducer("fn r(x: f64, y: i64) -> f64 = x + f64(y)").verdict, Verdict::refuted);
  EXPECT_EQ(reducer("fn r(x: f64) -> f64 = x").verdict, Verdict::refuted);
}

// ---- identities

std::optional<std::vector<Word>> identity(const std::string& text) {
  const Module m = module_of_functions(text);
  return reducer_identity(m.functions.back());
}

TEST(Identities, OfFloats) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(identity("fn r(x: f64, y: f64) -> f64 = x + y").value()[0].f, 0.0);
  EXPECT_EQ(identity("fn r(x: f64, y: f64) -> f64 = x * y").value()[0].f, 1.0);
  EXPECT_EQ(identity("fn r(x: f64, y: f64) -> f64 = min(x, y)").value()[0].f, infinity);
  EXPECT_EQ(identity("fn r(x: f32, y: f32) -> f32 = max(x, y)").value()[0].f, -infinity);
  EXPECT_EQ(identity("fn r(x: f64, y: f64) -> f64 = x + y - x * y").value()[0].f, 0.0);
}

TEST(Identities, OfIntegersAreTheExtremes) {
  EXPECT_EQ(identity("fn r(x: i64, y: i64) -> i64 = min(x, y)").value()[0].i, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(identity("fn r(x: i32, y: i32) -> i32 = max(x, y)").value()[0].i, std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(identity("fn r(x: i64, y: i64) -> i64 = x + y").value()[0].i, 0);
}

TEST(Identities, OfBoolsTuplesAndArrays) {
  EXPECT_EQ(identity("fn r(x: bool, y: bool) -> bool = x && y").value()[0].i, 1);
  EXPECT_EQ(identity("fn r(x: bool, y: bool) -> bool = x == y").value()[0].i, 1);
  const auto argmin = identity(
      "fn r(a: (f64, i64), b: (f64, i64)) -> (f64, i64) ="
      " if a.0 < b.0 || a.0 == b.0 && a.1 <= b.1 then a else b");
  ASSERT_TRUE(argmin);
  EXPECT_TRUE(std::isinf((*argmin)[0].f));
  EXPECT_EQ((*argmin)[1].i, std::numeric_limits<std::int64_t>::max());
  const auto sums = identity(
      "fn r(a: ([f64; 2], i64), b: ([f64; 2], i64)) -> ([f64; 2], i64) ="
      " tuple([$0 in 2: a.0[$0] + b.0[$0]], a.1 + b.1)");
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->size(), 3u);
}

TEST(Identities, OfFunctionsThatRound) {
  const auto lse = identity("fn lse(x: f64, y: f64) -> f64 = log(exp(x) + exp(y))");
  ASSERT_TRUE(lse);
  EXPECT_EQ((*lse)[0].f, -std::numeric_limits<double>::infinity());
}

TEST(Identities, NoneIsSaid) {
  EXPECT_FALSE(identity("fn r(x: f64, y: f64) -> f64 = x + y + 1.0"));
  EXPECT_FALSE(identity("fn r(x: f64, y: f64) -> f64 = min(max(x, 0.0), max(y, 0.0))"));
}

// ---- laws

struct LawCase {
  std::string fn;                  // of x and c, or x and y; the first is pre-reduced
  std::string exchange, pushdown;  // under + * min max: E and P letters or '-'; '?' not decided
};

// ORACLES: E and D are one formula, P and Q too. A sign is known of literals alone.
const std::vector<LawCase> table = {
    {"x + c", "--EE", "P---"},       {"x + 2.0", "--EE", "P---"},
    {"x - 3.0", "--EE", "P---"},     {"2.0 * x", "E-EE", "-P--"},
    {"x * 0.5", "E-EE", "-P--"},     {"x / 4.0", "E-EE", "-P--"},
    {"-2.0 * x", "E---", "-P--"},    {"-x", "E---", "-P--"},
    {"max(x, c)", "--EE", "---P"},   {"max(c, x)", "--EE", "---P"},
    {"min(x, 2.0)", "--EE", "--P-"}, {"x * c", "E---", "-P--"},
    {"c * x", "E---", "-P--"},       {"x + c", "--EE", "P---"},
    {"x - c", "--EE", "P---"},       {"c - x", "----", "----"},
    {"x / c", "?---", "-P--"},  // where c is 0, the identity 0 does not stay one
    {"abs(x - c)", "----", "----"},  {"(1.0 - c) + c * x", "----", "----"},
    {"x", "EEEE", "PPPP"},
};

TEST(Laws, TableOverTheReals) {
  const std::array<std::string, 4> reducers{"x + y", "x * y", "min(x, y)", "max(x, y)"};
  for (const LawCase& row : table) {
    for (size_t r = 0; r < reducers.size(); ++r) {
      const Module m = module_of_functions("fn R(x: f64, y: f64) -> f64 = " + reducers[r] +
                                           "\nfn F(x: f64, c: f64) -> f64 = " + row.fn);
      TrialLawChecker laws;
      for (const bool push : {false, true}) {
        for (const LawKind kind :
             push ? std::vector{LawKind::pushdown} : std::vector{LawKind::exchange, LawKind::distributive}) {
          const LawAnswer answer = laws.law(m, kind, find(m, "F"), find(m, "R"), 0);
          const char wanted = (push ? row.pushdown : row.exchange)[r];
          const Verdict verdict = wanted == '-' ? Verdict::refuted : wanted == '?' ? Verdict::unknown : Verdict::proven;
          EXPECT_EQ(answer.verdict, verdict)
              << law_name(kind) << " of " << row.fn << " over " << reducers[r] << ": " << answer.counterexample;
          if (wanted == '-') {
            EXPECT_FALSE(answer.counterexample.empty());
          }
        }
      }
    }
  }
}

TEST(Laws, TheOtherOperandMayBeThePreReducedOne) {
  const Module m =
      module_of_functions("fn R(x: f64, y: f64) -> f64 = x + y\nfn F(y: f64, x: f64) -> f64 = x / (y * y) ");
  TrialLawChecker laws;
  EXPECT_EQ(laws.law(m, LawKind::distributive, find(m, "F"), find(m, "R"), 0).verdict, Verdict::refuted);
  const Module d = module_of_functions("fn R(x: f64, y: f64) -> f64 = x + y\nfn F(y: f64, x: f64) -> f64 = x * y");
  EXPECT_EQ(laws.law(d, LawKind::distributive, find(d, "F"), find(d, "R"), 1).verdict, Verdict::proven);
}

TEST(Laws, CounterexamplesUseTheUsersNames) {
  const Module m = module_of_functions("fn add(x: f64, y: f64) -> f64 = x + y\nfn damp(x: f64) -> f64 = 0.5 + 0.5 * x");
  TrialLawChecker laws;
  const LawAnswer answer = laws.law(m, LawKind::exchange, find(m, "damp"), find(m, "add"), 0);
  EXPECT_EQ(answer.verdict, Verdict::refuted);
  EXPECT_EQ(answer.counterexample, "damp(add(1, 2)) = 2 but add(damp(1), damp(2)) = 2.5, where x is 1 and 2");
}

// The largest integer stands for infinity and stays so when it is added to; taken from anything it leaves the smallest.
TEST(Laws, TheEndsOfIntegersAreInfinities) {
  const Module m = module_of_functions(
      "fn R(x: i64, y: i64) -> i64 = min(x, y)\nfn F(x: i64, y: i64) -> i64 = x + y - 1"
      "\nfn G(x: i64, c: i64) -> i64 = max(x, c)\nfn H(x: i64) -> i64 = x - 9223372036854775807"
      "\nfn I(x: i64) -> i64 = x // 2");
  TrialLawChecker laws;
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "F"), find(m, "R"), 0).verdict, Verdict::proven);
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "G"), find(m, "R"), 0).verdict, Verdict::proven);
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "H"), find(m, "R"), 0).verdict, Verdict::proven);
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "I"), find(m, "R"), 0).verdict, Verdict::unknown);
}

TEST(Laws, ZeroTimesInfinityIsNoIdentity) {
  const Module m =
      module_of_functions("fn R(x: f64, y: f64) -> f64 = max(x, y)\nfn F(x: f64, y: f64) -> f64 = x * abs(y)");
  TrialLawChecker laws;
  EXPECT_EQ(laws.law(m, LawKind::distributive, find(m, "F"), find(m, "R"), 0).verdict, Verdict::unknown);
}

TEST(Laws, TranscendentalFunctionsOfOtherArgumentsDoNotMatter) {
  const Module m = module_of_functions(
      "fn R(x: f64, y: f64) -> f64 = x + y\nfn F(x: f64, c: f64) -> f64 = x * exp(c)"
      "\nfn G(x: f64) -> f64 = exp(x)");
  TrialLawChecker laws;
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "F"), find(m, "R"), 0).verdict, Verdict::proven);
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "G"), find(m, "R"), 0).verdict, Verdict::refuted);
}

TEST(Laws, SignsMayBeDeclared) {
  const Module m = module_of_functions(
      "fn R(x: f64, y: f64) -> f64 = max(x, y)\nfn F(x: f64, y: f64 > 0.0) -> f64 = x * y"
      "\nfn G(x: f64, y: f64 >= 0.0) -> f64 = x * y\nfn H(x: f64, y: f64 >= -1.0) -> f64 = x * (y + 2.0)");
  TrialLawChecker laws;
  EXPECT_EQ(laws.law(m, LawKind::distributive, find(m, "F"), find(m, "R"), 0).verdict, Verdict::proven);
  EXPECT_EQ(laws.law(m, LawKind::distributive, find(m, "G"), find(m, "R"), 0).verdict, Verdict::unknown);
  EXPECT_EQ(laws.law(m, LawKind::distributive, find(m, "H"), find(m, "R"), 0).verdict, Verdict::proven);
}

TEST(Laws, BoolsAreTriedCompletely) {
  const Module m = module_of_functions(
      "fn R(x: bool, y: bool) -> bool = x || y\nfn F(x: bool, c: bool) -> bool = x && c"
      "\nfn G(x: bool) -> bool = !x\nfn H(x: bool, c: bool) -> bool = if c then x else false");
  TrialLawChecker laws;
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "F"), find(m, "R"), 0).verdict, Verdict::proven);
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "G"), find(m, "R"), 0).verdict, Verdict::refuted);
  EXPECT_EQ(laws.law(m, LawKind::exchange, find(m, "H"), find(m, "R"), 0).verdict, Verdict::proven);
}

TEST(Shapes, AffineFormsAreTakenApart) {
  const Module m = module_of_functions(
      "fn F(x: f64, r: f64) -> f64 = (1.0 - r) + r * x\nfn G(x: f64) -> f64 = 3.0 - (x - 1.0) / 2.0"
      "\nfn H(x: f64) -> f64 = x * x");
  const auto f = affine_form(m.functions[FnId(0)], 0);
  ASSERT_TRUE(f);
  EXPECT_EQ(f->slope, make_param(1, ElementType::of(Scalar::f64)));
  const auto g = affine_form(m.functions[FnId(1)], 0);
  ASSERT_TRUE(g);
  EXPECT_TRUE(is_literal(g->slope, -0.5));
  EXPECT_TRUE(is_literal(g->offset, 3.5));
  EXPECT_FALSE(affine_form(m.functions[FnId(2)], 0));
}

}  // namespace
}  // namespace kasen
