// Faulty functions of arrays: told at their place, with the calls that lead to it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/core/told_faults.h"

namespace kasen::def_faults {
namespace {

const std::string head =
    "dim N, F local = 3\ninput X : f64[N, F], x : f64[N], g : f64[F], G : null[N, N]\nparam r = 0.5\n";

const std::vector<testing::ToldFault> cases{
    // Text.
    {"def f(a) { b = a }\noutput x", 4, 10, "def 'f' returns nothing", "return x"},
    {"def f(a) { return a; b = a }\noutput x", 4, 22, "a statement behind 'return'", "move it before"},
    {"def f(a) { if sum(a) > 0 { return a }; return a }\noutput x", 4, 28, "'return' inside a block", "behind it"},
    {"return x\noutput x", 4, 1, "'return' outside of a def", "write output x"},
    {"def f(a): return a\noutput x", 4, 9, "':' is not expected here", "blocks stand in braces"},
    {"if r > 0 { def f(a) = a }\noutput x", 4, 12, "'def' inside a block", "out of the braces"},
    {"def f(a) { def g(b) = b; return g(a) }\noutput x", 4, 12, "'def' inside a block", "out of the braces"},
    {"def f(a) { output a; return a }\noutput x", 4, 12, "'output' inside a block", ""},
    {"def f(a) { if sum(a) > 0 { dim D = 2; a = a }; return a }\noutput x", 4, 28, "'dim' inside a block", ""},
    {"if r > 0 { dim D = 2 }\noutput x", 4, 12, "'dim' inside a block", ""},
    {"def f(a) { dim D; return a }\noutput z = f(x)", 4, 16, "'D' is a dimension without a size", "in def 'f'"},
    {"def f(a : [D]) { dim D = 2; return a }\noutput z = f(x)", 4, 22, "'D' is already declared", "in def 'f'"},
    {"def f(a) { dim D = N[::k]; return a }\noutput x", 4, 24, "unknown name 'k'", ""},
    {"def f(a) { dim D = x[1:]; return a }\noutput x", 4, 20, "'x' is not visible in a function", ""},
    {"def f(a, over d) { dim D = d[1:]; return a }\noutput z = f(X)", 4, 28, "'d' is no dimension", "in def 'f'"},
    {"def f(a) { dim D = 2; return a }\nz = f(x)\ndim f_D = 3\noutput z", 6, 5,
     "'f_D' is a dimension that a call above made", "another name"},
    {"dim Z fills N\noutput x", 4, 13, "'Z' fills no quotient of dimensions", "write dim Z fills N / M"},
    {"dim Z fills N * F\noutput x", 4, 15, "'Z' fills no quotient of dimensions", "write dim Z fills N / M"},
    {"def f(a = 1, b) = a + b\noutput x", 4, 14, "'b' has no value of its own", "put it before"},
    {"def f(over d, a) = a\noutput z = f(x)", 5, 12, "def 'f' takes 0 arguments, not 1", "f(over d, a)"},
    {"def f(a : [3]) = a\noutput x", 4, 12, "'3' is not expected here", ""},
    {"def f(a : [N) = a\noutput x", 4, 11, "'[' is never closed", ""},
    {"def (a) = a\noutput x", 4, 5, "'(' is not expected here", "the name of a function"},
    // Whoever calls it.
    {"def f(a) = a + b\noutput x", 4, 16, "unknown name 'b'", "no parameter and no statement"},
    {"def f(a) = total + a\ntotal = 1\noutput x", 4, 12, "'total' is not visible in a function",
     "pass it as an argument"},
    {"def f(a) { if sum(a) > 0 { b = a }; return b }\noutput x", 4, 44, "unknown name 'b'", ""},
    {"def f(a) = sqr(a)\noutput x", 4, 12, "unknown function 'sqr'", "did you mean 'sqrt'?"},
    {"def f(a, a) = a\noutput x", 4, 10, "two parameters are called 'a'", ""},
    {"def f(a : [a]) = a\noutput x", 4, 12, "two parameters are called 'a'", "dimensions of the head"},
    {"def f(a, over d) = sum(a, over e)\noutput x", 4, 32, "unknown name 'e'", ""},
    {"def sum(a) = a\noutput x", 4, 5, "def 'sum' has the name of a built-in function", "my_sum"},
    {"def f(a) = a\nfn f(a) = a\noutput x", 4, 5, "two functions are called 'f'", ""},
    {"def f(a) = f(a)\noutput x", 4, 12, "def 'f' calls itself", "f calls f at test.ks:4:12"},
    {"def f(a) = 1 + g(a)\ndef g(a) = h(a)\ndef h(a) = f(a)\noutput z = f(x)", 6, 12, "def 'f' calls itself",
     "f calls g at test.ks:4:16, g calls h at test.ks:5:12, h calls f at test.ks:6:12"},
    // Calls.
    {"def f(a, b = 1) = a + b\noutput z = f()", 5, 12, "def 'f' takes 1 to 2 arguments, not 0", "write f(a, b)"},
    {"def f(a) = a\noutput z = f(x, x)", 5, 12, "def 'f' takes 1 argument, not 2", "write f(a)"},
    {"def f(a) = a\noutput z = f(x, over N)", 5, 17, "def 'f' takes no dimensions", "write f(a)"},
    {"def f(a, over d, e) = a\noutput z = f(X, over N)", 5, 17, "def 'f' takes 2 dimensions, not 1", "over d, e"},
    {"def f(a, over d, e) = a\noutput z = f(X)", 5, 12, "def 'f' takes 2 dimensions, not 0", "over d, e"},
    {"def f(over d) = fill(1.0, d)\noutput z = f()", 5, 12, "def 'f' without a dimension", "write f(over d)"},
    {"def f(a, over d) = a\noutput z = f(X, over N, N)", 5, 25, "dimension 'N' is named twice", ""},
    {"def f(a, k = 1, over d) = a * k\noutput z = f(X, N)", 5, 17, "dimension 'N' is given to parameter 'k' of def 'f'",
     "write over N to work along it, or size(N) for its size"},
    {"def f(a, over d) = a\noutput z = f(X, over Q)", 5, 22, "'Q' is no dimension", ""},
    {"def f(a : [R, C]) = a\noutput z = f(x)", 5, 14, "parameter 'a' of def 'f' has 2 dimensions", "over [N]"},
    {"def f(a : [R, C]) = a\noutput z = f(1)", 5, 14, "parameter 'a' of def 'f' has 2 dimensions", "a single value"},
    {"def f(a : f64) = a\noutput z = f(x)", 5, 14, "parameter 'a' of def 'f' is a single value", "over [N]"},
    {"def f(a : i64[R]) = a\noutput z = f(x)", 5, 14, "parameter 'a' of def 'f' is i64, not f64", "i64(x)"},
    {"def f(a : [R, R]) = a\noutput z = f(X)", 5, 14, "'R' of def 'f' would stand for both N and F", ""},
    {"def f(a : [R], b : [R]) = a\noutput z = f(x, g)", 5, 17, "'R' of def 'f' would stand for both N and F", ""},
    {"def f(a) { return a, a }\noutput z = f(x)", 5, 12, "def 'f' gives 2 values", "a, b = f(a)"},
    {"def f(a) { return a, a }\nb, c, e = f(x)\noutput b", 5, 1, "3 names for the value of f", "f gives 2"},
    {"def f(a) = a\nb, c = f(x)\noutput b", 5, 1, "2 names for the value of f", "gives one value"},
    {"def f(a) = sum(a)\nfn h(q) = f(q)\noutput z = map(h, x)", 5, 11, "def 'f' inside a function of elements",
     "write a def"},
    {"def f(a) = sum(a)\noutput z = map(f, x)", 5, 16, "def 'f' where a function of elements is meant", "fn f(x)"},
    {"def f(a) = sum(a)\noutput z = map(q -> f(q), x)", 5, 21, "def 'f' inside a function of elements", ""},
    {"def f(a) = sum(a)\noutput z = [i in N: x[i] - f(x)]", 5, 28, "def 'f' inside index notation", "give it a name"},
    // Bodies of calls.
    {"def f(a, b) {\n  c = a + b\n  return c\n}\noutput z = f(x, g)", 5, 9, "[N] and [F]",
     "in def 'f', called at test.ks:8:12"},
    {"def f(a) = 1 + h(a)\ndef h(a) = a @ a @ a\noutput z = f(x)", 5, 18, "'@'",
     "in def 'h', called at test.ks:4:16; in def 'f', called at test.ks:6:12"},
    {"def f(a, over d) = sum(a, over d)\noutput z = f(x, over F)", 4, 32, "the array has no dimension 'F'",
     "called at test.ks:5:12"},
    {"def f(a, over d) = sum(a, over d)\noutput z = f(1)", 4, 24, "sum of a single value", "called at test.ks:5:12"},
    {"def f(a, over d) = index(d)\noutput z = f(X)", 4, 26, "'d' stands for 2 dimensions", "over N"},
    {"def f(a, over d) = d + 1\noutput z = f(X)", 4, 20, "'d' stands for dimensions", "size(d)"},
    {"def f(a, over d) { d = 1; return a }\noutput z = f(X)", 4, 20, "'d' cannot be assigned",
     "it stands for dimensions"},
    {"def f(a) { a = a @ x_of(a); return a }\ndef x_of(a) = 2 * a\noutput z = f(G)", 4, 12, "'a' cannot be assigned",
     "a matrix of the bundle"},
    {"def f(a) { F = a; return a }\noutput z = f(x)", 4, 12, "'F' cannot be assigned", "a dimension"},
    {"def f(a, m) { for i in 0..m unroll { a = a + 1 }; return a }\noutput z = f(x, i64(r))", 4, 27,
     "must be known to plan", ""},
};

TEST(LangDefError, IsToldWhereItIs) {
  for (const testing::ToldFault& fault : cases) testing::expect_told(head, fault);
}

// Once each, however many calls find them; the caller's names count as known.
TEST(LangDefError, EachFaultIsToldOnce) {
  const auto found =
      testing::faults_of_text(head +
                              "def f(a) {\n  b = a + g_of(a)\n  return b * 2\n}\ndef g_of(a) = a @ a @ a\n"
                              "y = f(x)\nz = f(2 * x)\nw = y + z\nv = unknown_name\noutput w\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].where.line, 8);
  EXPECT_EQ(found[1].where.line, 12);
}

TEST(LangDefError, ManyFaultsOfABodyHaveTheirNotes) {
  std::string body;
  for (int i = 0; i < 20; ++i) body += fmt::format("  a{} = a + b\n", i);
  const auto found =
      testing::faults_of_text(head + "def f(a, b) {\n" + body + "  return a\n}\ny = f(x, g)\noutput y\n");
  ASSERT_EQ(found.size(), 10u);
  for (const Diagnostic& d : found) EXPECT_NE(d.why.find("in def 'f', called at"), std::string::npos) << d.why;
}

TEST(LangDefError, HostileProgramsEnd) {
  std::string deep = head, wide = head, blocks = head;
  for (int i = 0; i < 200; ++i) deep += fmt::format("def h{}(a) = h{}(a)\n", i, i + 1);
  deep += "def h200(a) = a\noutput z = h0(x)\n";
  ASSERT_FALSE(testing::faults_of_text(deep).empty());
  EXPECT_NE(testing::faults_of_text(deep)[0].what.find("more than 60 functions in each other"), std::string::npos);
  for (int i = 0; i < 50; ++i) wide += fmt::format("def h{0}(a) = h{1}(a) + h{1}(a)\n", i, i + 1);
  wide += "def h50(a) = a\noutput z = h0(1)\n";
  ASSERT_FALSE(testing::faults_of_text(wide).empty());
  EXPECT_NE(testing::faults_of_text(wide)[0].what.find("more than 20000 calls"), std::string::npos)
      << testing::faults_of_text(wide)[0].what;
  for (int i = 0; i < 10; ++i) {
    blocks += fmt::format("def f{}(a) {{\n", i);
    for (int k = 0; k < 10; ++k) blocks += "if sum(a) > 0 {\n";
    blocks += fmt::format("a = f{}(a)\n", i + 1);
    for (int k = 0; k < 10; ++k) blocks += "}\n";
    blocks += "return a\n}\n";
  }
  blocks += "def f10(a) = 2 * a\noutput z = f0(x)\n";
  ASSERT_FALSE(testing::faults_of_text(blocks).empty());
  EXPECT_NE(testing::faults_of_text(blocks)[0].what.find("blocks are nested too deeply"), std::string::npos)
      << testing::faults_of_text(blocks)[0].what;
}

}  // namespace
}  // namespace kasen::def_faults
