// What statements mean that change values: in place, at elements, and where a loop ends.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/core/run_program.h"

namespace kasen::meaning {
namespace {

TEST(Statements, WordsForOperators) {
  EXPECT_EQ(value_of("(one + 1) ** 3 ** 2"), 512);
  EXPECT_EQ(value_of("-one ** 2"), -1);
  EXPECT_EQ(value_of("if not one > 2 and one < 2 or false then 1.0 else 0.0"), 1);
  EXPECT_EQ(value_of("if not (one < 2 or not one == 1) then 1.0 else 0.0"), 0);
  EXPECT_EQ(whole_of("one + 1e6"), 1000001);
  EXPECT_EQ(whole_of("one * -1.5e3"), -1500);
  const Outputs out = run_text("param not = 2.0\nand = not - 1\nor = and + not\noutput z = or * not\n");
  EXPECT_EQ(real(out, "z"), 6);
}

TEST(Statements, NamesChangeInPlace) {
  const Outputs out = run_text(R"(
    param one = 1.0
    x = one
    x += 2 * x + 1
    x **= 2
    x -= 1; x /= 2; x //= 2; x *= 7; x %= 5
    list l[2] : f64 = 3
    l[1] += one
    output x, a = l[0], b = l[1]
  )");
  EXPECT_EQ(real(out, "x"), 1);  // 4, 16, 15, 7.5, 3, 21, 1
  EXPECT_EQ(real(out, "a"), 3);
  EXPECT_EQ(real(out, "b"), 4);
}

TEST(Statements, ElementsAreReadAndSet) {
  WholeInputs inputs;
  inputs.dims = {{"N", 3}, {"F", 2}};
  inputs.arrays["x"] = reals_of({-0.0, std::numeric_limits<double>::quiet_NaN(), -7});
  inputs.arrays["A"] = reals_of({1, 2, 3, 4, 5, 6});
  const Outputs out = run_text(R"(
    dim N, F local
    input x : f64[N], A : f64[N, F]
    param two = 2
    y = fill(1.0, N)
    y[two] = 5
    y[two] *= 3
    y[x == 0] = 9
    y[y > 8] += y
    m = y > 20
    k = i64(index(N))
    B = A
    B[two, 1] = -1
    B[A < 3] = x
    v = sum(A, over N)
    v[0] = 8
    output y, B, v, a = x[0], b = x[1], c = x[two], d = A[two, 0], e = v[1], f = m[two], g = m[0], h = k[two]
  )",
                               inputs);
  const auto* const y = out.at("y").as<double>();
  EXPECT_EQ(std::vector<double>(y, y + 3), (std::vector<double>{18, 1, 30}));
  const auto* const b = out.at("B").as<double>();
  EXPECT_EQ(std::vector<double>(b, b + 6), (std::vector<double>{0, 0, 3, 4, 5, -1}));
  EXPECT_EQ(out.at("v").as<double>()[0], 8);
  EXPECT_TRUE(std::signbit(real(out, "a")));
  EXPECT_TRUE(std::isnan(real(out, "b")));
  EXPECT_EQ(real(out, "c"), -7);
  EXPECT_EQ(real(out, "d"), 5);
  EXPECT_EQ(real(out, "e"), 12);
  EXPECT_TRUE(truth(out, "f"));
  EXPECT_FALSE(truth(out, "g"));
  EXPECT_EQ(whole(out, "h"), 2);
  for (const std::string index : {"3", "-1"}) {
    const std::string program = "dim N, F local\ninput x : f64[N], A : f64[N, F]\nparam k = " + index + "\n";
    EXPECT_THROW(run_text(program + "output z = x[k]\n", inputs), UserError);
    EXPECT_THROW(run_text(program + "y = x\ny[k] = 0\noutput y\n", inputs), UserError);
    EXPECT_THROW(run_text(program + "output z = A[0, k]\n", inputs), UserError);
  }
}

// An array over [N, N]: the first index counts along its rows, the second along its columns.
TEST(Statements, ElementsOfSquareArrays) {
  for (const std::string local : {"", " local"}) {
    WholeInputs inputs;
    inputs.dims = {{"N", 2}, {"M", 3}};
    inputs.arrays["A"] = reals_of({1, 2, 3, 4});
    inputs.arrays["T"] = reals_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const Outputs out = run_text("dim N" + local + ", M" + local + R"(
      input A : dense f64[N, N], T : dense f64[N, M, N]
      param one = 1
      B = A
      B[0, one] = 7
      B[one, one] += 0.5
      B[B > 6] -= B
      S = T
      S[1, 2, 0] = -1
      output B, S, a = A[0, 1], b = A[one, 0], c = T[1, 0, 1], d = B[one, one]
    )",
                                 inputs);
    const auto* const b = out.at("B").as<double>();
    EXPECT_EQ(std::vector<double>(b, b + 4), (std::vector<double>{1, 0, 3, 4.5}));
    const auto* const s = out.at("S").as<double>();
    EXPECT_EQ(std::vector<double>(s, s + 12), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, 12}));
    EXPECT_EQ(real(out, "a"), 2);
    EXPECT_EQ(real(out, "b"), 3);
    EXPECT_EQ(real(out, "c"), 8);
    EXPECT_EQ(real(out, "d"), 4.5);
    EXPECT_THROW(
        run_text("dim N" + local + "\ninput A : dense f64[N, N]\nB = A\nB[sum(A, over rows) > 3] = 0\noutput B\n",
                 inputs),
        UserError);
  }
}

// Breaks at each depth, as the same loops in C++.
TEST(Statements, BreaksEndTheLoopAroundThem) {
  const std::string program = R"(
    param one = 1, most = 5
    s = 0 * one
    n = s
    last = s
    for i in reversed(0..10) {
      s += 10
      if s > 20 + one { break }
      n += 1
      for j in 0..7 {
        if j == 3 {
          last = 100 * i + j
          break
        } else if j > 5 {
          n += 1000
        }
        n += 10
      }
      t = 0
      while t < 100 {
        t += 1
        if t > 2 {
          n += 100000
          if t == most { break } else { if t == 50 { n += 7; break } }
        }
        n += 1000000
      }
    }
    for i in 4..4 { n = 0; break }
    output s, n, last
  )";
  for (const std::int64_t most : {2, 3, 5, 200}) {
    std::int64_t s = 0, n = 0, last = 0;
    for (std::int64_t i = 9; i >= 0; --i) {
      s += 10;
      if (s > 21) break;
      n += 1;
      for (std::int64_t j = 0; j < 7; ++j) {
        if (j == 3) {
          last = 100 * i + j;
          break;
        }
        if (j > 5) n += 1000;
        n += 10;
      }
      for (std::int64_t t = 0; t < 100;) {
        ++t;
        if (t > 2) {
          n += 100000;
          if (t == most) break;
          if (t == 50) {
            n += 7;
            break;
          }
        }
        n += 1000000;
      }
    }
    const Outputs out = run_text(program, {}, {{"most", std::to_string(most)}});
    EXPECT_EQ(whole(out, "s"), s) << most;
    EXPECT_EQ(whole(out, "n"), n) << most;
    EXPECT_EQ(whole(out, "last"), last) << most;
  }
}

TEST(Statements, ListsAreOutputWhole) {
  const Outputs out = run_text("param one = 1.0\nlist l[3] : f64 = one\nl[1] = 5\npush(l, 7)\noutput l, m = l\n");
  EXPECT_EQ(real(out, "l_0"), 5);
  EXPECT_EQ(real(out, "l_1"), 1);
  EXPECT_EQ(real(out, "m_2"), 7);
}

}  // namespace
}  // namespace kasen::meaning
