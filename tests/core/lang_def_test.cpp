// Functions of whole arrays: a call gives the IR that its body gives where it stands.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/core/run_program.h"
#include "tests/support/module_shape.h"

namespace kasen::def_calls {
namespace {

using meaning::real;
using meaning::run_text;

const std::string head = R"(
dim N, M, F local = 3, K local = 2
input G : f64[N, M], A : dense f64[N, M], X : f64[N, F], Y : f64[N, K], x : f64[N], y : f64[M], n : i64[N], s : f32[N]
param r = 0.5
const k = 3
)";

Module planned(const std::string& text) {
  const Module module = compile_program(head + text + '\n', "test.ks", {});
  TrialLawChecker laws;
  require_valid(module, laws);
  return module;
}

struct Pair {
  std::string with, without;  // functions
};

// The statements written out by hand, one for one.
const std::vector<Pair> pairs{
    {"def twice(a) = a + a\nz = twice(x)\noutput z", "z = x + x\noutput z"},
    {"def twice(a) { return a + a }\nz = twice(x * r)\noutput z", "a = x * r\nz = a + a\noutput z"},
    {"def damp(a, c) { b = c * a; a = b + 1; return a }\nz = damp(x, 0.5)\nw = damp(s, 0.5)\noutput z, w",
     "b = 0.5 * x\nz = b + 1\nc = 0.5 * s\nw = c + 1\noutput z, w"},
    {"def f(a) = g(a) + 1\ndef g(a) = 2 * a\nz = f(x)\noutput z", "z = 2 * x + 1\noutput z"},
    {"def ends(a, over d) { return min(a, over d), max(a, over d) }\nl, h = ends(X, over N)\noutput l, h",
     "l = min(X, over N)\nh = max(X, over N)\noutput l, h"},
    {"def ends(a, over d) { return min(a, over d), max(a, over d) }\nl, h = ends(X)\noutput l, h",
     "l = min(X)\nh = max(X)\noutput l, h"},
    {"def squares(a, over d) = sum(a ^ 2, over d)\ndef norm(a, over d) = sqrt(squares(a, over d))\nz = norm(X, over "
     "F)\noutput z",
     "z = sqrt(sum(X ^ 2, over F))\noutput z"},
    {"def gram(a : [R, C]) = [i in C, j in C: sum(l in R: a[l, i] * a[l, j])]\nz = gram(X)\nw = gram(Y)\noutput z, w",
     "z = [i in F, j in F: sum(l in N: X[l, i] * X[l, j])]\nw = [i in K, j in K: sum(l in N: Y[l, i] * Y[l, "
     "j])]\noutput z, w"},
    {"def trace(a : [R, R]) = sum(i in R: a[i, i])\nz = trace(X' @ X)\noutput z",
     "a = X' @ X\nz = sum(i in F: a[i, i])\noutput z"},
    {"def ahead(a : [R]) { dim L = R[1:]; return slice(a, L) }\nz = ahead(x)\nw = ahead(y)\noutput z, w",
     "dim ahead_L = N[1:], ahead_L_2 = M[1:]\nz = slice(x, ahead_L)\nw = slice(y, ahead_L_2)\noutput z, w"},
    {"def parts(a : [R], p = 3) {\n  dim P = p, Z local fills R / P, S = R + Z, B local = S / P\n  return "
     "sum(reshape(concat(a, fill(0.0, Z), S), [P, B]), over B)\n}\nz = parts(x, 2) \noutput z",
     "dim parts_P = 2, parts_Z local fills N / parts_P, parts_S = N + parts_Z, parts_B local = parts_S / parts_P\n"
     "z = sum(reshape(concat(x, fill(0.0, parts_Z), parts_S), [parts_P, parts_B]), over parts_B)\noutput z"},
    {"dim W = 2\ndef wide(a) { dim W = 4; return outer(a, fill(1.0, W)) }\nz = wide(x)\nw = fill(0.5, W)\noutput z, w",
     "dim W = 2, wide_W = 4\nz = outer(x, fill(1.0, wide_W))\nw = fill(0.5, W)\noutput z, w"},
    {"def times(g, v) = g @ v\nz = times(G, y)\noutput z", "z = G @ y\noutput z"},
    {"def weigh(g) = sum(g * 2.0)\nz = weigh(G * y)\noutput z", "z = sum(G * y * 2.0)\noutput z"},
    {"def power(a, m) { for i in 0..m unroll { a = a * a }; return a }\nz = power(x, 3)\noutput z",
     "z = x * x\nz = z * z\nz = z * z\noutput z"},
    {"def search(a, limit = 10) {\n  i = 0\n  while i < limit likely expect 5 { a = a + r_of(a); i = i + 1 }\n  return "
     "a\n}\n"
     "def r_of(a) { b = a / 2; if sum(a) < 0 { b = a * 2 }; return b }\nz = search(x)\noutput z",
     "i = 0\nwhile i < 10 likely expect 5 {\n  b = x / 2; if sum(x) < 0 { b = x * 2 }\n"
     "  x = x + b; i = i + 1\n}\noutput z = x"},
    {"def last(a) { list l[2] : f64[N] = 0; push(l, a); l[0] = a; return l[0] + l[1] }\nz = last(x)\noutput z",
     "list l[2] : f64[N] = 0\npush(l, x)\nl[0] = x\nz = l[0] + l[1]\noutput z"},
    {"def first(l) { l[0] = 2 * l[1]; return l[0] }\nlist l[2] : f64[N] = 1\nz = first(l)\noutput z",
     "list l[2] : f64[N] = 1\nl[0] = 2 * l[1]\nz = l[0]\noutput z"},
    {"fn half(q) = q / 2\ndef f(a) = half(a) + map(q -> q * k, a)\nz = f(x)\noutput z",
     "fn half(q) = q / 2\nz = half(x) + map(q -> q * k, x)\noutput z"},
    {"def f(a : f64[R], c : f64 = 2) = c * a\nz = f(x) + f(x, r)\noutput z", "z = 2.0 * x + r * x\noutput z"},
    {"def mean_of(a, over d) = sum(a, over d) / size(d)\nz = mean_of(X)\nw = mean_of(X, over N)\noutput z, w",
     "z = sum(X) / (size(N) * size(F))\nw = sum(X, over N) / size(N)\noutput z, w"},
    {"def mean(a) = sum(a) + 1\nz = mean(x)\noutput z", "z = sum(x) + 1\noutput z"},
    {"def ones(over d) = fill(1.0, d)\nz = ones(over N, F) * X\noutput z", "z = fill(1.0, N, F) * X\noutput z"},
    {"def rand(seed, over d) = random(seed, d)\nz = rand(7, over N, F) * X\noutput z",
     "z = random(7, N, F) * X\noutput z"},
    {"def away(a) = a / 1 - mean(a)\nz = away(x)\noutput z", "z = x - mean(x)\noutput z"},
    {"def part(a) = sum(a) / oftype(a, size(N))\nz = part(x)\nw = part(f32(x))\noutput z, w",
     "z = sum(x) / f64(size(N))\na = f32(x)\nw = sum(a) / f32(size(N))\noutput z, w"},
    {"def turned(a, over d, e) = sum(a, over e) + 1\nz = turned(X, over N, F)\noutput z",
     "z = sum(X, over F) + 1\noutput z"},
    {"def both(a) { Q, R = qr(a); return Q @ R, R }\nw, R = both(X' @ X)\noutput w, R",
     "a = X' @ X\nQ, R = qr(a)\nw = Q @ R\noutput w, R"},
    {"def f(a) { a = a + 1; return a }\nx = f(x)\nz = 1.0\nfor i in 0..3 { x = f(x) }\noutput x",
     "x = x + 1\nz = 1.0\nfor i in 0..3 { x = x + 1 }\noutput x"},
};

TEST(LangDef, ACallIsItsBodyWrittenOut) {
  for (const Pair& pair : pairs) EXPECT_EQ(shape(planned(pair.with)), shape(planned(pair.without))) << pair.with;
}

TEST(LangDef, ACallHasTheNamesOfItsFunction) {
  const std::string text =
      print_module(planned("def f(a) { b = sum(a); return a / b }\nz = f(x + 1)\nw = f(z)\noutput z, w\n"));
  for (const char* name : {"%f.a = map", "%f.b = reduce", "%z = map", "%f.b_2 = reduce", "%w = map"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << '\n' << text;
  }
  EXPECT_EQ(print_module(parse_module(text, "test.kir")), text);
}

// Later tools take the order of lines for the order of the work.
TEST(LangDef, OperatorsStandAtTheCallInTheProgram) {
  const Module module = planned("def f(a) {\n  b = g(a)\n  return a / b\n}\ndef g(a) = sum(a)\nz = f(x)\noutput z\n");
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::map || op.code == OpCode::reduce) {
      EXPECT_EQ(op.where.line, 11);
    }
  }
}

