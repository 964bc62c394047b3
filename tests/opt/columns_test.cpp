// Products of several columns at once: a matrix times a dense array over its dimension and local ones behind it. Every
// plan computes what its program says, with interpreted and generated kernels, and costs what is predicted.
#include <gtest/gtest.h>

#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram column_programs[] = {
    {"dense_both_ways", R"(
dim N, F local = 7, K local = 3
input X : f64[N, F], B : f64[F, K], Y : f64[N, K]
P = X @ B
H = X' @ Y
output P, H, G = X' @ (P - Y)
)"},
    {"cut_both_ways", R"(
dim N, M, K local = 9
input A : dense f64[N, M], B : dense f64[M, K]
P = A @ B
H = A' @ P
output P, H, s = sum(H * B, over K)
)"},
    {"gram_matrix", R"(
dim N, F local = 4
input X : f64[N, F]
output G = X' @ X, trace = sum(X * X)
)"},
    {"sparse_both_ways", R"(
dim N, M, K local = 5
input G : f64[N, M], B : dense f64[M, K], Y : dense f64[N, K]
P = G @ B
H = G' @ (P + Y)
output P, H, rows = sum(P, over K), columns = sum(H, over M)
)"},
    {"pattern", R"(
dim N, K local = 8
input G : null[N, N], B : dense f64[N, K]
P = G' @ B
output P, H = G @ (P / 2)
)"},
    {"square_and_many", R"(
dim N, K local = 17
input G : f64[N, N], B : dense f64[N, K]
X : f64[N, K] = 1
i = 0
while i < 4 likely expect 4 {
  X = 0.25 * (G @ X) + B
  i = i + 1
}
output X, t = sum(X)
)"},
    {"other_semirings", R"(
dim N, M, K local = 3
input G : f64[N, M], A : dense f64[N, M], B : dense f64[M, K], Y : dense f64[N, K]
output a = mxvt((x, g) -> x + g, min, G, B), b = mxv((x, g) -> x * g, max, G, Y)
output c = mxvt((x, g) -> x + g, min, A, B), d = mxv((x, g) -> x * g, max, A, Y)
)"},
    {"integers_and_booleans", R"(
dim N, M, K local = 10
input G : null[N, M], B : dense i64[M, K]
reached = G @ (B > 0)
output reached, nearest = mxvt((x, g: i64) -> x + g, min, G, B)
)"},
    {"single_precision", R"(
dim N, M, K local = 3
input G : f32[N, M], B : dense f32[M, K]
W = floor(B * 3 + 0.5)
output P = mxvt((x, g) -> x * floor(g * 3 + 0.5), +, G, W)
)"},
    {"elements", R"(
dim N, M, K local = 3
input G : f64[N, M], B : dense [f64; 2][M, K]
fn scaled(p, g) = (g * p[0], g * p[1])
fn both(a, b) = (a.0 + b.0, a.1 + b.1)
output P = mxvt(scaled, both, G, B)
)"},
    {"without_identity", R"(
dim N, M, K local = 2
input G : f64[N, M], B : dense f64[M, K]
fn odd(a, b) = a + b + 3
output P = mxvt((x, g) -> x * g, odd, G, B)
)"},
    {"two_dimensions_of_columns", R"(
dim N, M, K local = 2, L local = 3
input G : f64[N, M], A : dense f64[N, M], B : dense f64[M, K, L]
output P = G @ B, Q = A @ B, R = A' @ (G @ B)
)"},
    {"shareds", R"(
dim F local = 4, H local = 3, K local = 2
input W : dense f64[F, H], V : dense f64[H, K], U : dense f64[F, K]
output a = W @ V, b = W' @ U
)"},
    {"computed_matrix", R"(
dim N, F local = 3, K local = 4
input X : f64[N, F], u : f64[N], B : f64[F, K]
Z = tanh(X * u)
output P = Z @ B, H = Z' @ (Z @ B)
)"},
};

