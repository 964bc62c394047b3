// What programs mean: small ones run by the interpreter, their results computed here by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "libcore/interpreter.h"
#include "libcore/lang.h"
#include "libcore/laws.h"

namespace kasen {
namespace {

using Outputs = std::map<std::string, Array>;

Array reals_of(const std::vector<double>& values) {
  Array a(ElementType::of(Scalar::f64), static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), a.as<double>());
  return a;
}

Outputs run_text(const std::string& text, const WholeInputs& inputs = {},
                 const std::map<std::string, std::string>& defines = {}) {
  const Module module = compile_program(text, "test.ks", defines);
  TrialLawChecker laws;
  require_valid(module, laws);
  return interpret(module, inputs);
}

double real(const Outputs& out, const std::string& name) { return out.at(name).as<double>()[0]; }
std::int64_t whole(const Outputs& out, const std::string& name) { return out.at(name).as<std::int64_t>()[0]; }
bool truth(const Outputs& out, const std::string& name) { return out.at(name).as<std::uint8_t>()[0] != 0; }

// The value of one expression of literals, through a param so that nothing is known to plan.
double value_of(const std::string& expression) {
  return real(run_text("param one = 1.0\noutput z = " + expression + "\n"), "z");
}

std::int64_t whole_of(const std::string& expression) {
  return whole(run_text("param one = 1\noutput z = " + expression + "\n"), "z");
}

TEST(Meaning, OperatorsBindAsDocumented) {
  EXPECT_EQ(value_of("one + 2 * 3"), 7);
  EXPECT_EQ(value_of("-one ^ 2"), -1);
  EXPECT_EQ(value_of("2 ^ 3 ^ (2 * one)"), 512);
  EXPECT_EQ(value_of("(one + 1) ^ -1"), 0.5);
  EXPECT_EQ(value_of("10 - one - 2"), 7);
  EXPECT_EQ(value_of("if one > 0 && one < 2 || false then 1.0 else 0.0"), 1);
  EXPECT_EQ(value_of("if !(one == 1) then 1.0 else 2.0"), 2);
  EXPECT_EQ(value_of("1 / 4 * one"), 0.25);
  EXPECT_EQ(value_of("one +\n  1"), 2);
}

TEST(Meaning, IntegersFloorAndWrap) {
  EXPECT_EQ(whole_of("(one - 8) // 2"), -4);
  EXPECT_EQ(whole_of("(one - 8) % 2"), 1);
  EXPECT_EQ(whole_of("one // (one - 1)"), 0);
  EXPECT_EQ(whole_of("one % (one - 1)"), 0);
  EXPECT_EQ(whole_of("(one + 2) ^ 3"), 27);
  EXPECT_EQ(whole_of("9223372036854775800 + one * 100"), std::numeric_limits<std::int64_t>::min() + 92);
  EXPECT_EQ(whole_of("i64(2.9 * f64(one))"), 2);
  EXPECT_EQ(whole_of("i64(i32(one) + 1)"), 2);
  EXPECT_EQ(whole_of("i64(i32(one * 5000000000))"), 2147483647);
  EXPECT_EQ(whole_of("i64(i32(one * -5000000000))"), -2147483648);
}

// The largest and the smallest integer stand for infinities.
TEST(Meaning, ExtremesOfIntegersStayWhatTheyAre) {
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max(),
                         low = std::numeric_limits<std::int64_t>::min();
  const std::string infinity = "(9223372036854775806 + one)";
  EXPECT_EQ(whole_of(infinity + " + one"), high);
  EXPECT_EQ(whole_of(infinity + " - 5"), high);
  EXPECT_EQ(whole_of("5 - " + infinity), low);
  EXPECT_EQ(whole_of("-" + infinity), low);
  EXPECT_EQ(whole_of("-(-" + infinity + ")"), high);
  EXPECT_EQ(whole_of("abs(-" + infinity + ")"), high);
  EXPECT_EQ(whole_of("3 * " + infinity), high);
  EXPECT_EQ(whole_of("-3 * " + infinity), low);
  EXPECT_EQ(whole_of("0 * " + infinity), 0);
  EXPECT_EQ(whole_of(infinity + " - " + infinity), low);
  EXPECT_EQ(whole_of("i64(2147483647i32 + i32(one))"), 2147483647);
  EXPECT_EQ(whole_of("i64(-2147483647i32 - i32(one) - 1i32)"), -2147483648);
  EXPECT_EQ(whole_of("2147483647 + one"), 2147483648);
}

TEST(Meaning, LiteralsAndConstsTakeTheTypeTheyMeet) {
  const std::string text = R"(
const k = 3
param x = 2.0, y = 5f32, n = 4
output a = k * x, b = k * y, c = k * n, d = n / k
)";
  Outputs out = run_text(text);
  EXPECT_EQ(real(out, "a"), 6);
  EXPECT_EQ(out.at("b").as<float>()[0], 15.0F);
  EXPECT_EQ(whole(out, "c"), 12);
  EXPECT_DOUBLE_EQ(real(out, "d"), 4.0 / 3.0);
  out = run_text(text, {}, {{"k", "10"}, {"x", "-0.5"}});
  EXPECT_EQ(real(out, "a"), -5);
  EXPECT_EQ(whole(out, "c"), 40);
}

