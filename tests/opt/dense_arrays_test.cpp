// Dense arrays over several dimensions that are not local: cut along the first of them, whole along the others. Every
// plan computes what its program says, with interpreted and generated kernels, and costs what is predicted.
#include <gtest/gtest.h>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram programs[] = {
    {"broadcasts", R"(
dim N, M
input A : dense f64[N, M], u : f64[N], v : f64[M]
param s = 0.5
B = A * v + s * u
C = B - A + v * v
output B, C, shifted = C * v
)"},
    {"reductions", R"(
dim N, M
input A : dense f64[N, M], v : f64[M]
rows = sum(A * v, over M)
columns = sum(A, over N)
output rows, columns, total = sum(A), largest = max(A, over N), smallest = min(A, over M), again = sum(columns * v)
)"},
    {"products", R"(
dim N, M
input A : dense f64[N, M], u : f64[N], v : f64[M]
x = A @ v
y = A' @ u
z = A' @ (A @ (v + y))
n = mxv((a, b) -> a + b, min, A, u)
m = mxvt((a, b) -> a * b, max, A, v)
output x, y, z, n, m
)"},
    {"computed_matrices", R"(
dim N, M
input A : dense f64[N, M], u : f64[N], v : f64[M]
B = A / 4 + outer(u, v)
output x = B @ v, y = B' @ u, z = (A - 1.0) @ v
)"},
    {"outer_products", R"(
dim N, M
input u : f64[N], v : f64[M]
P = u @ v'
D = outer((a, b) -> abs(a - b), u, v)
near = reduce(min, D, over M)
output P, D, near, t = sum(P, over N), first = max(outer(u, v))
)"},
    {"loops", R"(
dim N, M
input A : dense f64[N, M], b : f64[N]
w : f64[M] = 1
i = 0
while i < 5 likely expect 5 {
  r = A @ w - b
  w = w - 0.001 * (A' @ r)
  i = i + 1
}
output w, r = A @ w
)"},
    {"of_higher_rank", R"(
dim N, M, K local = 3, L
input A : dense f64[N, K, M], c : f64[K], v : f64[M], B : dense f64[N, M, L], w : f64[L]
E = A * c + v
F = B * w
p = sum(F, over N)
output E, F, p, x = sum(E, over M), y = sum(E, over N), z = sum(E, over K), q = sum(F, over N, L)
output r = sum(p * w, over M), s = sum(p * w, over L)
)"},
    {"local_before_cut", R"(
dim K local = 2, N, M
input A : dense f64[K, N, M], v : f64[M], u : f64[N]
E = A * v - u
output E, a = sum(E, over N), b = sum(E, over M), c = sum(E, over K)
)"},
    {"square", R"(
dim N
input A : dense f64[N, N], x : f64[N]
y = A @ x
z = A' @ x
B = A * x
output y, z, B, d = B @ y
)"},
    {"with_sparse_matrices", R"(
dim N, M
input G : null[N, N], H : f64[N, M], A : dense f64[N, M], u : f64[N]
p = G @ u
q = H' @ p
B = A * q + p
r = G' @ (B @ q)
output p, q, r, s = H @ (A' @ r)
)"},
    {"elements", R"(
dim N, M
input P : [f64; 2][N], Q : [f64; 2][M]
D = outer((p, q) -> sum(j in 2: (p[j] - q[j]) ^ 2), P, Q)
best = reduce((a, b) -> if a.0 < b.0 || (a.0 == b.0 && a.1 < b.1) then a else b, map((d, j) -> (d, i64(j)), D, index(M)), over M)
output D, best, far = max(D, over N), k = sum(map((d, i, j) -> if i64(i) < i64(j) then 1 else 0, D, index(N), index(M)), over N)
)"},
    {"filled", R"(
dim N, M
input u : f64[N], v : f64[M]
A : f64[N, M] = 2
B = A * u
output A, B, c = sum(B, over N), d = fill(1.0, N, M) @ v
)"},
    {"products_of_shareds", R"(
dim N, K local = 3, F local = 2
input A : dense f64[N, F], C : dense f64[K, F], w : f64[K]
v = C' @ w
u = C @ v
x = A @ v
y = mxv((a, b) -> a * b, max, C + outer(u, v), w)
output u, v, x, y, z = A' @ x
)"},
    {"laws_over_whole_results", R"(
dim N, M
input A : dense f64[N, M], u : f64[N], v : f64[M]
y = A' @ u
z = 0.15 + 0.85 * y
q = z * v
output q, m = max(sum(A, over N) * 2.0)
)"},
};

class DenseArrays : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(DenseArrays, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

INSTANTIATE_TEST_SUITE_P(Programs, DenseArrays, ::testing::ValuesIn(programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

// What is made whole is sent to each master from all other workers, and back to all of them.
TEST(DenseNetwork, IsEveryIndexOnEveryOtherWorker) {
  const Module program =
      compile("dim N, M\ninput A : dense f64[N, M], v : f64[M]\nx = A @ v\ny = A' @ x\noutput y, z = A @ y");
  const Module module = plan(program, Strategy::greedy, SyncMode::hybrid);
  const CostReport report = measure(module);
  EXPECT_EQ(printed_form(report.actual.network).text(SymbolNames(module)), "-24 M + 24 M P");
  EXPECT_EQ(paper_form(report.model.network).text(SymbolNames(module)), "-24 M + 24 M P");
}

}  // namespace
}  // namespace kasen
