// The verifier: what it refuses at each level, and that no text or table of values makes it crash.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libcore/laws.h"
#include "libcore/module.h"

namespace kasen {
namespace {

std::vector<std::string> faults_of(const Module& module) {
  TrialLawChecker laws;
  std::vector<std::string> texts;
  for (const Diagnostic& fault : verify_module(module, laws)) texts.push_back(format_diagnostic(fault));
  return texts;
}

const std::string functions = R"(
  dim N
  dim M
  dim K local = 3
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn sub(x: f64, y: f64) -> f64 = x - y
  fn half(x: f64) -> f64 = 0.5 * x
  fn lse(x: f64, y: f64) -> f64 = log(exp(x) + exp(y))
  fn peak(x: f64, y: f64) -> f64 = max(x, max(y, 0.0))
  fn count(x: i64) -> i64 = x + 1
  fn less(x: i64) -> bool = x < 10
)";

Module module_of(int level, const std::string& body) {
  return parse_module("kir 1 level " + std::to_string(level) + "\nmodule t {" + functions + body + "\n}\n##end\n",
                      "t.kir");
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + '\n';
  return all;
}

void expect_right(int level, const std::string& body) {
  EXPECT_EQ(joined(faults_of(module_of(level, body))), "") << body;
}

// Every fault found is the one that is wanted.
void expect_fault(int level, const std::string& body, const std::string& wanted) {
  const std::vector<std::string> found = faults_of(module_of(level, body));
  EXPECT_FALSE(found.empty()) << body << "\nwanted: " << wanted;
  for (const std::string& text : found)
    EXPECT_NE(text.find(wanted), std::string::npos) << text << "\nwanted: " << wanted;
}

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
               "the place in a list is a shared i64");
  expect_fault(1, "%a = literal (1.0, 2.0) : f64 @?", "2 literals for an element of 1 scalars");
  expect_fault(1, "%n = input \"n\" : null[N] @?", "only sparse matrices hold null");
}

TEST(Level1, DimensionsByName) {
  expect_fault(1, x1 + u1 + "%y = map[add] %x, %u : f64[N] @?", "%u is over [M], but the result over [N]");
  expect_fault(1, x1 + "%y = map[half] %x : f64[N,K] @?", "no operand has the result's dimension 'K'");
  expect_fault(1, "%c = literal 1.0 : f64 @?\n%d = map[half] %c : f64 @?", "its result has rank 0; map gives arrays");
  expect_fault(1, x1 + "%y = apply[half] %x : f64[N] @?", "its result is an array; apply gives shareds of rank 0");
  expect_fault(1, x1 + "%s = reduce[add; over M] %x : f64 @?", "it reduces over a dimension that %x does not have");
  expect_fault(1, x1 + "%s = reduce[add] %x : f64[N] @?", "what is left of [N] is []");
  expect_fault(1, u1 + g1 + "%y = mxv[mul, add] %u, %G : f64[N] @?", "of this product is over");
  expect_fault(1, x1 + g1 + "%y = mxv[mul, add] %x, %G : f64[N] @?", "the result of this product is over [M]");
  expect_fault(1, "%y = input \"y\" : f64[N,N] @?\n%s = reduce[add; over N] %y : f64[N] @?",
               "a dimension stands there twice");
  expect_fault(1, "%y = input \"y\" : f64[N,K] sparse @?", "neither of them local");
}