TEST(Meaning, ArraysFromNothing) {
  WholeInputs inputs;
  inputs.dims["N"] = 4;
  const Outputs out = run_text(R"(
dim N, K local = 3
param r = 2.5
a = fill(r, N)
b : i64[N] = 7
c = i64(index(N)) * size(N)
d : f64[N, K] = r
e = 2 * r * fill(1.0, N)
f = fill(r, N, K) - a
output e, f, a, b, c, total = sum(d), rows = sum(d, over K), picked = sum(if i64(index(N)) == 2 then a else 0)
)",
                               inputs);
  EXPECT_EQ(out.at("a").count, 4);
  EXPECT_EQ(out.at("a").as<double>()[3], 2.5);
  EXPECT_EQ(out.at("b").as<std::int64_t>()[0], 7);
  EXPECT_EQ(out.at("c").as<std::int64_t>()[3], 12);
  EXPECT_EQ(real(out, "total"), 30);
  ASSERT_EQ(out.at("e").count, 4);
  EXPECT_EQ(out.at("e").as<double>()[3], 5);
  ASSERT_EQ(out.at("f").count, 12);
  EXPECT_EQ(out.at("f").as<double>()[11], 0);
  ASSERT_EQ(out.at("rows").count, 4);
  EXPECT_EQ(out.at("rows").as<double>()[1], 7.5);
  EXPECT_EQ(real(out, "picked"), 2.5);
}

TEST(Meaning, LoopsCarryAndBlocksAreLocal) {
  const Outputs out = run_text(R"(
param turns = 5
a = 0
b = 1
for i in 0..turns {
  next = a + b
  a = b
  b = next
}
digits = 0
for i in reversed(1..4) { digits = 10 * digits + i }
wrote = 0
n = 27
while n != 1 {
  if n % 2 == 0 { n = n // 2 } else if n == 3 { n = 10 } else {
    n = 3 * n + 1
  }
  wrote = wrote + 1
}
nothing = 3
while nothing < 0 { nothing = nothing - 1 }
output a, digits, wrote, nothing
)");
  EXPECT_EQ(whole(out, "a"), 5);
  EXPECT_EQ(whole(out, "digits"), 321);
  EXPECT_EQ(whole(out, "wrote"), 111);
  EXPECT_EQ(whole(out, "nothing"), 3);
}

TEST(Meaning, UnrolledLoopsMeanTheSame) {
  const std::string head = "param x = 3.0\nlist s[4] : f64 = 0\nt = 0.0\n";
  const std::string body = " { s[i] = x * f64(i)\n t = t * 10 + s[i] }\noutput t\n";
  const double plain = real(run_text(head + "for i in reversed(0..4)" + body), "t");
  EXPECT_EQ(plain, 9630);
  EXPECT_EQ(real(run_text(head + "for i in reversed(0..4) unroll" + body), "t"), plain);
}

