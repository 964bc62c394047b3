// The verifier: what it refuses of programs and placed programs.
#include "tests/core/verify_cases.h"

namespace kasen {
namespace {

using testing::expect_fault;
using testing::expect_right;
using testing::faults_of;
using testing::functions;
using testing::joined;

const std::string x1 = "%x = input \"x\" : f64[N] @?\n";
const std::string u1 = "%u = input \"u\" : f64[M] @?\n";
const std::string g1 = "%G = input \"G\" : f64[N,M] sparse @?\n";
const std::string d1 = "%D = input \"D\" : f64[N,K] @?\n";
const std::string k1 = "%k = literal 3 : i64 @?\n";

TEST(Level1, RightPrograms) {
  expect_right(1, x1 + g1 + "%y = mxv[mul, add] %x, %G : f64[M] @?\n%s = reduce[add] %y : f64 @?\noutput \"s\" %s");
  expect_right(1, d1 + x1 +
                      "%y = map[mul] %D, %x : f64[N,K] @?\n%s = reduce[add; over K] %y : f64[N] @?\n"
                      "%t = reduce[add; over N] %y : f64[K] @?\noutput \"s\" %s\noutput \"t\" %t");
  expect_right(1, "%c = fill 1.0 : f64[K] @?\n%d = map[half] %c : f64[K] @?\noutput \"d\" %d");
  expect_right(1, x1 + k1 +
                      "%l = list %x : list<3> f64[N] @?\n%a = get %l, %k : f64[N] @?\n"
                      "%m = push %l, %a : list<3> f64[N] @?\n%o = put %m, %k, %x : list<3> f64[N] @?\n"
                      "%b = get %o, %k : f64[N] @?\noutput \"b\" %b");
  expect_right(1, k1 +
                      "%t = apply[less] %k : bool @?\n"
                      "%r, %s = while (%i : i64 @? = %k, %c : bool @? = %t) test 1 : i64 @?, bool @? {\n"
                      "%j = apply[count] %i : i64 @?\n%d = apply[less] %j : bool @?\nyield %j, %d\n}\noutput \"r\" %r");
}

TEST(Level1, Scopes) {
  expect_fault(1,
               k1 + x1 +
                   "%r = for %i : i64 @? in %k, %k (%a : f64[N] @? = %x) : f64[N] @? {\n"
                   "%b = map[half] %a : f64[N] @?\nyield %b\n}\noutput \"b\" %b",
               "%b is not visible here");
  expect_fault(
      1,
      k1 + x1 +
          "%r, %q = for %i : i64 @? in %k, %k (%a : f64[N] @? = %x, %b : f64[N] @? = %a) : f64[N] @?, f64[N] @? {\n"
          "yield %a, %b\n}\noutput \"r\" %r",
      "");
  expect_fault(1, x1 + "output \"x\" %x\n%y = map[half] %x : f64[N] @?", "after the outputs");
  expect_fault(1, x1 + "yield %x", "a yield outside of a block");
  expect_fault(1, x1 + "output \"x\" %x\noutput \"x\" %x", "'x' is named twice");
  expect_fault(1, x1 + "%z = input \"x\" : f64[N] @?\noutput \"z\" %z", "'x' is named twice");
}

TEST(Level1, Counts) {
  expect_fault(1, x1 + "%y = map[half] %x, %x : f64[N] @?", "half has 1 parameters");
  expect_fault(1, x1 + "%y = map %x : f64[N] @?", "it names 0 functions");
  expect_fault(1, x1 + "%y = reduce[add] %x, %x : f64 @?", "it has 2 operands");
  expect_fault(1, x1 + "%y, %z = map[half] %x : f64[N] @?, f64[N] @?", "it has 2 results");
  expect_fault(1, x1 + "%y = gather %x : f64[N] @?", "it needs level 2");
  expect_fault(1, x1 + k1 + "%r = for %i : i64 @? in %k, %k (%a : f64[N] @? = %x) : f64[N] @? {\nyield %a, %a\n}",
               "2 values are handed on instead of 1");
  expect_fault(1, x1 + k1 + "%r = for %i : i64 @? in %k, %k (%a : f64[N] @? = %x) : f64[N] @? {\n}",
               "does not end with yield");
  expect_fault(1, x1 + k1 + "%r = while (%a : i64 @? = %k) test 3 : i64 @? {\nyield %a\n}", "'test' names none");
}

TEST(Level1, ElementTypes) {
  expect_fault(1, x1 + "%y = map[count] %x : f64[N] @?", "%x holds f64; parameter 'x' of count is i64; convert it");
  expect_fault(1, x1 + "%y = map[half] %x : f32[N] @?", "its result holds f32; half gives f64");
  expect_fault(1, k1 + "%r = while (%a : i64 @? = %k) test 0 : i64 @? {\nyield %a\n}",
               "a loop's test is a shared bool");
  expect_fault(1, x1 + "%f = literal 1.0 : f64 @?\n%l = list %x : list<2> f64[N] @?\n%a = get %l, %f : f64[N] @?",
               "the position in a list is a shared i64");
  expect_fault(1, "%a = literal (1.0, 2.0) : f64 @?", "2 literals for an element of 1 scalars");
  expect_fault(1, "%n = input \"n\" : null[N] @?", "only sparse matrices hold null");
}

TEST(Level1, DimensionsByName) {
  expect_fault(1, x1 + u1 + "%y = map[add] %x, %u : f64[N] @?", "%u is over [M], but the result over [N]");
  expect_fault(1, x1 + "%y = map[half] %x : f64[N,K] @?", "no operand has the result's dimension 'K'");
  expect_fault(1, "%c = literal 1.0 : f64 @?\n%d = map[half] %c : f64 @?", "its result has rank 0; map gives arrays");
  expect_fault(1, x1 + "%y = apply[half] %x : f64[N] @?", "its result is an array; apply gives shareds of rank 0");
  expect_fault(1, x1 + "%s = reduce[add; over M] %x : f64 @?", "it reduces over a dimension that %x does not have");
  expect_fault(1, x1 + "%s = reduce[add] %x : f64[N] @?", "the rest of [N] is []");
  expect_fault(1, u1 + g1 + "%y = mxv[mul, add] %u, %G : f64[N] @?", "of this product is over");
  expect_fault(1, x1 + g1 + "%y = mxv[mul, add] %x, %G : f64[N] @?", "the result of this product is over [M]");
  expect_fault(1, "%y = input \"y\" : f64[N,N] @?\n%s = reduce[add; over N] %y : f64[N] @?",
               "a dimension is listed twice");
  expect_fault(1, "%y = input \"y\" : f64[K,K] sparse @?", "one of them local at most");
}

TEST(Level1, Matrices) {
  expect_fault(1, g1 + "%y = map[half] %G : f64[N] @?", "%G is a sparse matrix; only products and folds read nonzeros");
  expect_fault(1, x1 + "%z = map[half] %x : f64[N] @?\n%y = mxv[mul, add] %x, %z : f64[N] @?", "%z is no matrix");
  expect_fault(1, "%y = fill 1.0 : f64[N,M] sparse @?", "only inputs are sparse");
  expect_fault(1, "%B = input \"B\" : f64[K,N] @?\n%w = fill 1.0 : f64[K] @?\n%y = mxv[mul, add] %w, %B : f64[N] @?",
               "dense matrices are cut by rows");
}

TEST(Level1, Batches) {
  const std::string b1 = "%B = input \"B\" : f64[K,N,M] sparse @?\n";
  const std::string t1 = b1 + k1 + x1 + "%t = batch[K] %B, %k : f64[N,M] sparse @?\n";
  expect_right(1, t1 + "%y = mxv[mul, add] %x, %t : f64[M] @?\noutput \"y\" %y");
  expect_fault(1, "%B = input \"B\" : f64[M,N,M] sparse @?",
               "the first dimension of a sparse matrix with batches is local");
  expect_fault(1, "%B = input \"B\" : f64[K,N,M,M] sparse @?", "a sparse matrix has two dimensions");
  expect_fault(1, b1 + x1 + "%y = mxv[mul, add] %x, %B : f64[M] @?", "%B is no matrix");
  expect_fault(1, b1 + "output \"B\" %B", "%B");
  expect_fault(1, t1 + "%s = batch[K] %t, %k : f64[M] @?", "%t is no sparse input with batches");
  expect_fault(1, g1 + k1 + "%t = batch[N] %G, %k : f64[M] sparse @?", "the type of %t is not possible");
  expect_fault(1, b1 + k1 + "%t = batch[N] %B, %k : f64[N,M] sparse @?",
               "it takes an index of another dimension than 'K'");
  expect_fault(1, b1 + x1 + "%t = batch[K] %B, %x : f64[N,M] sparse @?", "the index of a batch is a shared i64");
  expect_fault(1, b1 + k1 + "%t = batch[K] %B, %k : f64[M,N] sparse @?", "a batch of %B is f64[N,M] sparse");
  expect_fault(1, "dim E entries \"B\"\n" + b1, "'B' is no sparse input, or one with batches");
}

TEST(Level1, Folds) {
  const std::string near = "fn near(e: f64, p: [f64; 3], v: f64) -> f64 = e * p[0] * v\n";
  const std::string spread = "fn spread(e: f64, p: [f64; 3]) -> [f64; 3] = [$0 in 3: e * p[$0]]\n";
  const std::string all = near + spread + g1 + d1 + x1 + u1 + k1;
  expect_right(1, all +
                      "%a = fold_rows[near, add] %G, %D, %u rows 1 : f64[N] @?\n"
                      "%b = fold_cols[spread, add] %G, %D rows 1 : f64[M,K] @?\n"
                      "%c = fold_cols[mul, add] %G, %x rows 1 : f64[M] @?\noutput \"a\" %a");
  expect_fault(1, all + "%a = fold_rows[mul, add] %x, %u rows 0 : f64[N] @?", "%x is no sparse matrix of the bundle");
  expect_fault(1, all + "%a = fold_rows[near, add] %G, %u rows 0 : f64[N] @?", "near has 3 parameters");
  expect_fault(1, all + "%a = fold_rows[mul, add] %G, %x rows 0 : f64[N] @?", "operand 1 of this fold is over M");
  expect_fault(1, all + "%a = fold_rows[mul, add] %G, %x rows 1 : f64[N] @?", "no operand at their other side");
  expect_fault(1, all + "%a = fold_rows[mul, add] %G, %x rows 3 : f64[N] @?", "3 operands over rows");
  expect_fault(1, all + "%a = fold_cols[mul, add] %G, %D rows 1 : f64[M] @?", "%D gives [f64; 3]");
  expect_fault(1, all + "%a = fold_cols[mul, add] %G, %k rows 0 : f64[M] @?", "%k gives i64");
  expect_fault(1, all + "%a = fold_cols[mul, add] %G, %x rows 1 : f64[N] @?", "it gives elements, or points, over M");
  expect_fault(1, all + "%a = fold_cols[spread, add] %G, %D rows 1 : f64[M] @?",
               "spread gives [f64; 3] for each entry");
  expect_fault(1, all + "%a = fold_cols[mul, half] %G, %x rows 1 : f64[M] @?", "half does not combine two f64");
  expect_fault(1, all + "%a = fold_cols[mul, sub] %G, %x rows 1 : f64[M] @?", "sub");
}

TEST(Level2, FoldsReadBothSides) {
  const std::string both =
      "fn both(e: f64, x: f64, u: f64) -> f64 = e * x * u\n"
      "%G = input \"G\" : f64[N,M] sparse @part\n%x = input \"x\" : f64[N] @part\n"
      "%u = input \"u\" : f64[M] @part\n%xs = scatter %x : f64[N] @cons{G.rows}\n";
  const std::string end = "\n%g = gather %a : f64[N] @part\noutput \"g\" %g";
  expect_right(2, both +
                      "%us = scatter %u : f64[M] @cons{G.cols}\n"
                      "%a = fold_rows[both, add] %G, %xs, %us rows 1 : f64[N] @pre(add){G.rows}" +
                      end);
  expect_fault(2, both + "%a = fold_rows[both, add] %G, %xs, %u rows 1 : f64[N] @pre(add){G.rows}" + end,
               "%u is @part, but fold_rows reads @cons{G.cols}; scatter %u to {G.cols} first");
  expect_fault(2,
               both +
                   "%us = scatter %u : f64[M] @cons{G.cols}\n"
                   "%a = fold_rows[both, add] %G, %x, %us rows 1 : f64[N] @pre(add){G.rows}" +
                   end,
               "(rule 7)");
}

// The worker that owns an index has all nonzeros of it. What lies over the local dimension is a shared.
TEST(Level2, WholeLinesNeedNoGhosts) {
  const std::string all =
      "fn both(e: f64, x: f64, v: f64) -> f64 = e * x * v\n"
      "%X = input \"X\" : f64[N,K] sparse @part\n%x = input \"x\" : f64[N] @part\n%v = input \"v\" : f64[K] @cons\n";
  const std::string rows = "\noutput \"a\" %a", cols = "\n%g = gather %a : f64[K] @part\noutput \"g\" %g";
  expect_right(2, all + "%a = mxvt[mul, add] %v, %X : f64[N] @part" + rows);
  expect_right(2, all + "%a = mxv[mul, add] %x, %X : f64[K] @pre(add)" + cols);
  expect_right(2, all + "%a = fold_rows[both, add] %X, %x, %v rows 1 : f64[N] @part" + rows);
  expect_right(2, all + "%a = fold_cols[both, add] %X, %x, %v rows 1 : f64[K] @pre(add)" + cols);
  expect_fault(2, all + "%a = mxvt[mul, add] %v, %X : f64[N] @cons{X.rows}" + rows, "(rule 7)");
  expect_fault(2, all + "%a = mxv[mul, add] %x, %X : f64[K] @cons\noutput \"a\" %a", "(rule 6)");
  expect_fault(2, all + "%a = fold_rows[both, add] %X, %x, %v rows 1 : f64[N] @cons{X.rows}" + rows, "(rule 7)");
  const std::string pre = all + "%q = mxv[mul, add] %x, %X : f64[K] @pre(add)\n";
  expect_fault(2, pre + "%a = mxvt[mul, add] %q, %X : f64[N] @part" + rows, "%q is @pre(add)");
  expect_fault(2, pre + "%a = fold_rows[both, add] %X, %x, %q rows 1 : f64[N] @part" + rows, "%q is @pre(add)");
  expect_fault(2, all + "%a = fold_rows[both, add] %X, %v, %x rows 1 : f64[N] @part" + rows, "is over");
}

TEST(Level1, Lists) {
  expect_fault(1, x1 + "%l = list %x : list<2> f64[N] @?\n%y = map[half] %l : f64[N] @?", "%l is a list");
  expect_fault(1, x1 + "%l = list %x : f64[N] @?", "its result is no list");
  expect_fault(1, x1 + u1 + "%l = list %x : list<2> f64[N] @?\n%m = push %l, %u : list<2> f64[N] @?", "%u is f64[M]");
  expect_fault(1, x1 + "%l = list %x : list<2> f64[N] @?\n%m = push %l, %x : list<3> f64[N] @?",
               "the list is list<2> f64[N]");
  expect_fault(1, x1 + k1 + "%y = get %x, %k : f64[N] @?", "%x is not a list");
}

TEST(Level1, CarriedTypes) {
  expect_fault(1, x1 + u1 + k1 + "%r = for %i : i64 @? in %k, %k (%a : f64[N] @? = %x) : f64[N] @? {\nyield %u\n}",
               "%u is f64[M], but carried value %a is f64[N]");
  expect_fault(1, x1 + k1 + "%t = apply[less] %k : bool @?\n%r = if %t : f64[N] @? {\nyield %x\n} else {\nyield %k\n}",
               "%k is i64, but %r is f64[N]");
  expect_fault(1, "%x = input \"x\" : f64[N] @part", "level 1 places nothing");
}

TEST(Level1, ReducersAreTried) {
  expect_fault(1, x1 + "%s = reduce[sub] %x : f64 @? at 3:5",
               "'sub' cannot reduce: it is not associative; sub(sub(1, 2), 3) = -4 but sub(1, sub(2, 3)) = 2");
  expect_fault(1, x1 + "%s = reduce[lse] %x : f64 @?", "'lse' is not known to be associative");
  expect_right(
      1, "assume associative(lse) operand 0 by \"assumed\"\nassume commutative(lse) operand 0 by \"assumed\"\n" + x1 +
             "%s = reduce[lse] %x : f64 @?\noutput \"s\" %s");
  expect_fault(1,
               "assume associative(sub) operand 0 by \"assumed\"\nassume commutative(sub) operand 0 by \"assumed\"\n" +
                   x1 + "%s = reduce[sub] %x : f64 @?",
               "(sub) is assumed, but does not hold");
  expect_fault(1, "assume pushdown(half, add) operand 0 by \"assumed\"\n" + x1,
               "pushdown(half, add) is assumed, but does not hold; half(add(1, 2)) = 1.5 but add(half(1), 2) = 2.5");
  // What a solver has proven is accepted where only trials are possible, as long as none fails.
  const std::string by_solver =
      "law associative(lse) operand 0 by \"proven\"\nlaw commutative(lse) operand 0 by \"proven\"\n";
  expect_right(1, by_solver + x1 + "%s = reduce[lse] %x : f64 @?\noutput \"s\" %s");
  expect_fault(1, "law associative(sub) operand 0 by \"proven\"\n" + x1, "law associative(sub) does not hold");
  expect_fault(1, "law associative(lse) operand 0 by \"trial\"\n" + x1, "law associative(lse) is not known to hold");
  expect_fault(1, x1 + "%s = reduce[peak] %x : f64 @?", "'peak' has no known identity element");
}

TEST(Level1, LoopVariablesStandInTheirLoops) {
  const auto reported = [](const std::string& body) {
    return joined(faults_of(
        parse_module("kir 1 level 1\nmodule t {\n  fn f(x: [f64; 2]) -> f64 = " + body + "\n}\n##end\n", "t.kir")));
  };
  EXPECT_EQ(reported("sum($0 in 2: x[$0]) * sum($0 in 2: sum($1 in 2: x[$0] * x[$1]))"), "");
  EXPECT_NE(reported("sum($1 in 2: x[$0])").find("$0 is the variable of no loop around it"), std::string::npos);
  EXPECT_NE(reported("sum($0 in 2: x[$0]) * x[$0]").find("$0 is the variable of no loop"), std::string::npos);
  EXPECT_NE(reported("sum($0 in 2: sum($0 in 2: x[$0]))").find("$0 is the variable of two loops"), std::string::npos);
}

TEST(Level1, UsesKeepTheRangesThatFunctionsDeclare) {
  const std::string scale = "fn scale(v: f64, w: f64 > 0.0 <= 1.0) -> f64 = v * w\n";
  const std::string p1 = "%p = param \"p\" = 0.5 : f64 @?\n";
  const std::string use = "%z = map[scale] %x, %p : f64[N] @?\n";
  expect_fault(1, scale + x1 + p1 + use, "scale takes w > 0.0 <= 1.0; nothing is known of %p");
  expect_right(1, scale + "assume \"p\" > 0.0 <= 1.0\n" + x1 + p1 + use + "output \"z\" %z");
  expect_right(1, scale + "assume \"p\" >= 0.25 < 1.0\n" + x1 + p1 + use + "output \"z\" %z");
  expect_fault(1, scale + "assume \"p\" >= 0.0 <= 1.0\n" + x1 + p1 + use, "the range of %p is >= 0.0 <= 1.0");
  expect_right(1, scale + x1 + "%p = literal 0.5 : f64 @?\n" + use + "output \"z\" %z");
  expect_fault(1, scale + x1 + "%s = reduce[scale] %x : f64 @?", "scale declares ranges");
  expect_fault(1, "assume \"q\" > 0.0\n" + x1, "a range of 'q' is assumed, which is no input or param");
  expect_fault(1, "assume \"x\" > 0.0 < 0.0\n" + x1, "no number is in the range that is assumed of 'x'");
}

TEST(Level1, TheProgramsOwnLineIsShown) {
  const Module m = parse_module("kir 1 level 1\nsource \"p.ks\"\n| dim N\n| s = reduce(sub, x)\nmodule t {" +
                                    functions + x1 + "%s = reduce[sub] %x : f64 @? at 2:5\noutput \"s\" %s\n}\n##end\n",
                                "t.kir");
  const std::string text = joined(faults_of(m));
  EXPECT_EQ(text.rfind("p.ks:2:5: error: 'sub' cannot reduce", 0), 0u) << text;
  EXPECT_NE(text.find("\n  s = reduce(sub, x)\n      ^"), std::string::npos) << text;
}

TEST(Level2, StatesByThemselves) {
  expect_fault(2, "%x = input \"x\" : f64[N] @?\noutput \"x\" %x", "%x has no state");
  expect_fault(2, "%x = fill 1.0 : f64[N] @cons{Q.rows}\noutput \"x\" %x", "there is no sparse input 'Q'");
  expect_fault(2, "%G = input \"G\" : f64[N,M] sparse @part\n%x = fill 1.0 : f64[N] @cons{G.cols}\noutput \"x\" %x",
               "the columns of G are indices of another dimension, M");
  expect_fault(2, "%x = fill 1.0 : f64[N] @pre(less)\n%g = gather %x : f64[N] @part\noutput \"g\" %g",
               "does not reduce elements of this type");
  expect_fault(2, "%x = fill 1.0 : f64[N] @pre(add)\n%g = gather %x : f64[N] @part\noutput \"g\" %g",
               "a generated array is never pre-reduced");
}

TEST(Level2, TestsAreConsistent) {
  expect_fault(2,
               "%k = literal 3 : i64 @cons\n%t = apply[less] %k : bool @cons\n"
               "%r = while (%a : bool @part = %t) test 0 : bool @part {\nyield %a\n}\noutput \"r\" %r",
               "(rule 3)");
}

TEST(Level2, OnlyWhatNeitherSendsNorFailsIsSpeculated) {
  const std::string head = "%x = input \"x\" : f64[N] @part\n";
  expect_right(2, head + "%h = map[half] %x speculated : f64[N] @part\noutput \"h\" %h");
  const std::string why = "work that may be in vain neither sends anything nor can fail";
  expect_fault(2,
               head +
                   "%G = input \"G\" : f64[N,N] sparse @part\n%c = scatter %x speculated : f64[N] @cons{G.rows}\n"
                   "output \"c\" %c",
               why);
  expect_fault(2,
               head +
                   "%l = list %x : list<2> f64[N] @part\n%k = literal 0 : i64 @cons\n"
                   "%a = get %l, %k speculated : f64[N] @part\noutput \"a\" %a",
               why);
}

TEST(Level2, LawsAreCheckedAgain) {
  const std::string body =
      "%G = input \"G\" : f64[N,N] sparse @part\n%x = input \"x\" : f64[N] @part\n"
      "%c = scatter %x : f64[N] @cons{G.rows}\n%p = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n"
      "%q = map[odd] %p : f64[N] @pre(add){G.cols}\n%y = gather %q : f64[N] @part\noutput \"y\" %y";
  const std::string odd = "fn odd(x: f64) -> f64 = log(exp(x))\n";
  const std::string square = "fn odd(x: f64) -> f64 = x * x\n";
  expect_fault(2, square + "law exchange(odd, add) operand 0 by \"proven\"\n" + body,
               "does not hold; odd(add(1, 2)) = 9");
  expect_fault(2, odd + "law exchange(odd, add) operand 0 by \"trial\"\n" + body, "is not known to hold");
  expect_fault(2, odd + "law exchange(odd, add) operand 0 by \"assumed\"\n" + body,
               "the module has no such assumption");
  expect_right(2, odd + "law exchange(odd, add) operand 0 by \"proven\"\n" + body);
  expect_right(
      2, odd + "assume exchange(odd, add) operand 0 by \"user\"\nlaw exchange(odd, add) operand 0 by \"assumed\"\n" +
             body);
}

}  // namespace
}  // namespace kasen