TEST(Level1, Matrices) {
  expect_fault(1, g1 + "%y = map[half] %G : f64[N] @?", "%G is a sparse matrix; only products read stored entries");
  expect_fault(1, x1 + "%z = map[half] %x : f64[N] @?\n%y = mxv[mul, add] %x, %z : f64[N] @?", "%z is no matrix");
  expect_fault(1, "%y = fill 1.0 : f64[N,M] sparse @?", "only inputs are sparse");
  expect_fault(1, "%B = input \"B\" : f64[K,N] @?\n%w = fill 1.0 : f64[K] @?\n%y = mxv[mul, add] %w, %B : f64[N] @?",
               "dense matrices are cut by rows");
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

TEST(Level1, UsesKeepTheRangesThatFunctionsDeclare) {
  const std::string scale = "fn scale(v: f64, w: f64 > 0.0 <= 1.0) -> f64 = v * w\n";
  const std::string p1 = "%p = param \"p\" = 0.5 : f64 @?\n";
  const std::string use = "%z = map[scale] %x, %p : f64[N] @?\n";
  expect_fault(1, scale + x1 + p1 + use, "scale takes w > 0.0 <= 1.0; nothing is known of %p");
  expect_right(1, scale + "assume \"p\" > 0.0 <= 1.0\n" + x1 + p1 + use + "output \"z\" %z");
  expect_right(1, scale + "assume \"p\" >= 0.25 < 1.0\n" + x1 + p1 + use + "output \"z\" %z");
  expect_fault(1, scale + "assume \"p\" >= 0.0 <= 1.0\n" + x1 + p1 + use, "of %p is known: >= 0.0 <= 1.0");
  expect_right(1, scale + x1 + "%p = literal 0.5 : f64 @?\n" + use + "output \"z\" %z");
  expect_fault(1, scale + x1 + "%s = reduce[scale] %x : f64 @?", "scale declares ranges");
  expect_fault(1, "assume \"q\" > 0.0\n" + x1, "a range of 'q' is assumed, which is no input or param");
}

TEST(Level1, TheProgramsOwnLineIsShown) {
  const Module m = parse_module("kir 1 level 1\nsource \"p.ks\"\n| dim N\n| s = reduce(sub, x)\nmodule t {" +
                                    functions + x1 + "%s = reduce[sub] %x : f64 @? at 2:5\noutput \"s\" %s\n}\n##end\n",
                                "t.kir");
  const std::string text = joined(faults_of(m));
  EXPECT_EQ(text.rfind("p.ks:2:5: error: 'sub' cannot reduce", 0), 0u) << text;
  EXPECT_NE(text.find("\n  s = reduce(sub, x)\n      ^"), std::string::npos) << text;
}

// ---- level 2

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

// ---- level 3

const std::string sources3 = "%G = input \"G\" : f64[N,N] sparse @part\n%x = input \"x\" : f64[N] @part\n";

TEST(Regions, RightOnes) {
  expect_right(3,
               "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N]\nbuffer ~b3 : f64[N] "
               "{G.cols}\n" +
                   sources3 +
                   "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n"
                   "%p = region mxm (%c, %G) : f64[N] @pre(add){G.cols} ~b1 {\n"
                   "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\nyield %m\n}\n"
                   "%g = gather %p : f64[N] @part ~b1\n"
                   "%a, %s = region iter_on_vec (%g, %x) : f64[N] @part ~b1, f64 @pre(add) {\n"
                   "%h = map[half] %g : f64[N] @part\n%d = map[sub] %h, %x : f64[N] @part\n"
                   "%e = reduce[add] %d : f64 @pre(add)\nyield %h, %e\n}\n"
                   "%z = region product_epilogue (%c, %G, %x) : f64[N] @part ~b2 {\n"
                   "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b3\n%o = gather %n : f64[N] @part ~b3\n"
                   "%q = map[add] %o, %x : f64[N] @part\nyield %q\n}\n"
                   "%r = gather %s : f64 @part\noutput \"a\" %a\noutput \"r\" %r\noutput \"z\" %z");
}

void expect_region_fault(const std::string& region, const std::string& wanted) {
  expect_fault(3,
               "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N] {G.cols}\n"
               "fn shift(x: f64, c: f64) -> f64 = x + c\n" +
                   sources3 +
                   "%u = input \"u\" : f64[M] @part\n%H = input \"H\" : f64[N,N] sparse @part\n"
                   "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n" +
                   region,
               wanted);
}

TEST(Regions, WhatTheyMayHold) {
  expect_region_fault(
      "%a = region iter_on_vec (%u) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\nyield %h\n}",
      "in order of first use it reads (%x)");
  expect_region_fault(
      "%a = region iter_on_vec (%x, %u) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\n"
      "%e = reduce[add] %u : f64 @pre(add)\nyield %h\n}",
      "it runs over another dimension than its region");
  expect_region_fault(
      "%a = region iter_on_vec (%c, %G) : f64[N] @pre(add){G.cols} ~b1 {\n"
      "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\nyield %m\n}",
      "it may not stand in a region iter_on_vec");
  expect_region_fault(
      "%a = region iter_on_vec (%x) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\nyield %x\n}",
      "%x is handed on, but not made inside");
  expect_region_fault(
      "%a, %b = region mxm (%c, %G, %H) : f64[N] @pre(add){G.cols} ~b1, f64[N] @pre(add){H.cols} ~b2 {\n"
      "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n"
      "%n = mxv[mul, add] %c, %H : f64[N] @pre(add){H.cols}\nyield %m, %n\n}",
      "H.rows");
  expect_region_fault(
      "%a = region mxm (%c, %G) : f64[N] @pre(add){G.cols} ~b1 {\n"
      "%m = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n"
      "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\nyield %m\n}",
      "%n is not handed on");
  expect_region_fault(
      "%e = scatter %x : f64[N] @cons{G.cols} ~b1\n"
      "%a, %b = region iter_on_vec (%c, %e) : f64[N] @cons{G.rows} ~b0, f64[N] @cons{G.cols} ~b2 {\n"
      "%h = map[half] %c : f64[N] @cons{G.rows}\n%i = map[half] %e : f64[N] @cons{G.cols}\nyield %h, %i\n}",
      "it computes on other slaves than its region");
  expect_region_fault(
      "%a = region product_epilogue (%x) : f64[N] @part ~b1 {\n%h = map[half] %x : f64[N] @part\nyield %h\n}",
      "it does not begin with one product and its gather");
  expect_region_fault("%a = region iter_on_vec (%x) : f64[N] @part ~b1 {\nyield %x\n}", "a region without operators");
}

// A product_epilogue whose inside is `inside`; its rows wait in ~b1.
void expect_epilogue_fault(const std::string& inside, const std::string& wanted,
                           const std::string& operands = "%c, %G, %x", const std::string& result = "f64[N] @part ~b3") {
  expect_fault(3,
               "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N] {G.cols}\n"
               "buffer ~b3 : f64[N] {G.cols}{G.rows}\nbuffer ~b4 : f64[N,K]\n" +
                   sources3 + "%k = input \"k\" : f64[N,K] @part\n%c = scatter %x : f64[N] @cons{G.rows} ~b0\n" +
                   "%z = region product_epilogue (" + operands + ") : " + result + " {\n" + inside +
                   "}\noutput \"x\" %x",
               wanted);
}

TEST(Regions, WhatAnEpilogueMayHold) {
  const std::string head = "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b1\n";
  const std::string gather = "%o = gather %n : f64[N] @part ~b1\n";
  expect_epilogue_fault(head + "%o = gather %n : f64[N] @part ~b2\n%q = map[add] %o, %x : f64[N] @part\nyield %q\n",
                        "it does not work in place");
  expect_epilogue_fault(
      "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols}\n%o = gather %n : f64[N] @part\n"
      "%q = map[add] %o, %x : f64[N] @part\nyield %q\n",
      "has no buffer");
  expect_epilogue_fault(head + gather + "%q = map[add] %o, %x : f64[N] @part\nyield %n\n",
                        "%n is used before it is gathered", "%c, %G, %x", "f64[N] @pre(add){G.cols} ~b2");
  expect_epilogue_fault(head + gather + "%q = map[half] %c : f64[N] @cons{G.rows}\nyield %q\n",
                        "it computes on slaves as well", "%c, %G", "f64[N] @cons{G.rows} ~b3");
  expect_epilogue_fault(head + gather + "%q = map[add] %k, %o : f64[N,K] @part\nyield %q\n", "is no vector",
                        "%c, %G, %k", "f64[N,K] @part ~b4");
  // Rows wait where nothing else is written or read.
  expect_epilogue_fault(head + gather + "%q = map[add] %o, %x : f64[N] @part\nyield %q\n", "is written to ~b1",
                        "%c, %G, %x", "f64[N] @part ~b1");
  expect_epilogue_fault(
      "%n = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b0\n%o = gather %n : f64[N] @part ~b0\n"
      "%q = map[add] %o, %x : f64[N] @part\nyield %q\n",
      "~b0");
}

void expect_buffer_fault(const std::string& body, const std::string& wanted) {
  expect_fault(
      3,
      "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N]\nbuffer ~b2 : f32[N]\nbuffer ~b3 : f64[N]\n" + sources3 + body,
      wanted);
}

TEST(Buffers, Room) {
  expect_buffer_fault("%y = map[half] %x : f64[N] @part\noutput \"y\" %y", "%y has no buffer");
  expect_buffer_fault("%y = map[half] %x : f64[N] @part ~b2\noutput \"y\" %y", "%y does not fit into ~b2");
  expect_buffer_fault("%c = scatter %x : f64[N] @cons{G.rows} ~b1\noutput \"c\" %c",
                      "~b1 has no room for the slaves of %c");
  expect_buffer_fault(
      "%l = list %x : list<2> f64[N] @part ~b3\n%k = literal 0 : i64 @cons\n%a = get %l, %k : f64[N] @part\noutput "
      "\"a\" %a",
      "which is not declared");
  expect_buffer_fault("%s = reduce[add] %x : f64 @pre(add) ~b1\n%g = gather %s : f64 @part\noutput \"g\" %g",
                      "%s has a buffer");
}

TEST(Buffers, NoLiveValueIsOverwritten) {
  const std::string two = "%y = map[half] %x : f64[N] @part ~b1\n%z = map[half] %x : f64[N] @part ~b1\n";
  expect_buffer_fault(two + "output \"y\" %y\noutput \"z\" %z",
                      "%z is written to ~b1, which holds %y; %y is still needed");
  // In place where the operand dies, but only element by element.
  expect_right(3, "buffer ~b0 : f64[N]\n" + sources3 +
                      "%y = map[half] %x : f64[N] @part ~b0\n%z = map[half] %y : f64[N] @part ~b0\n"
                      "output \"z\" %z");
  expect_fault(
      3,
      "buffer ~b0 : f64[N] {G.rows}{G.cols}\n" + sources3 +
          "%c = scatter %x : f64[N] @cons{G.rows} ~b0\n%p = mxv[mul, add] %c, %G : f64[N] @pre(add){G.cols} ~b0\n"
          "%g = gather %p : f64[N] @part ~b0\noutput \"g\" %g",
      "%p is written to ~b0, which holds %c");
}

TEST(Buffers, Loops) {
  const std::string decl = "buffer ~b0 : f64[N]\nbuffer ~b1 : f64[N]\nbuffer ~b2 : f64[N]\n";
  const std::string head = sources3 + "%k = literal 3 : i64 @cons\n%y = map[half] %x : f64[N] @part ~b0\n";
  const auto loop = [](const std::string& arg, const std::string& made, const std::string& body,
                       const std::string& result) {
    return "%r = for %i : i64 @cons in %k, %k (%a : f64[N] @part " + arg + " = %y) : f64[N] @part " + result + " {\n" +
           "%b = map[half] %a : f64[N] @part " + made + "\n" + body + "}\n";
  };
  expect_right(3, decl + head + loop("~b0", "~b1", "yield %b\n", "~b0") + "output \"r\" %r");
  expect_right(3, decl + head + loop("~b1", "~b1", "yield %b\n", "~b0") + "output \"r\" %r");
  // %y is needed behind the loop, or inside it: the loop must not write where it is.
  expect_fault(3, decl + head + loop("~b0", "~b1", "yield %b\n", "~b1") + "output \"r\" %r\noutput \"y\" %y",
               "%a is written to ~b0");
  expect_fault(3, decl + head + loop("~b1", "~b0", "yield %b\n", "~b2") + "output \"r\" %r\noutput \"y\" %y",
               "%b is written to ~b0");
  expect_fault(3,
               decl + head + loop("~b1", "~b2", "%c = map[add] %b, %y : f64[N] @part ~b0\nyield %c\n", "~b1") +
                   "output \"r\" %r",
               "%c is written to ~b0");
  expect_fault(3,
               decl + head + loop("~b1", "~b1", "%c = map[add] %b, %a : f64[N] @part ~b2\nyield %c\n", "~b1") +
                   "output \"r\" %r",
               "%b is written to ~b1, which holds %a");
}

// ---- robustness

// Every single field of the table of operators broken in turn: faults, never a crash.
void damage(Block& block, int which, int& at, int how) {
  for (Op& op : block.ops) {
    if (at++ == which) {
      switch (how) {
        case 0:
          op.operands.clear();
          break;
        case 1:
          op.operands.assign(5, 1 << 20);
          break;
        case 2:
          op.results.clear();
          break;
        case 3:
          op.results.assign(2, -7);
          break;
        case 4:
          op.fns.assign(2, 99);
          break;
        case 5:
          op.fns.clear();
          break;
        case 6:
          op.blocks.clear();
          break;
        case 7:
          op.blocks.resize(3);
          break;
        case 8:
          op.test = -5;
          break;
        case 9:
          op.dim = 77;
          break;
        case 10:
          op.over.assign(1, 55);
          break;
        case 11:
          for (Block& b : op.blocks) b.args.assign(3, -1);
          break;
        case 12:
          for (Block& b : op.blocks) b.ops.clear();
          break;
        default:
          op.code = static_cast<OpCode>((static_cast<int>(op.code) + how) % static_cast<int>(op_rows().size()));
      }
    }
    for (Block& inner : op.blocks) damage(inner, which, at, how);
  }
}

const std::string whole =
    "buffer ~b0 : f64[N] {G.rows}\nbuffer ~b1 : f64[N] {G.cols}\nbuffer ~b2 : f64[N]\n" + sources3 +
    "%k = literal 3 : i64 @cons\n%l = list %k : list<2> i64 @cons\n%g0 = get %l, %k : i64 @cons\n"
    "%t = apply[less] %g0 : bool @cons\n%w = map[half] %x : f64[N] @part ~b2\n"
    "%r, %z = while (%a : f64[N] @part ~b2 = %w, %c : bool @cons = %t) test 1 : f64[N] @part ~b2, bool @cons {\n"
    "%s = scatter %a : f64[N] @cons{G.rows} ~b0\n"
    "%p = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols} ~b1\n%q = gather %p : f64[N] @part ~b1\n"
    "%h, %e = region iter_on_vec (%q, %a) : f64[N] @part ~b1, f64 @pre(add) {\n"
    "%d = map[sub] %q, %a : f64[N] @part\n%f = reduce[add] %d : f64 @pre(add)\nyield %d, %f\n}\n"
    "%v = if %c : bool @cons {\nyield %c\n} else {\nyield %c\n}\nyield %h, %v\n}\noutput \"r\" %r";

TEST(Robustness, DamagedModulesAreRefusedNotCrashedOn) {
  ASSERT_EQ(joined(faults_of(module_of(3, whole))), "");
  int ops = 0;
  Module counted = module_of(3, whole);
  damage(counted.body, -1, ops, 0);
  int refused = 0;
  for (int which = 0; which < ops; ++which) {
    for (int how = 0; how < 36; ++how) {
      Module broken = module_of(3, whole);
      int at = 0;
      damage(broken.body, which, at, how);
      refused += faults_of(broken).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, ops * 20);
}

TEST(Robustness, DamagedTables) {
  for (int how = 0; how < 10; ++how) {
    Module m = module_of(3, whole);
    switch (how) {
      case 0:
        m.values[1].type.dims = {44};
        break;
      case 1:
        m.values[1].type.element.components.clear();
        break;
      case 2:
        m.values[1].type.state = State::pre(999);
        break;
      case 3:
        m.values[3].buffer = 17;
        break;
      case 4:
        m.buffers[0].dims = {-3};
        break;
      case 5:
        m.laws.push_back({LawKind::exchange, 98, 97, 0, "proven"});
        break;
      case 6:
        m.level = 7;
        break;
      case 7:
        m.dims.clear();
        break;
      case 8:
        m.functions[0].body.args.clear();
        break;
      default:
        m.functions[0].params.clear();
        break;
    }
    EXPECT_FALSE(faults_of(m).empty()) << how;
  }
}

// Words of a right module exchanged, dropped and doubled: whatever still parses is judged without a crash.
TEST(Robustness, EditedTextNeverCrashes) {
  const std::string text = "kir 1 level 3\nmodule t {" + functions + whole + "\n}\n##end\n";
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < text.size();) {
    const size_t start = text.find_first_not_of(" \n", i);
    if (start == std::string::npos) break;
    const size_t end = text.find_first_of(" \n", start);
    words.emplace_back(start, end - start);
    i = end;
  }
  std::uint64_t state = 7;
  const auto below = [&](size_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<size_t>(state >> 33) % n;
  };
  int parsed = 0;
  int right = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto [start, length] = words[below(words.size())];
    const auto [from, count] = words[below(words.size())];
    std::string edited = text;
    edited.replace(start, length, trial % 5 == 0 ? std::string() : text.substr(from, count));
    try {
      const Module m = parse_module(edited, "t.kir");
      ++parsed;
      if (faults_of(m).empty()) ++right;
    } catch (const UserError&) {
    }
  }
  EXPECT_GT(parsed, 50);
  EXPECT_LT(right, parsed);
}

}  // namespace
}  // namespace kasen