TEST(Meaning, ListsRotate) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  const Outputs out = run_text(R"(
const m = 3
dim N
list s[m] : f64[N] = 1
list r[m] : f64 = 0
for i in 0..5 {
  push(s, fill(f64(i), N))
  push(r, f64(i * i))
}
s[0] = s[0] + 10
before = s[1]
push(s, s[0])
output oldest = s[0], newest = s[m - 1], before, r0 = r[0], r2 = r[2]
)",
                               inputs);
  EXPECT_EQ(real(out, "oldest"), 3);
  EXPECT_EQ(real(out, "newest"), 12);
  EXPECT_EQ(real(out, "before"), 3);
  EXPECT_EQ(real(out, "r0"), 4);
  EXPECT_EQ(real(out, "r2"), 16);
}

TEST(Meaning, PointsTuplesAndCoordinates) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  Array points(ElementType::array(Scalar::f64, 2), 2);
  points.as<double>(0)[0] = 3;
  points.as<double>(1)[0] = 4;
  points.as<double>(0)[1] = 5;
  points.as<double>(1)[1] = 12;
  inputs.arrays["X"] = std::move(points);
  const Outputs out = run_text(R"(
const d = 2
dim N
input X : [f64; d][N]
param c : [f64; d] = [1.0, 2]
fn norm(p) = sqrt(sum(j in d: p[j] ^ 2))
fn both(a, b) = ([j in d: a.0[j] + b.0[j]], a.1 + b.1)
s = reduce(both, map(p -> (p, 1), X))
output n = norm(X), largest = max(map(p -> max(j in d: p[j]), X)), first = s.0[0], second = s.0[1], count = s.1
output c1 = c[1] + prod(j in d: f64(j + 1))
)",
                               inputs);
  EXPECT_EQ(out.at("n").as<double>()[0], 5);
  EXPECT_EQ(out.at("n").as<double>()[1], 13);
  EXPECT_EQ(real(out, "largest"), 12);
  EXPECT_EQ(real(out, "first"), 8);
  EXPECT_EQ(real(out, "second"), 16);
  EXPECT_EQ(whole(out, "count"), 2);
  EXPECT_EQ(real(out, "c1"), 4);
}

TEST(Meaning, ReductionsOfEveryKind) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.arrays["x"] = reals_of({3, -1, 2});
  const Outputs out = run_text(R"(
dim N
input x : f64[N]
output s = sum(x), p = prod(x), lo = min(x), hi = max(x), d = dot(x, x), e = x @ x
output some = any(x < 0), every = all(x < 0), longest = reduce((a, b) -> max(a, b), abs(x))
)",
                               inputs);
  EXPECT_EQ(real(out, "s"), 4);
  EXPECT_EQ(real(out, "p"), -6);
  EXPECT_EQ(real(out, "lo"), -1);
  EXPECT_EQ(real(out, "hi"), 3);
  EXPECT_EQ(real(out, "d"), 14);
  EXPECT_EQ(real(out, "e"), 14);
  EXPECT_TRUE(truth(out, "some"));
  EXPECT_FALSE(truth(out, "every"));
  EXPECT_EQ(real(out, "longest"), 3);
}

// Elements of few values, so that many are equal, among them NaN, infinities and zeros of both signs.
std::vector<double> odd_values(size_t count, unsigned seed) {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  static constexpr double values[] = {1, -2, 0.0, -0.0, 3, 3, -inf, inf, nan};
  std::mt19937 random(seed);
  const size_t kinds = seed % 3 == 0 ? 9 : seed % 3 == 1 ? 6 : 2;
  std::vector<double> made;
  for (size_t i = 0; i < count; ++i) made.push_back(values[random() % kinds]);
  return made;
}

// Where the first of `count` elements, `step` apart, stands that none comes before: the first NaN, if there is one.
std::int64_t place(const double* x, size_t count, size_t step, bool largest) {
  size_t best = 0;
  for (size_t i = 1; i < count && !std::isnan(x[best * step]); ++i) {
    const double now = x[i * step], then = x[best * step];
    if (std::isnan(now) || (largest ? now > then : now < then)) best = i;
  }
  return static_cast<std::int64_t>(best);
}

