// Programs of every feature of the language, planned in every mode, over 1, 2 and 3 simulated workers, against the
// interpreter of the unplanned program.
#include <gtest/gtest.h>

#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen {
namespace {

struct Feature {
  const char* name;
  const char* text;
};

void PrintTo(const Feature& feature, std::ostream* out) { *out << feature.name; }

const Feature features[] = {
    {"shareds_of_local_dimensions", R"(
dim N, F local = 3
input A : f64[N, F], x : f64[N]
param a = 2.0
w : f64[F] = 1
b = A' @ x
w = w + a * b
z = A @ w
output z, w, total = sum(w), largest = max(b - w), rows = sum(A * x, over F), columns = sum(A, over N)
)"},
    {"lists_of_arrays", R"(
const m = 3
dim N
input G : null[N, N], x : f64[N]
list s[m] : f64[N] = 0
list r[m] : f64 = 1
y = x
for i in 0..7 {
  push(s, y)
  y = 0.5 * y + s[0] - 0.25 * s[m - 2]
  r[i % m] = sum(y)
  if r[1] > 3.0 { s[1] = y }
}
keep = s[2]
push(s, G @ keep)
output y, keep, a = s[0], b = s[2], c = r[0] + r[1] * r[2]
)"},
    {"branches", R"(
dim N
input G : null[N, N], x : f64[N]
u = x
v : f64[N] = 2
n = 0
while n < 6 likely {
  p = G @ u
  if sum(p) > 40.0 likely { u = p / 8 } else if n == 2 {
    u = v
    v = p
  } else {
    t = G' @ v
    u = t + u
  }
  n = n + 1
}
output u, v, n
)"},
    {"swapped_names", R"(
dim N
input x : f64[N], y : f64[N]
u = x
v = y
for i in 0..5 {
  t = u
  u = v
  v = t + 1
}
output u, v, x
)"},
    {"carried_untouched", R"(
dim N
input G : null[N, N], x : f64[N]
u = x
old = x
for i in 0..4 {
  old = u
  u = (G @ u) / 4 + x
}
output u, old, change = sum(abs(u - old))
)"},
    {"integers_and_bools", R"(
dim N
input G : i64[N, N], k : i64[N], small : i32[N]
fn hop(v, w) = v + w
reach = mxv(hop, min, G, k)
seen = mxvt((b, w) -> b && w > 7, ||, G, k % 2 == 0)
h = k // 3 - i64(small) % 4
output reach, seen, h, all_seen = all(seen), most = max(small), parity = reduce((a, b) -> a * b, 1 - 2 * (k % 2))
)"},
    {"points_and_tuples", R"(
const d = 2
dim N
input X : [f64; d][N], w : f64[N]
fn both(a, b) = ([j in d: a.0[j] + b.0[j]], a.1 + b.1)
fn weigh(p, w) = ([j in d: w * p[j]], w)
fn nearest(a, b) = if b.0 < a.0 || (b.0 == a.0 && b.1 < a.1) then b else a
s = reduce(both, map(weigh, X, w))
centre = map((p, s) -> sum(j in d: (p[j] - s.0[j] / s.1) ^ 2), X, s)
output centre, x = s.0[0] / s.1, weight = s.1
)"},
    {"several_products", R"(
dim N, M
input A : f64[N, M], B : f64[N, M], x : f64[N], y : f64[M]
param t = 0.5
p = A' @ x
q = A @ y
r = mxv(*, max, A, x + q)
u = B' @ (q * t)
v = x @ B + p
lowest = mxvt(+, min, B, y)
output p, q, r, u, v, both = A' @ x + B' @ x, finite = sum(if lowest < inf then lowest else 0.0)
)"},
    {"nested_loops", R"(
dim N
input G : null[N, N], x : f64[N]
u = x
for i in 0..3 {
  v = u
  k = 0
  while sum(v) > 1.0 && k < 4 {
    v = (G' @ v) / 10
    k = k + 1
  }
  for j in reversed(0..2) { u = u + v * f64(i + j) }
}
output u
)"},
    {"ids_and_positions", R"(
dim N
input G : null[N, N], x : f64[N]
place = i64(index(N))
first = map((i, n) -> 2 * i64(i) < n, index(N), size(N))
degree = G @ fill(1, N)
hub = max(if first then degree else -1)
output place, first, degree, hub, chosen = sum(if degree == hub then x else 0.0)
)"},
    {"output_of_inputs", R"(
dim N
input x : f64[N]
param a = 3.5, b = 2
z = x
output x, z, a, ab = a * f64(b), again = x, flag = a > 3
)"},
};

class FeaturesRun : public ::testing::TestWithParam<Feature> {};

INSTANTIATE_TEST_SUITE_P(Programs, FeaturesRun, ::testing::ValuesIn(features),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(FeaturesRun, LikeTheirPrograms) {
  const Module program = compile(GetParam().text);
  for (const int workers : {1, 2, 3}) {
    const testing::TestData data = testing::random_data(program, workers, 12, 30, 11);
    const std::vector<Part> parts = testing::split(data);
    const auto wanted = interpret(program, whole_inputs(parts));
    for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
      for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
        SCOPED_TRACE(std::to_string(workers) + " workers, strategy " + std::to_string(static_cast<int>(strategy)) +
                     ", sync " + std::to_string(static_cast<int>(sync)));
        const Module module = plan(program, strategy, sync);
        const RunResult result = testing::run_simulated(module, parts);
        ASSERT_EQ(result.outputs.size(), wanted.size());
        for (const Output& output : result.outputs) {
          testing::expect_same(output.name, output.type.element, testing::whole_words(module, output, parts),
                               testing::words_of(wanted.at(output.name)), 1e-9);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kasen
