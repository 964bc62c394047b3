// Reductions of tuples and small arrays, many in one loop, of elements that a condition lets in: their accumulators
// live in registers or in memory, and what is not let in is not added. Against the interpreter bit by bit, on one and
// on two threads, with numbers of every kind.
#include <fmt/format.h>

#include "tests/kernels/part_run.h"

namespace kasen::test {
namespace {

constexpr const char* inputs = R"(
const d = 3, k = 4
dim N
input X : [f64; d][N], v : f64[N], w : f32[N], a : i64[N], b : i32[N]
)";

// As in K-means: sums of points and their numbers, by a condition. d = 40 stays a loop, k * (d + 1) > 16 leaves
// registers.
TEST(ManySums, OfPointsByCondition) {
  const std::string program = std::string(inputs) + R"(
fn belongs(p, v, j) = if v > f64(j) then (p, 1) else ([i in d: 0.0], 0)
fn turned(p, v, j) = if v > f64(j) then ([i in d: 0.0], 0) else (p, 1)
fn both(x, y) = ([i in d: x.0[i] + y.0[i]], x.1 + y.1)
list c[k] : [f64; d] = 0
list n[k] : i64 = 0
for j in 0..k unroll {
  s = reduce(both, map(belongs, X, v, j))
  t = reduce(both, map(turned, X, v, j))
  c[j] = [i in d: s.0[i] + 2 * t.0[i]]
  n[j] = s.1 - t.1
}
p0 = c[0]
p1 = c[k - 1]
q0 = n[0]
q1 = n[k - 1]
output p0, p1, q0, q1
)";
  for (const auto& [d, k] : {std::pair{1, 1}, {3, 4}, {10, 1}, {10, 3}, {16, 2}, {17, 2}, {40, 3}}) {
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {{"d", std::to_string(d)}, {"k", std::to_string(k)}}, d));
  }
}

// Integers keep their infinities, whatever is added; small numbers are counted.
TEST(ManySums, OfIntegersWithInfinities) {
  const std::string program = std::string(inputs) + R"(
fn chosen(a, v) = if v > 0 then (a, 1, i64(b_of(v))) else (0, -1, 0)
fn b_of(v) = v > 2
fn three(x, y) = (x.0 + y.0, x.1 + y.1, x.2 + y.2)
fn narrow(b, v) = if v > 0 then (b, i32(1)) else (i32(0), i32(7))
fn pair(x, y) = (x.0 + y.0, x.1 + y.1)
s = reduce(three, map(chosen, a, v))
t = reduce(pair, map(narrow, b, v))
s0 = s.0
s1 = s.1
s2 = s.2
t0 = t.0
t1 = t.1
count = sum(if v > 1 then 1 else 0)
total = sum(b)
output s0, s1, s2, t0, t1, count, total
)";
  ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {}, 3));
}

// Sums of what may be -0 and NaN, other reducers beside them, components that look at one another.
TEST(ManySums, OfOtherReducers) {
  const std::string program = std::string(inputs) + R"(
fn mixed(v, w, p) = if v > 0 then (v, w, p[0], p) else (-0.0, f32(0), inf, p)
fn meet(x, y) = (x.0 + y.0, x.1 + y.1, min(x.2, y.2), [i in d: max(x.3[i], y.3[i])])
fn least(x, y) = if y.0 < x.0 || (y.0 == x.0 && y.1 < x.1) then y else x
fn place(p, a) = (sum(i in d: p[i] * p[i]), abs(a))
fn points(x, y) = [i in d: x[i] + y[i]]
fn some(p, v) = if v < 1 then p else [i in d: 0.0]
m = reduce(meet, map(mixed, v, w, X))
l = reduce(least, map(place, X, a))
z = reduce(points, map(some, X, v))
m0 = m.0
m1 = m.1
m2 = m.2
m3 = m.3
l0 = l.0
l1 = l.1
shifted = map((p, z) -> [i in d: p[i] - z[d - 1 - i]], X, z)
output m0, m1, m2, m3, l0, l1, z, shifted
)";
  for (const int d : {1, 3, 12, 20}) {
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(program, {{"d", std::to_string(d)}}, d));
  }
}

}  // namespace
}  // namespace kasen::test