TEST(Aggregates, PlacesOfTheLargestAndTheSmallestAreThoseOfALoop) {
  const size_t n = 7, m = 5;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::vector<double> a = odd_values(n * m, seed);
    WholeInputs inputs;
    inputs.dims = {{"N", n}, {"F", m}};
    inputs.arrays["A"] = reals_of(a);
    inputs.arrays["v"] = reals_of({a.begin(), a.begin() + n});
    const Outputs out = run_text(R"(
dim N, F local
input A : f64[N, F], v : f64[N]
output r = argmax(A, over F), c = argmax(A, over N), t = argmax(v), again = argmax(v, over N)
output rl = argmin(A, over F), cl = argmin(A, over N), tl = argmin(v), s = argmin(f32(A), over F)
)",
                                 inputs);
    for (const bool largest : {true, false}) {
      const std::string end = largest ? "" : "l";
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(out.at("r" + end).as<std::int64_t>()[i], place(&a[i * m], m, 1, largest)) << seed << ' ' << i;
        if (largest) continue;
        EXPECT_EQ(out.at("s").as<std::int64_t>()[i], place(&a[i * m], m, 1, false)) << seed << ' ' << i;
      }
      for (size_t j = 0; j < m; ++j) {
        EXPECT_EQ(out.at("c" + end).as<std::int64_t>()[j], place(&a[j], n, m, largest)) << seed << ' ' << j;
      }
      EXPECT_EQ(whole(out, "t" + end), place(a.data(), n, 1, largest)) << seed;
    }
    EXPECT_EQ(whole(out, "again"), whole(out, "t"));
  }
}

TEST(Aggregates, MeansAndSquaresAreThoseOfALoop) {
  const size_t n = 7, m = 5;
  std::mt19937 random(3);
  std::vector<double> a(n * m);
  for (double& x : a) x = static_cast<double>(random() % 2001) / 8 - 100;  // sums of them are exact
  WholeInputs inputs;
  inputs.dims = {{"N", n}, {"F", m}};
  inputs.arrays["A"] = reals_of(a);
  const Outputs out = run_text(R"(
dim N, F local
input A : f64[N, F]
output m = mean(A), r = mean(A, over F), c = mean(A, over N), both = mean(A, over F, N), k = mean(i64(A)), s = mean(f32(A))
output q = sumsq(A), qr = sumsq(A, over F), qc = sumsq(A - 1, over N), qk = sumsq(i32(A))
)",
                               inputs);
  double total = 0, whole_numbers = 0, squares = 0;
  std::int32_t integer_squares = 0;
  for (const double x : a) {
    total += x;
    whole_numbers += std::trunc(x);
    squares += x * x;
    integer_squares += static_cast<std::int32_t>(x) * static_cast<std::int32_t>(x);
  }
  EXPECT_EQ(real(out, "m"), total / 35);
  EXPECT_EQ(real(out, "both"), total / 35);
  EXPECT_EQ(real(out, "k"), whole_numbers / 35);
  EXPECT_EQ(out.at("s").as<float>()[0], static_cast<float>(total) / 35);
  EXPECT_EQ(real(out, "q"), squares);
  EXPECT_EQ(out.at("qk").as<std::int32_t>()[0], integer_squares);
  for (size_t i = 0; i < n; ++i) {
    double row = 0, row_squares = 0;
    for (size_t j = 0; j < m; ++j) {
      row += a[i * m + j];
      row_squares += a[i * m + j] * a[i * m + j];
    }
    EXPECT_EQ(out.at("r").as<double>()[i], row / 5) << i;
    EXPECT_EQ(out.at("qr").as<double>()[i], row_squares) << i;
  }
  for (size_t j = 0; j < m; ++j) {
    double column = 0, column_squares = 0;
    for (size_t i = 0; i < n; ++i) {
      column += a[i * m + j];
      column_squares += (a[i * m + j] - 1) * (a[i * m + j] - 1);
    }
    EXPECT_EQ(out.at("c").as<double>()[j], column / 7) << j;
    EXPECT_EQ(out.at("qc").as<double>()[j], column_squares) << j;
  }
}