TEST(LangDef, ValuesAreThoseOfTheArguments) {
  const auto out = run_text(R"(
dim F local = 3
def change(a) { for i in 0..2 { a = a + 1 }; return a }
def swap(a, b) { return b, a }
def power(a, m) { p = 1.0; for i in 0..m { p = p * a }; return p }
def first_power(a) = power(a, 1)
a = fill(2.0, F)
b = sum(change(a)) * 100 + sum(a)
c = 1.0
d = 2.0
c, d = swap(c, d)
e = change(7)
output b, c, d, e, p = power(3.0, 4), q = first_power(5.0)
)");
  EXPECT_EQ(real(out, "b"), 1206);
  EXPECT_EQ(real(out, "c"), 2);
  EXPECT_EQ(real(out, "d"), 1);
  EXPECT_EQ(meaning::whole(out, "e"), 9);
  EXPECT_EQ(real(out, "p"), 81);
  EXPECT_EQ(real(out, "q"), 5);
}

TEST(LangDef, ItsWordsAreNamesElsewhere) {
  const auto out = run_text(R"(
def = 3.0
use = 2 * def
return = use + 1
def f(use) { return = use * 2; return return + 1 }
output z = return * 100 + f(def)
)");
  EXPECT_EQ(real(out, "z"), 707);
}

// A fn inside a def does not see the names of the def, and a lambda does.
TEST(LangDef, NamesOfADefEndWithIt) {
  const auto out = run_text(R"(
const k = 2
fn scaled(q) = k * q
def f(k, a) = scaled(a) * 10 + sum(map(q -> q * k, a + fill(0, F)))
dim F local = 1
output z = f(5, 1)
)");
  EXPECT_EQ(meaning::whole(out, "z"), 25);
}

}  // namespace
}  // namespace kasen::def_calls
