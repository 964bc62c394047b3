// Dense arrays over several dimensions that are not local: cut along the first of them, whole along the others. Every
// plan computes what its program says, with interpreted and generated kernels, and costs what is predicted.
#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/ir/products.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram dense_programs[] = {
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
    {"products_of_matrices", R"(
dim N, M, K
input A : dense f64[N, M], B : dense f64[M, K], Y : dense f64[N, K], u : f64[N]
C = A @ B
D = A' @ Y
E = C * u + Y
F = A' @ (A @ B)
G = mxvt((a, b) -> a + b, min, A, B)
H = mxv((a, b) -> a * b, max, A, Y)
output C, D, E, F, G, H, s = sum(A' @ A), t = sum(C, over N)
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
    // Of few values, so that many are equal, and with many NaN in Z; the sums of f32 are exact.
    {"aggregates", R"(
dim N, M, F local = 3, K
input A : dense f64[N, M], B : f32[N, F], C : i64[F], v : f64[N], k : i64[N], T : dense f64[N, F, K]
Z = if A * v < 20 then 0.0 / 0.0 * A else A
output a = mean(A), b = mean(A, over M), c = mean(A * v, over N), d = mean(floor(B), over F), e = mean(k), f = mean(T, over N, K)
output g = sumsq(A - 2), h = sumsq(floor(B), over N), i = sumsq(A + v, over M), j = sumsq(k), l = sumsq(C), m = mean(C)
output n = argmax(A, over M), o = argmin(A, over N), p = argmax(v), q = argmin(k), r = argmax(B, over F), s = argmin(C)
output t = argmax(Z, over M), u = argmin(Z, over N), w = argmin(floor(B), over N), x = argmax(T, over K), y = argmin(T, over F)
W = floor(A)
output z = argmax(W @ (W' @ floor(v)))
)"},
    // As integers, too: those are the same to the last bit.
    {"random_arrays", R"(
dim N, M, F local = 3
input v : f64[N], k : i64[N]
R = random(7, N, M)
S = random(sum(k), N, F)
u = random(-1, N)
output R, u, a = R @ fill(1.0, M), b = sum(S * v, over N), c = argmax(R, over M), d = random(3, F)
output e = map(x -> i64(x * 9007199254740992.0), R), f = map(x -> i64(x * 9007199254740992.0), S)
output g = normal(7, N, M), h = mean(normal(8, N)), i = mix64(k, k + 1)
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

// Products of one dense matrix that need nothing of one another are one pass over it.
const NamedProgram passes[] = {
    {"both_directions", R"(
dim N, M
input X : dense f64[N, M], v : f64[M], u : f64[N]
output y = X @ v, z = X' @ u
)"},
    {"local_columns", R"(
dim N, F local = 4
input X : f64[N, F], v : f64[F], u : f64[N]
output y = X @ v, z = X' @ u
)"},
    {"one_direction", R"(
dim N, F local = 4
input X : f64[N, F], v : f64[F], w : f64[F], t : f64[N]
output a = X @ v, b = X @ w, c = X @ (v * w)
output d = X' @ t, e = X' @ (t * t)
)"},
    // Of small integers, so that sums are exact in whatever order.
    {"single_precision", R"(
dim N, M
input X : dense f32[N, M], v : f32[M], u : f32[N]
W = floor(X * 3 + 0.5)
output y = W @ floor(v * 3 + 0.5), z = W' @ floor(u * 3 + 0.5)
)"},
    {"square_and_one_vector", R"(
dim N
input A : dense f64[N, N], x : f64[N]
y = A @ x
z = A' @ x
output d = sum(y * z), y, z
)"},
    {"a_computed_matrix", R"(
dim N, M
input A : dense f64[N, M], u : f64[N], v : f64[M]
B = A / 4 + outer(u, v)
output y = B @ v, z = B' @ u
)"},
    // Biconjugate gradients: the residual's image and its shadow's from one pass a turn.
    {"bicg", R"(
dim N
input A : dense f64[N, N], b : f64[N]
x : f64[N] = 0
r = 4 * b
s = r
p = r
q = s
rho = sum(r * s)
i = 0
while i < 4 likely expect 4 {
  Ap = A @ p / 100 + p
  Aq = A' @ q / 100 + q
  alpha = rho / sum(q * Ap)
  x = x + alpha * p
  r = r - alpha * Ap
  s = s - alpha * Aq
  next = sum(r * s)
  beta = next / rho
  p = r + beta * p
  q = s + beta * q
  rho = next
  i = i + 1
}
output x
)"},
};

int dense_passes(const Module& module) {
  int count = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    count += op.code == OpCode::region && op.kind == RegionKind::mxm ? 1 : 0;
  });
  return count;
}

// Regions of several products, of whichever kind: with work on the rows they are a row_chain.
int shared_passes(const Module& module) {
  int count = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::region) return;
    const std::vector<Op>& members = op.blocks[0].ops;
    count += std::count_if(members.begin(), members.end(), [](const Op& member) { return is_product(member); }) > 1;
  });
  return count;
}

class DensePasses : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(DensePasses, RunLikeTheirProgramAndCostWhatIsPredicted) {
  const Module program = compile(GetParam().text);
  EXPECT_EQ(shared_passes(plan(program, Strategy::greedy, SyncMode::hybrid)), 1);
  run_everywhere(program, 9, 30);
}