TEST(Aggregates, OfNothing) {
  WholeInputs inputs;
  inputs.dims = {{"N", 0}, {"F", 2}};
  inputs.arrays["A"] = reals_of({});
  const Outputs out = run_text(R"(
dim N, F local
input A : f64[N, F]
output m = mean(A), c = mean(A, over N), q = sumsq(A), p = argmax(A, over N), r = argmin(sum(A, over F))
output none = argmax(A, over F)
)",
                               inputs);
  constexpr std::int64_t no_index = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(std::isnan(real(out, "m")));
  EXPECT_TRUE(std::isnan(out.at("c").as<double>()[1]));
  EXPECT_EQ(real(out, "q"), 0);
  EXPECT_EQ(out.at("p").as<std::int64_t>()[1], no_index);
  EXPECT_EQ(whole(out, "r"), no_index);
  EXPECT_EQ(out.at("none").count, 0);
}

TEST(Aggregates, AProgramMayHaveItsOwn) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.arrays["x"] = reals_of({3, -1, 4});
  const Outputs out = run_text(R"(
dim N
input x : f64[N]
fn mean(a, b) = (a + b) / 2
fn sumsq(a) = a * a + 1
fn random(a, b) = a + b
normal = 2.0
fn argmax(a, b) = if a.0 > b.0 || (a.0 == b.0 && a.1 <= b.1) then a else b
argmin = 7
best = reduce(argmax, map((v, i) -> (v, i64(i)), x, index(N)))
output m = sum(mean(x, 2 * x)), s = sum(sumsq(x)), place = best.1, argmin, low = argmin(x), r = sum(random(x, normal))
)",
                               inputs);
  EXPECT_EQ(real(out, "m"), 9);
  EXPECT_EQ(real(out, "s"), 29);
  EXPECT_EQ(whole(out, "place"), 2);
  EXPECT_EQ(whole(out, "argmin"), 7);
  EXPECT_EQ(whole(out, "low"), 1);
  EXPECT_EQ(real(out, "r"), 12);
}

// The numbers that its authors' program gives for this seed.
TEST(Random, MixesLikeSplitMix64) {
  const std::uint64_t wanted[] = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                  4593380528125082431U, 16408922859458223821U};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(static_cast<std::uint64_t>(whole_of("mix64(1234566 + one, " + std::to_string(i) + ")")), wanted[i]) << i;
  }
  EXPECT_EQ(static_cast<std::uint64_t>(whole_of("mix64(0, one - 1)")), 0xE220A8397B1DCDAFU);
}

std::uint64_t split_mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + (b + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// In one half or the other, as the highest bit says.
double unit(std::uint64_t bits) { return static_cast<double>((bits ^ (std::uint64_t{1} << 63)) >> 11) * 0x1p-53; }

TEST(Random, IsMadeOfTheSeedAndTheIdsAlone) {
  const size_t n = 200, m = 50;
  WholeInputs inputs;
  inputs.dims = {{"N", n}, {"F", m}};
  const Outputs out = run_text(R"(
dim N, F local
param seed = 42
output a = random(seed, N, F), b = random(-3, N), c = random(42, N, F), z = normal(seed, N, F)
)",
                               inputs);
  const double* a = out.at("a").as<double>();
  const double* z = out.at("z").as<double>();
  double mean = 0, spread = 0, neighbours = 0, normal_mean = 0, normal_spread = 0;
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(out.at("b").as<double>()[i], unit(split_mix(split_mix(static_cast<std::uint64_t>(-3), 0), i)));
    for (size_t j = 0; j < m; ++j) {
      const size_t at = i * m + j;
      const std::uint64_t key = split_mix(split_mix(split_mix(42, 0), i), j);
      ASSERT_EQ(a[at], unit(key)) << i << ' ' << j;
      ASSERT_EQ(a[at], out.at("c").as<double>()[at]);
      ASSERT_TRUE(a[at] >= 0 && a[at] < 1) << a[at];
      const double two_pi = 6.283185307179586;
      const double wanted =
          std::sqrt(-2 * std::log(1 - unit(split_mix(key, 0)))) * std::cos(two_pi * unit(split_mix(key, 1)));
      ASSERT_NEAR(z[at], wanted, 1e-14) << i << ' ' << j;
      mean += a[at] / (n * m);
      spread += (a[at] - 0.5) * (a[at] - 0.5) / (n * m);
      neighbours += j > 0 ? (a[at] - 0.5) * (a[at - 1] - 0.5) / (n * m) : 0;
      normal_mean += z[at] / (n * m);
      normal_spread += z[at] * z[at] / (n * m);
    }
  }
  EXPECT_NEAR(mean, 0.5, 0.012);  // 4 standard deviations of each
  EXPECT_NEAR(spread, 1.0 / 12, 0.003);
  EXPECT_NEAR(neighbours, 0, 0.0034);
  EXPECT_NEAR(normal_mean, 0, 0.04);
  EXPECT_NEAR(normal_spread, 1, 0.06);
}

