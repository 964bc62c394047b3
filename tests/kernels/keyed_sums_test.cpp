// Sums of the elements that belong to one of several numbers, such as the points of clusters: against the interpreter
// bit by bit, with elements of every shape, keys of no number, and numbers of every kind.
#include "libkernels/emit/keyed_sums.h"

#include <fmt/format.h>

#include "libkernels/emit/elements.h"
#include "tests/kernels/part_run.h"

namespace kasen::test {
namespace {

constexpr const char* head = R"(
const d = 3, k = 6, low = 0
dim N
input X : [f64; d][N], Y : [f32; d][N], v : f64[N], a : i64[N]
fn place(v, a) = if v > 1 then 7 % (abs(a % 11) + 1) else if v > -2 then abs(a % (k + 3)) + low - 1 else low
)";

// Of k numbers from `low` on; there are keys below and above them.
std::string sums_by(const std::string& belongs, const std::string& both, const std::string& take) {
  return std::string(head) + belongs + both + R"(
key = map(place, v, a)
p = [i in 16: 0.0]
for j in 0..k unroll {
  s = reduce(both, map(belongs, key, X, Y, v, low + j))
  )" + take +
         R"(
}
output p
)";
}

TEST(KeyedSums, OfPointsAndTheirNumbers) {
  const std::string program = sums_by("fn belongs(key, x, y, v, j) = if key == j then (x, 1) else ([i in d: 0.0], 0)\n",
                                      "fn both(a, b) = ([i in d: a.0[i] + b.0[i]], a.1 + b.1)\n",
                                      "p = [i in 16: 3 * p[i] + s.0[i % d] + f64(s.1)]");
  for (const auto& [d, k] : {std::pair{1, 9}, {2, 8}, {3, 6}, {5, 5}, {7, 12}, {8, 5}, {10, 20}, {12, 7}, {15, 6}}) {
    for (const int low : {0, -3, 100}) {
      const std::map<std::string, std::string> defines{
          {"d", std::to_string(d)}, {"k", std::to_string(k)}, {"low", std::to_string(low)}};
      ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, defines, d));
    }
  }
}

TEST(KeyedSums, OfTuplesOfManyTypes) {
  const std::string program = sums_by(
      "fn belongs(key, x, y, v, j) = if j == key then (v * x[0], y, -5, sqrt(abs(v)) + x[d - 1]) "
      "else (0.0, [i in d: f32(0)], 0, 0.0)\n",
      "fn both(a, b) = (a.0 + b.0, [i in d: a.1[i] + b.1[i]], a.2 + b.2, b.3 + a.3)\n",
      "p = [i in 16: p[i] / 2 + s.0 + f64(s.1[i % d]) + f64(s.2) - s.3]");
  for (const int d : {1, 2, 4, 8, 11})
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {{"d", std::to_string(d)}}, d));
}

TEST(KeyedSums, OfSinglePlanes) {
  const std::string program = sums_by("fn belongs(key, x, y, v, j) = if key == j then v else 0.0\n",
                                      "fn both(a, b) = a + b\n", "p = [i in 16: 2 * p[i] + s]");
  ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {{"k", "18"}}, 3));
}

// Two groups in one loop, one of them against the order of its numbers; another reduction between the members or none.
TEST(KeyedSums, AmongOtherReductions) {
  for (const std::string between : {"0.5", "reduce(least, map(times, v, j))"}) {
    const std::string program = std::string(head) + R"(
fn up(key, x, y, v, j) = if key == j then (x, 1) else ([i in d: 0.0], 0)
fn down(key, v, j) = if key == k - 1 - j then v else 0.0
fn both(a, b) = ([i in d: a.0[i] + b.0[i]], a.1 + b.1)
fn plus(a, b) = a + b
fn times(v, j) = v * f64(j)
fn least(a, b) = min(a, b)
key = map(place, v, a)
p = [i in 16: 0.0]
for j in 0..k unroll {
  s = reduce(both, map(up, key, X, Y, v, low + j))
  u = )" + between + R"(
  t = reduce(plus, map(down, key, v, low + j))
  p = [i in 16: 3 * p[i] + s.0[i % d] + f64(s.1) - t / 3 + u]
}
output p
)";
    for (const char* k : {"5", "9"}) ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {{"k", k}}, 3)) << between;
  }
}