INSTANTIATE_TEST_SUITE_P(Programs, DensePasses, ::testing::ValuesIn(passes),
                         [](const auto& case_) { return std::string(case_.param.name); });

// As somebody may edit it: results handed on twice, one of them made whole, and no buffers.
TEST(DensePass, HandsOnAResultTwice) {
  const Module module = parse_module(R"(kir 1 level 3
module t {
  dim N
  dim M
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  %A = input "A" : f64[N,M] @part
  %v = input "v" : f64[M] @part
  %u = input "u" : f64[N] @part
  %w = scatter %v : f64[M] @cons{all}
  %y, %z, %y2, %z2 = region mxm (%w, %A, %u) : f64[N] @part, f64[M] @pre(add){all}, f64[N] @part, f64[M] @pre(add){all} {
    %a = mxvt[mul, add] %w, %A : f64[N] @part
    %b = mxv[mul, add] %u, %A : f64[M] @pre(add){all}
    yield %a, %b, %a, %b
  }
  %g = gather %z : f64[M] @part
  %g2 = gather %z2 : f64[M] @part
  output "y" %y
  output "z" %g
  output "y2" %y2
  output "z2" %g2
}
##end
)",
                                     "test.kir");
  const Module program = compile(
      "dim N, M\ninput A : dense f64[N, M], v : f64[M], u : f64[N]\noutput y = A @ v, z = A' @ u, y2 = A @ v, z2 = A' "
      "@ u");
  run_edited(module, program);
}

// In a loop, up to 16 columns go by generated code and more by the library, whether every worker has the other matrix
// or reads it whole, over one chunk of rows and over several.
TEST(DenseProduct, OfFewColumnsInALoop) {
  for (const int columns : {2, 13, 16, 17}) {
    for (const std::string other : {"dim F", "dim F local = 13"}) {
      SCOPED_TRACE(std::to_string(columns) + " columns, " + other);
      const std::string text = "dim N\n" + other + "\ndim C local = " + std::to_string(columns) +
                               "\ninput X : dense f64[N, F]\ninput B : f64[F, C]\nY = X @ B\nfor turn in 0..2 {\n"
                               "  Z = X @ B\n  Y = abs(X @ (B * f64(turn))) + Z\n}\noutput Y";
      run_everywhere(compile(text), other == "dim F" ? 9 : 300, 0);
    }
  }
}

// Read once, in the paper's column and in the actual one; both are dearer apart.
TEST(DensePass, ReadsTheMatrixOnce) {
  const Module program =
      compile("dim N, F local = 10\ninput X : f64[N, F], v : f64[F], u : f64[N]\noutput y = X @ v, z = X' @ u");
  const Module module = plan(program, Strategy::greedy, SyncMode::hybrid);
  EXPECT_EQ(shape(module.body), "mxm(mxvt mxv) gather scatter");
  const CostReport fused = measure(module), apart = measure(plan(program, Strategy::none, SyncMode::hybrid));
  const SymbolNames names(module);
  EXPECT_EQ(fused.actual.read.text(names), "88 N + 80 P");    // X 80 N, u 8 N; v on each worker
  EXPECT_EQ(apart.actual.read.text(names), "168 N + 80 P");   // X once more
  EXPECT_EQ(fused.actual.written.text(names), "8 N + 80 P");  // y; z, which every worker has
  EXPECT_EQ(apart.actual.written.text(names), "8 N + 80 P");
  EXPECT_EQ(fused.model.read.text(names), "400 N");  // for each of 10 N elements 8, and 8 + 8 of each product
  EXPECT_EQ(apart.model.read.text(names), "480 N");
}

// One that needs another's result, another semiring, another matrix, a matrix that every worker holds: each alone.
TEST(DensePass, IsNotMadeOfWhatMayNotShareIt) {
  const auto formed = [](const std::string& text) {
    return dense_passes(
        plan(compile("dim N, M, F local = 4, K local = 3\n" + text), Strategy::greedy, SyncMode::hybrid));
  };
  EXPECT_EQ(formed("input X : f64[N, F], v : f64[F]\noutput z = X' @ (X @ v)"), 0);
  EXPECT_EQ(
      formed("input X : f64[N, F], v : f64[F], u : f64[N]\noutput y = X @ v, z = mxv((a, b) -> a + b, min, X, u)"), 0);
  EXPECT_EQ(formed("input X : i64[N, F], v : i64[F], u : i64[N]\noutput y = X @ v, z = X' @ u"), 0);
  EXPECT_EQ(formed("input X : f64[N, F], Y : f64[N, F], v : f64[F], u : f64[N]\noutput y = X @ v, z = Y' @ u"), 0);
  EXPECT_EQ(formed("input X : f64[K, F], v : f64[F], u : f64[K]\noutput y = X @ v, z = X' @ u"), 0);
  // A third that needs the first's result makes a row_chain of all.
  EXPECT_EQ(formed("input X : f64[N, F], v : f64[F], u : f64[N]\ny = X @ v\noutput a = X' @ u, b = X' @ y"), 0);
  // Over another semiring it is apart; the two others are one.
  EXPECT_EQ(formed("input X : f64[N, F], v : f64[F], u : f64[N]\ny = X @ v\noutput a = X' @ u, b = mxv((a, b) -> a + "
                   "b, min, X, y)"),
            1);
}

class DenseArrays : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(DenseArrays, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

INSTANTIATE_TEST_SUITE_P(Programs, DenseArrays, ::testing::ValuesIn(dense_programs),
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