TEST(Meaning, ProductsRunAlongRowsOrColumns) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  inputs.dims["M"] = 3;
  WholeMatrix& g = inputs.matrices["G"];  // (0, 0) 2, (0, 2) 3, (1, 2) 5
  g.rows = {0, 0, 1};
  g.cols = {0, 2, 2};
  g.values = reals_of({2, 3, 5});
  inputs.arrays["x"] = reals_of({1, 10});
  inputs.arrays["y"] = reals_of({1, 10, 100});
  const Outputs out = run_text(R"(
dim N, M
input G : f64[N, M], x : f64[N], y : f64[M]
output a = G' @ x, b = G @ y, c = x @ G, d = mxvt(+, min, G, y), e = G.T @ x, f = mxv(*, +, x, G)
)",
                               inputs);
  for (const std::string name : {"a", "c", "e", "f"}) {
    const double* v = out.at(name).as<double>();
    EXPECT_EQ((std::vector<double>{v[0], v[1], v[2]}), (std::vector<double>{2, 0, 53})) << name;
  }
  EXPECT_EQ(out.at("b").as<double>()[0], 302);
  EXPECT_EQ(out.at("b").as<double>()[1], 500);
  EXPECT_EQ(out.at("d").as<double>()[0], 3);
}

TEST(Meaning, NullEntriesCountAsOneOfTheMultipliersType) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.matrices["G"].rows = {0, 1};
  inputs.matrices["G"].cols = {1, 2};
  const Outputs out = run_text(R"(
dim N
input G : null[N, N]
fn hop(x, entry: i64) = x + entry
reached = mxv(&&, ||, G, i64(index(N)) == 0)
steps = mxv(hop, max, G, i64(index(N)))
also = G' @ (i64(index(N)) == 0)
degree = G @ fill(1i32, N)
output reached, steps, also, degree
)",
                               inputs);
  EXPECT_EQ(out.at("reached").as<std::uint8_t>()[1], 1);
  EXPECT_EQ(out.at("reached").as<std::uint8_t>()[2], 0);
  EXPECT_EQ(out.at("also").as<std::uint8_t>()[1], 1);
  EXPECT_EQ(out.at("steps").as<std::int64_t>()[2], 2);
  EXPECT_EQ(out.at("steps").as<std::int64_t>()[0], std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out.at("degree").as<std::int32_t>()[0], 1);
  EXPECT_EQ(out.at("degree").as<std::int32_t>()[2], 0);
}

TEST(Meaning, MultiplyingByAMatrixOfLocalColumns) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  inputs.dims["F"] = 3;
  inputs.arrays["A"] = reals_of({1, 2, 3, 4, 5, 6});
  inputs.arrays["x"] = reals_of({1, 10});
  const Outputs out = run_text(R"(
dim N, F local
input A : f64[N, F], x : f64[N]
w : f64[F] = 1
output a = A @ w, b = A' @ x, c = sum(A * x, over F)
)",
                               inputs);
  EXPECT_EQ(out.at("a").as<double>()[1], 15);
  EXPECT_EQ(out.at("b").as<double>()[2], 63);
  EXPECT_EQ(out.at("c").as<double>()[1], 150);
}

}  // namespace
}  // namespace kasen