// The first number is that of the last reduction, behind which are as many others by the same reducer.
TEST(KeyedSums, AgainstTheOrderOfNumbers) {
  const std::string program = std::string(head) + R"(
fn up(key, v, j) = if key == j then 2 * v else 0.0
fn down(key, v, j) = if key == k - 1 - j then v else 0.0
fn plus(a, b) = a + b
key = map(place, v, a)
p = 0.0
for j in 0..k unroll { p = p / 2 + reduce(plus, map(down, key, v, j)) }
for j in 0..k unroll { p = p / 3 + reduce(plus, map(up, key, v, j)) }
output p
)";
  ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {{"k", "10"}}, 3));
}

// Each of these is summed one after another, since the other way would give other numbers or no group is there.
TEST(KeyedSums, OthersStayAsTheyAre) {
  for (const std::string belongs : {
           "if key == j then (x, 1) else ([i in d: -0.0], 0)",
           "if key == j then (x, 1) else ([i in d: 0.0], 1)",
           "if key == j then (x, key) else ([i in d: 0.0], 0)",
           "if key == j then ([i in d: x[i] * f64(j)], 1) else ([i in d: 0.0], 0)",
           "if key == 3 * j then (x, 1) else ([i in d: 0.0], 0)",
           "if key != j then (x, 1) else ([i in d: 0.0], 0)",
           "if f64(key) == f64(j) then (x, 1) else ([i in d: 0.0], 0)",
       }) {
    const std::string program = sums_by("fn belongs(key, x, y, v, j) = " + belongs + "\n",
                                        "fn both(a, b) = ([i in d: a.0[i] + b.0[i]], a.1 + b.1)\n",
                                        "p = [i in 16: 3 * p[i] + s.0[i % d] + f64(s.1)]");
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {}, 3)) << belongs;
  }
}

const ScalarFunction& function(const Module& module, std::string_view name) {
  return *std::find_if(module.functions.begin(), module.functions.end(), [&](const auto& f) { return f.name == name; });
}

TEST(KeyedSums, WhatIsKeyed) {
  const Module module = parse_module(R"(kir 1 level 1
module m {
  fn point(k: i64, x: [f64; 2]) -> ([f64; 2], i64) = if k == 4 then tuple(x, 1) else tuple([$0 in 2: 0.0], 0)
  fn swapped(k: i32, x: f64) -> f64 = if 2i32 == k then x + x else 0.0
  fn negative(k: i64, x: f64) -> f64 = if k == 2 then x else -0.0
  fn real(k: f64, x: f64) -> f64 = if k == 2.0 then x else 0.0
  fn both(k: i64, l: i64) -> f64 = if k == l then 1.0 else 0.0
  fn many(k: i64, x: i64) -> i64 = if k == 1 then x else 0
  fn sum(a: ([f64; 2], i64), b: ([f64; 2], i64)) -> ([f64; 2], i64) = tuple([$0 in 2: a.0[$0] + b.0[$0]], b.1 + a.1)
  fn twice(a: f64, b: f64) -> f64 = a + 2.0 * b
  fn cross(a: (f64, f64), b: (f64, f64)) -> (f64, f64) = tuple(a.0 + b.1, a.1 + b.0)
}
##end
)",
                                     "m.kir");
  const auto keyed = [&](const char* name) { return as_keyed(function(module, name).body); };
  ASSERT_TRUE(keyed("point"));
  EXPECT_EQ(keyed("point")->number, 4);
  EXPECT_TRUE(may_be_keyed(*keyed("point")));
  ASSERT_TRUE(keyed("swapped"));
  EXPECT_EQ(keyed("swapped")->number, 2);
  for (const char* name : {"negative", "real", "both"}) EXPECT_FALSE(keyed(name)) << name;
  EXPECT_FALSE(may_be_keyed(*keyed("many")));
  EXPECT_TRUE(Accumulator::only_sums(function(module, "sum").body));
  for (const char* name : {"twice", "cross"}) {
    EXPECT_FALSE(Accumulator::only_sums(function(module, name).body)) << name;
    EXPECT_TRUE(Accumulator::only_adds(function(module, name).body)) << name;
  }
}

}  // namespace
}  // namespace kasen::test