class Columns : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(Columns, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

INSTANTIATE_TEST_SUITE_P(Programs, Columns, ::testing::ValuesIn(column_programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Products with one dense matrix and the work on its rows between them: one pass.
const NamedProgram column_chains[] = {
    // The paper's second expression but for its range of columns: the Hessian of multinomial regression.
    {"hessian", R"(
dim N, F local = 6, K local = 3
input X : f64[N, F], P : f64[N, K], V : f64[F, K]
Q = P * (X @ V)
output H = X' @ (Q - P * sum(Q, over K))
)"},
    {"softmax", R"(
dim N, F local = 5, K local = 4
input X : f64[N, F], Y : f64[N, K], B : f64[F, K], b : f64[K]
S = X @ B + b
E = exp(S - max(S, over K))
P = E / sum(E, over K)
R = P - Y
output G = X' @ R, g = sum(R, over N), loss = sum(R * R), P
)"},
    {"many_columns", R"(
dim N, F local = 3, K local = 19
input X : f64[N, F], B : f64[F, K]
Q = tanh(X @ B)
output H = X' @ Q, t = max(Q), rows = min(Q, over K)
)"},
    {"vector_and_columns", R"(
dim N, F local = 4, K local = 2
input X : f64[N, F], B : f64[F, K], v : f64[F], u : f64[N]
s = X @ v
Q = (X @ B) * s + u
output H = X' @ Q, h = X' @ (s * u), a = sum(s), q = sum(Q, over K)
)"},
    {"beside_its_gram_matrix", R"(
dim N, F local = 4, K local = 2
input X : f64[N, F], B : f64[F, K]
Q = X @ B
output G = X' @ X, H = X' @ Q, q = sum(Q)
)"},
    // A row of the matrix itself, weighted: X' W X of Newton's method, with what goes along.
    {"weighted", R"(
dim N, F local = 6
input X : f64[N, F], y : f64[N], v : f64[F]
w = 1 / (1 + abs(y))
output H = X' @ (w * X), e = X' @ w, total = sum(w)
)"},
    {"weighted_by_its_product", R"(
dim N, F local = 13
input X : f64[N, F], y : f64[N], v : f64[F]
m = X @ v
w = exp(-abs(m - y))
output H = X' @ ((X - v) * w), g = X' @ (m - y), m, loss = sum((m - y) ^ 2)
)"},
    {"some_of_the_weighted", R"(
dim N, F local = 7, K local = 7
input X : f64[N, F], y : f64[N]
w = y * y
output H = X' @ (abs(X) * w), n = sum(w)
)"},
    {"one_column", R"(
dim N, F local = 4, K local = 1
input X : f64[N, F], B : f64[F, K]
Q = abs(X @ B)
output H = X' @ Q, rows = sum(Q, over K)
)"},
    // Nothing is brought from the matrix to the rows: the gradient of what is there.
    {"gradient", R"(
dim N, F local = 5, K local = 3
input X : f64[N, F], E : f64[N, K], Z : f64[N], Y : f64[N, K]
P = E / (Z + 10)
R = P - Y
output G = X' @ R, g = sum(R, over N), P
)"},
    // Nothing goes back over the matrix: scores, and what is made of them.
    {"scores", R"(
dim N, F local = 5, K local = 3
input X : f64[N, F], B : f64[F, K], b : f64[K], y : i64[N]
S = X @ B + b
top = max(S, over K)
E = exp(S - top)
Z = sum(E, over K)
P = E / Z
output P, loss = sum(top + log(Z)) - sum(S * (outer((c, k) -> if c == i64(k) then 1.0 else 0.0, y, index(K))))
)"},
    {"conditions", R"(
dim N, F local = 4, K local = 3
input X : f64[N, F], B : f64[F, K], y : f64[N]
D = X @ B
near = min(D, over K)
A = if D <= near + 1e-9 then 1.0 else 0.0  # ties but for rounding
A = A / sum(A, over K)
output C = X' @ A, n = sum(A, over N), inertia = sum(near * y)
)"},
};

const NamedProgram cut_column_chains[] = {
    {"matrix_cut_both_ways", R"(
dim N, M, K local = 3
input A : dense f64[N, M], B : dense f64[M, K]
P = A @ B
output H = A' @ (P * P), P
)"},
};

class ChainedColumns : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(ChainedColumns, AreOnePassOverTheMatrix) {
  const Module program = compile(GetParam().text);
  int chains = 0, apart = 0;
  for_each_op(plan(program, Strategy::greedy, SyncMode::hybrid), [&](const Op& op, int, int region) {
    chains += is_row_chain(op) ? 1 : 0;
    apart += is_product(op) && region < 0 ? 1 : 0;
  });
  EXPECT_EQ(chains, 1);
  EXPECT_EQ(apart, 0);
  run_everywhere(program, 9, 30);
}

INSTANTIATE_TEST_SUITE_P(Cut, ChainedColumns, ::testing::ValuesIn(cut_column_chains),
                         [](const auto& case_) { return std::string(case_.param.name); });

class LongChains : public ::testing::TestWithParam<NamedProgram> {};

// Several blocks, each of several chunks, the last ones shorter.
TEST_P(LongChains, GoThroughBlocksAndChunks) {
  const Module program = compile(GetParam().text);
  const Module chain = plan(program, Strategy::greedy, SyncMode::hybrid);
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 20011, 30, 5));
  run_plan(chain, parts, interpret(program, whole_inputs(parts)), true);
  std::vector<RunResult> runs;
  for (const int threads : {1, 3}) {
    const auto transport = make_simulated_transport(2);
    const auto kernels = testing::make_kernels({.threads = threads});
    runs.push_back(execute(chain, parts, *transport, *kernels, {}));
  }
  for (size_t i = 0; i < runs[0].outputs.size(); ++i) {
    const Output &one = runs[0].outputs[i], &three = runs[1].outputs[i];
    testing::expect_same(one.name, one.type.element, testing::whole_words(chain, one, parts),
                         testing::whole_words(chain, three, parts), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, ChainedColumns, ::testing::ValuesIn(column_chains),
                         [](const auto& case_) { return std::string(case_.param.name); });

INSTANTIATE_TEST_SUITE_P(Programs, LongChains, ::testing::ValuesIn(column_chains),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Column by column it is the product with a vector.
TEST(ColumnProduct, IsTheProductOfEachColumn) {
  const char* head = "dim N, M, K local = 3\ninput G : f64[N, M], A : dense f64[N, M], B : dense f64[M, K]\n";
  const Module at_once = compile(std::string(head) + "output p = sum(G @ B, over K), q = sum(A @ B, over K)");
  const Module summed = compile(std::string(head) + "b = sum(B, over K)\noutput p = G @ b, q = A @ b");
  const std::vector<Part> parts = testing::split(testing::random_data(at_once, 3, 9, 30, 5));
  const auto wanted = interpret(summed, whole_inputs(parts));
  run_plan(plan(at_once, Strategy::greedy, SyncMode::hybrid), parts, wanted, true);
}

// Each entry meets K elements of the operand; a transition moves K elements an index.
TEST(ColumnProduct, CostsItsColumns) {
  const Module program = compile("dim N, M, K local = 5\ninput G : f64[N, M], B : dense f64[M, K]\noutput P = G @ B");
  const Module module = plan(program, Strategy::greedy, SyncMode::hybrid);
  const CostReport report = measure(module);
  const SymbolNames names(module);
  EXPECT_EQ(report.model.written.text(names), "40 nnz");
  EXPECT_EQ(paper_form(report.model.network).text(names), "40 S(M) + 40 S(N)");
}

// A region's products take vectors.
TEST(ColumnProduct, StandsAlone) {
  const char* text =
      "dim N, M, K local = 5\ninput G : f64[N, M], B : dense f64[M, K], v : f64[M]\noutput P = G @ B, Q = G @ (B * B), "
      "x = G @ v";
  for_each_op(plan(compile(text), Strategy::greedy, SyncMode::hybrid),
              [&](const Op& op, int, int) { EXPECT_FALSE(op.code == OpCode::region && op.kind == RegionKind::mxm); });
}

}  // namespace
}  // namespace kasen
