// Which axes of a program's outputs count places in an order, before it is fused.
#include "libcore/sorting/place_axes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "libcore/lang/lang.h"

namespace kasen {
namespace {

// By output: for each axis `p` for places, and `i` for indices.
std::map<std::string, std::string> kinds(const std::string& text) {
  const Module module = compile_program(
      "dim N local = 9, F local = 4, Few local = N[0:3], Same local = N[:]\n"
      "input x : f64[N], X : f64[N, F], A : f64[F, F], k : id[F][N]\n" +
          text,
      "test.ks", {});
  const PlaceAxes axes(module);
  std::map<std::string, std::string> made;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::output) continue;
    const ValueId value = op.operands[0];
    std::string& kind = made[op.name];
    for (std::size_t axis = 0; axis < module.type(value).dims.size(); ++axis)
      kind += axes.counts_places(value, axis) ? 'p' : 'i';
  }
  return made;
}

using Kinds = std::map<std::string, std::string>;

TEST(PlaceAxes, AreThoseOfSortedArrays) {
  EXPECT_EQ(kinds("output s = sort(x), a = argsort(x), few = slice(sort(x), Few), S = sort(X, over F), r = rank(x)\n"
                  "output c = cumsum(sort(x)), t = take(x, argsort(-x), over N), y = sort(x) as [Same], m = -sort(x)"),
            (Kinds{{"s", "p"},
                   {"a", "p"},
                   {"few", "p"},
                   {"S", "ip"},
                   {"r", "i"},
                   {"c", "p"},
                   {"t", "p"},
                   {"y", "p"},
                   {"m", "p"}}));
}

TEST(PlaceAxes, AreNotThoseOfOtherArrays) {
  EXPECT_EQ(kinds("output c = cumsum(x), l = roll(x, 1, over N), f = slice(x, Few), T = X', g = sum(x, by k in F)\n"
                  "output q = median(X, over N), top = sum(sort(X, over F), over F), n = take(X', k, over F)"),
            (Kinds{{"c", "i"}, {"l", "i"}, {"f", "i"}, {"T", "ii"}, {"g", "i"}, {"q", "i"}, {"top", "i"}, {"n", "i"}}));
}

TEST(PlaceAxes, AreTheLastOnesOfVectors) {
  EXPECT_EQ(kinds("w, V = eigh(A)\nU, s, W = svd(X)\n"
                  "output w, V, T = V', back = V @ w, row = w @ V, U, s, W, X2 = X @ W"),
            (Kinds{{"w", "p"},
                   {"V", "ip"},
                   {"T", "pi"},
                   {"back", "i"},
                   {"row", "p"},
                   {"U", "ip"},
                   {"s", "p"},
                   {"W", "ip"},
                   {"X2", "ip"}}));
}

// A loop's carried value counts places if it does at first, or from some iteration on.
TEST(PlaceAxes, GoThroughLoopsAndBranches) {
  EXPECT_EQ(kinds("a = sort(x)\nb = x\nc = x\nd = x\nfor i in 0..3 {\n  a = a + 1\n  c = b + 1\n  b = sort(b)\n}\n"
                  "if x[0] > 0 { d = sort(x) }\noutput a, b, c, d"),
            (Kinds{{"a", "p"}, {"b", "p"}, {"c", "p"}, {"d", "p"}}));
}

}  // namespace
}  // namespace kasen
