// Aggregates that are made of others, and random arrays: against plain loops written here.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/core/run_program.h"

namespace kasen::meaning {
namespace {

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

}  // namespace
}  // namespace kasen::meaning
