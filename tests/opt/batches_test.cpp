// Batches of sparse inputs: every plan of a program over them computes what the program says, with interpreted and
// generated kernels, and costs what is predicted, whatever numbers of nonzeros the batches have.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram batch_programs[] = {
    {"epochs", R"(
dim T local = 4, N, F
input X : sparse f64[T, N, F], y : f64[T, N]
w = fill(0.0, F)
for epoch in 0..2 {
  for t in 0..size(T) {
    B = at(X, t, over T)
    e = 1 / (1 + exp(-(B @ w))) - at(y, t)
    w = w - 0.01 * (B' @ e)
  }
}
output w
)"},
    {"local_columns", R"(
dim T local = 5, N, F local = 7, K local = 3
input X : sparse f64[T, N, F], W : f64[F, K]
V = W
for t in 0..size(T) {
  B = at(X, t)
  P = tanh(B @ V)
  V = V + 0.1 * (B' @ P)
}
output V, H = at(X, 1)' @ (at(X, 1) @ W)
)"},
    {"local_rows", R"(
dim T local = 3, N local = 6, F
input X : sparse f64[T, N, F], a : f64[N]
s = fill(0.0, F)
for t in reversed(0..size(T)) { s = s + at(X, t)' @ a }
output s, r = at(X, 2) @ s
)"},
    {"folds", R"(
dim T local = 3, N, F, K local = 4
input X : sparse f64[T, N, F], U : f64[N, K], V : f64[F, K], a : f64[N], b : dense f64[F]
all = 0.0
rows = fill(0.0, N)
Q = V
for t in 0..size(T) {
  B = at(X, t)
  R = B - f64(B != 0) * (U @ Q')
  all = all + sum(R * R) + max(B) + mean(B)
  rows = rows + sum(B * a * b, over F) + max(B, over F)
  Q = Q - 0.01 * (R' @ U)
}
output all, rows, Q, least = min(at(X, 0) * b, over N)
)"},
    {"patterns_and_semirings", R"(
dim T local = 3, N, M = N[:]
input G : sparse null[T, N, N], d : f64[N]
near = d
for t in 0..size(T) {
  B = at(G, t)
  near = map(min, near, mxv((x, w) -> x + w, min, B, near))
}
output near, out = sum(at(G, 2) as [N, M], over M)
)"},
    {"chosen_by_the_run", R"(
dim T local = 4, N, F
input X : sparse i64[T, N, F], v : i64[F]
param from = 1
t = from
count = 0
while t < size(T) {
  if t % 2 == 1 { count = count + sum(at(X, t) @ v) } else { count = count - sum(at(X, t) * v) }
  t = t + 1
}
output count, last = at(X, t - 1) @ v
)"},
    {"several", R"(
dim T local = 3, N, F
input X : sparse f64[T, N, F], Y : sparse f64[T, N, F], Z : f64[N, F], v : f64[F]
s = fill(0.0, N)
for t in 0..size(T) { s = s + at(X, t) @ v + at(Y, size(T) - 1 - t) @ v + Z @ v }
output s
)"},
    {"by_a_def", R"(
dim T local = 3, N, F
input X : sparse f64[T, N, F], v : f64[F]
def step(all, t, x) {
  B = at(all, t)
  return B' @ (B @ x)
}
w = v
for t in 0..3 unroll { w = w + 0.01 * step(X, t, w) }
output w
)"},
    {"of_unknown_number", R"(
dim T local, N, F
input X : sparse f64[T, N, F]
s = 0.0
for i in 0..2 {
  for t in 0..size(T) { s = s / 2 + sum(at(X, t)) }
}
output s
)"},
};

class BatchPrograms : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(BatchPrograms, RunLikeTheirProgram) {
  for (const std::int64_t entries : {0, 5, 60}) run_everywhere(compile(GetParam().text), 11, entries);
}

INSTANTIATE_TEST_SUITE_P(Programs, BatchPrograms, ::testing::ValuesIn(batch_programs),
                         [](const auto& program) { return std::string(program.param.name); });

// One of several matrices is what a matrix of the same entries by itself is.
TEST(Batches, AreMatrices) {
  const Module one = compile(
      "dim N, F\ninput B : f64[N, F], v : f64[F], u : f64[N]\n"
      "output p = B @ v, q = B' @ u, s = sum(B * u, over N), m = max(B)");
  const Module all = compile(
      "dim T local = 3, N, F\ninput X : sparse f64[T, N, F], v : f64[F], u : f64[N]\nparam t = 0\n"
      "B = at(X, t)\noutput p = B @ v, q = B' @ u, s = sum(B * u, over N), m = max(B)");
  std::mt19937_64 random(3);
  testing::TestData data = testing::random_data(all, 1, 8, 40, 3);
  const testing::TestMatrix& whole = data.matrices.at("X");
  for (std::int64_t t = 0; t < 3; ++t) {
    testing::TestMatrix part{whole.rows, whole.cols, whole.element, {}, {}, {}};
    for (size_t e = 0; e < whole.entries.size(); ++e) {
      if (whole.batch[e] != t) continue;
      part.entries.push_back(whole.entries[e]);
      part.owner.push_back(0);
      part.values.push_back(whole.values[e]);
    }
    testing::TestData alone = data;
    alone.matrices = {{"B", part}};
    WholeInputs inputs = whole_inputs(testing::split(data));
    inputs.params["t"] = {Word::integer(t)};
    const auto of_batch = interpret(all, inputs), of_matrix = interpret(one, whole_inputs(testing::split(alone)));
    for (const auto& [name, array] : of_matrix)
      testing::expect_same(name, array.element, testing::words_of(of_batch.at(name)), testing::words_of(array), 0);
  }
}

// The loop over all batches reads the nonzeros of the matrix; of another loop the mean is known.
TEST(Batches, CostTheirMatrixTogether) {
  const auto cost_of = [](const std::string& range) {
    const Module program = compile(
        "dim T local = 4, N, F\ninput X : sparse f64[T, N, F], v : f64[F]\n"
        "s = fill(0.0, N)\nfor t in " +
        range + " { s = s + at(X, t) @ v }\noutput s");
    const Module made = plan(program, Strategy::none, SyncMode::hybrid);
    const SymbolNames names(made);
    return measure(made).actual.read.text(names);
  };
  EXPECT_NE(cost_of("0..size(T)").find("20 nnz"), std::string::npos) << cost_of("0..size(T)");
  EXPECT_EQ(cost_of("0..size(T)").find("batch"), std::string::npos) << cost_of("0..size(T)");
  EXPECT_NE(cost_of("0..3").find("60 batch(X)"), std::string::npos) << cost_of("0..3");
  EXPECT_NE(cost_of("1..4").find("60 batch(X)"), std::string::npos) << cost_of("1..4");
}

// An index outside is an error of the run, as of a dense array.
TEST(Batches, ThatAreNone) {
  const Module program = compile(
      "dim T local = 3, N, F\ninput X : sparse f64[T, N, F], v : f64[F]\nparam t = 3\n"
      "output s = at(X, t) @ v");
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 6, 12, 1), program);
  for (const Strategy strategy : plan_strategies) {
    const Module made = plan(program, strategy, SyncMode::hybrid);
    try {
      (void)testing::run_simulated(made, parts);
      ADD_FAILURE() << "it ran";
    } catch (const UserError& error) {
      const Diagnostic& fault = error.diagnostics().front();
      EXPECT_NE(fault.what.find("an index does not lie inside"), std::string::npos) << fault.what;
      EXPECT_NE(fault.why.find("index 3 of 'T', which has 3"), std::string::npos) << fault.why;
    }
  }
}

}  // namespace
}  // namespace kasen
