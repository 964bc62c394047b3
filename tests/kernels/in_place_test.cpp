// Results that take the place of operands, of small arrays and tuples whose components are made of one another: in the
// vector loop, in what is left behind it, and in loops over many coordinates.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libopt/optimize/optimize.h"
#include "tests/opt/random_data.h"
#include "tests/support/generated.h"

namespace kasen {
namespace {

struct InPlaceCase {
  const char* name;
  const char* text;
};

void PrintTo(const InPlaceCase& program, std::ostream* out) { *out << program.name; }

const InPlaceCase cases[] = {
    {"exchanged", R"(
input x : [f64; 2][N]
fn swap(m) = [m[1], m[0]]
y = x
for i in 0..3 { y = map(swap, y) }
output y
)"},
    {"normalised", R"(
input x : [f64; 2][N]
y = x
for i in 0..3 { y = map(m -> [i in 2: m[i] / (m[0] + m[1])], y) }
output y
)"},
    {"rotated_singles", R"(
input x : [f32; 3][N]
y = x
for i in 0..4 { y = map(m -> [i in 3: m[(i + 1) % 3]], y) }
output y
)"},
    {"many_integers", R"(
input x : [i32; 17][N]
y = x
for i in 0..4 { y = map(m -> [i in 17: m[(i + 5) % 17] - m[16 - i]], y) }
output y
)"},
    {"complex", R"(
input x : [f64; 2][N], c : [f64; 2][N]
fn step(a, b) = [0.1 * (a[0] * b[0] - a[1] * b[1]) + 0.5, 0.1 * (a[0] * b[1] + a[1] * b[0]) + 0.25]
z = x
for i in 0..4 { z = step(z, c) }
output z
)"},
    {"tuples", R"(
input x : (f64, [i32; 3], [i32; 3], i64)[N]
t = x
for i in 0..3 { t = map(t -> (f64(t.1[2]) + t.0, [t.2[1], t.1[2], i32(t.3)], t.1, i64(t.2[0]) + t.3), t) }
output t
)"},
    {"truths_and_ids", R"(
input x : [i64; 3][N]
b = map(p -> [i in 3: p[i] % 2 == 0], x)
k = map((p, j) -> (p[0], [j, j]), x, index(N))
for i in 0..3 {
  b = map(p -> [p[2], p[0] && p[1], !p[1]], b)
  k = map((k, j) -> (k.0 + 1, [k.1[1], if k.0 % 2 == 0 then j else k.1[0]]), k, index(N))
}
output b, k
)"},
    // One result takes the place of what the other still reads.
    {"two_results", R"(
input x : [f64; 3][N], y : [f64; 3][N]
a = x
b = y
for i in 0..3 {
  c = map((p, q) -> [i in 3: 2 * q[i]], a, b)
  b = map((p, q) -> [i in 3: p[i] + q[2 - i]], a, b)
  a = c
}
output a, b
)"},
    {"two_results_of_many_coordinates", R"(
input x : [f64; 40][N], y : [f64; 40][N]
a = x
b = y
for i in 0..3 {
  c = map((p, q) -> [i in 40: p[39 - i] + q[i]], a, b)
  b = map((p, q) -> [i in 40: 0.5 * p[i] + q[i] * 0.25], a, b)
  a = c
}
output a, b, s = sum(map(p -> p[3], a))
)"},
    {"results_of_two_types", R"(
input x : [f64; 2][N], y : [f64; 3][N]
a = x
b = y
for i in 0..3 {
  c = map((p, q) -> [p[1] + q[2], p[0]], a, b)
  b = map((p, q) -> [q[1], q[2] - p[0], p[1]], a, b)
  a = c
}
output a, b
)"},
    // A sum over coordinates that two results have in common, of other operands.
    {"chosen_by_a_sum", R"(
input x : [f64; 3][N], y : [f64; 3][N]
a = map(p -> if sum(j in 3: p[j]) > 9.0 then p else [i in 3: p[2 - i]], x)
b = map(p -> if sum(j in 3: p[j]) > 9.0 then p else [i in 3: p[2 - i]], y)
output a, b
)"},
    {"beside_a_total", R"(
input x : [f64; 3][N]
fn plus(a, b) = [i in 3: a[i] + b[i]]
y = x
s = reduce(plus, y)
for i in 0..3 {
  y = map(m -> [0.5 * m[1], m[2], 0.25 * m[0]], y)
  s = reduce(plus, y)
}
output y, s
)"},
    {"with_columns", R"(
input S : [f64; 2][N, K], r : [f64; 2][K]
B = S
for i in 0..3 { B = map((m, r) -> [m[1] - r[0], m[0] * r[1]], B, r) }
output B
)"},
    {"behind_a_product", R"(
input G : f64[N, N], x : f64[N], p : (f64, [f64; 2])[N]
y = x
q = p
for i in 0..3 {
  z = G' @ y
  q = map((z, q) -> (q.1[0] + 0.001 * z, [q.1[1], q.0]), z, q)
  y = map(q -> 0.5 * q.1[1], q)
}
output y, q
)"},
};

class InPlace : public ::testing::TestWithParam<InPlaceCase> {};
INSTANTIATE_TEST_SUITE_P(Programs, InPlace, ::testing::ValuesIn(cases),
                         [](const auto& program) { return std::string(program.param.name); });

TEST_P(InPlace, GivesWhatTheInterpreterGives) {
  const Module program = compile_program("dim N, K local = 3\n" + std::string(GetParam().text), "test.ks", {});
  TrialLawChecker laws;
  OptimizeOptions options;
  options.epilogue = true;
  const Module plan = optimize(program, laws, options);
  constexpr std::array workers{1, 2, 3, 5};
  size_t iteration = 0;
  for (const std::int64_t size : {0, 1, 7, 8, 9, 63, 4095, 4096, 4097}) {
    for (const int count : {workers.at(iteration % 4), workers.at((iteration + 1) % 4)}) {
      SCOPED_TRACE(::testing::Message() << size << " elements, " << count << " workers");
      const std::vector<Part> parts = testing::split(testing::random_data(program, count, size, 3 * size, 7));
      const auto wanted = interpret(program, whole_inputs(parts));
      const auto transport = make_simulated_transport(count);
      const auto kernels = testing::make_kernels({.threads = 1 + static_cast<int>(iteration % 2)});
      const RunResult result = execute(plan, parts, *transport, *kernels, {});
      for (const Output& output : result.outputs) {
        testing::expect_same(output.name, output.type.element, testing::whole_words(plan, output, parts),
                             testing::words_of(wanted.at(output.name)), 1e-9);
      }
      if (HasFailure()) return;
    }
    iteration += 1;
  }
}

}  // namespace
}  // namespace kasen
