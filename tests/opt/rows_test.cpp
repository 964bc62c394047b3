// Regions of rows: where they are formed and where not, by greedy and by selection, what they cost, and that every plan
// with them computes what its program says, on generated and interpreted kernels, over workers of which some may hold
// no rows.
#include <gtest/gtest.h>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

Module rows_plan(const std::string& text, Strategy strategy = Strategy::greedy) {
  return plan(
      compile("dim N, M, F local, K local = 3\ninput X : f64[N, F], D : f64[N, F], v : f64[F], y : f64[N]\n" + text),
      strategy, SyncMode::hybrid);
}

std::string formed(const std::string& text, Strategy strategy = Strategy::greedy) {
  return shape(rows_plan(text, strategy).body);
}

const char* const softmax = "e = exp(X - max(X, over F))\noutput r = e / sum(e, over F)";

TEST(Rows, AreFormed) {
  EXPECT_EQ(formed(softmax), "rows(reduce map reduce map)");
  EXPECT_EQ(formed("output r = X * (D - sum(X * D, over F))"), "rows(map reduce map)");
  EXPECT_EQ(formed("output c = sum(X / sum(X, over F), over N)"), "rows(reduce map reduce) gather scatter");
  EXPECT_EQ(formed("d = X * X\noutput r = sum(d, over F), c = sum(d, over N), t = sum(d)"),
            "rows(map reduce reduce reduce) gather gather scatter scatter");
  // With a matrix that is made inside, and one that nothing in memory holds.
  EXPECT_EQ(formed("P = X / sum(X, over F)\noutput g = P' @ (P @ v)"), "rows(reduce map mxvt mxv) gather scatter");
  // Beside products with the matrix that other work reads.
  EXPECT_EQ(formed("output g = X' @ y, s = sum(X, over F)"), "rows(mxv reduce) gather scatter");
}

std::string of_sparse(const std::string& text, Strategy strategy = Strategy::greedy) {
  return shape(
      plan(compile("dim N, M, F local, K local = 3\ninput X : sparse f64[N, F], Z : sparse f64[N, F], G : f64[N, M]\n"
                   "input v : f64[F], w : f64[M], V : f64[F, K], y : f64[N]\n" +
                   text),
           strategy, SyncMode::hybrid)
          .body);
}

// A sparse matrix whose rows are whole on a worker: there and back, and beside each other.
TEST(Rows, GoOverSparseRows) {
  for (const Strategy strategy : {Strategy::greedy, Strategy::fuse_all, Strategy::cost}) {
    EXPECT_EQ(of_sparse("output g = X' @ (X @ v)", strategy), "rows(mxvt mxv) gather scatter");
    EXPECT_EQ(of_sparse("output g = X' @ (y * (X @ V))", strategy), "rows(mxvt map mxv) gather scatter");
  }
  EXPECT_EQ(of_sparse("output a = sum(X, over F), b = sum(X, over N)"), "rows(fold_rows fold_cols) gather scatter");
  EXPECT_EQ(of_sparse("output p = X @ v, P = X @ V"), "rows(mxvt mxvt)");
  // Folds that go one way alone are one pass already, and two matrices have other nonzeros.
  EXPECT_EQ(of_sparse("output a = sum(X, over F), q = sum(abs(X) * v, over F)"), "mxm(fold_rows fold_rows)");
  EXPECT_EQ(of_sparse("output g = Z' @ (X @ v)"), "mxvt mxv gather scatter");
  // A matrix that is cut along both of its dimensions has its rows on several workers.
  EXPECT_EQ(of_sparse("output g = G' @ (G @ w)").find("rows"), std::string::npos);
}

// Selection finds the same operators in the memo table, and nothing is taken apart.
TEST(Rows, AreSelected) {
  for (const Strategy strategy : {Strategy::fuse_all, Strategy::cost}) {
    EXPECT_EQ(formed(softmax, strategy), "rows(reduce map reduce map)");
    EXPECT_EQ(formed("output c = sum(X / sum(X, over F), over N)", strategy), "rows(reduce map reduce) gather scatter");
  }
}

TEST(Rows, AreNotFormedWhereLoopsOfTheirOwnAreAsGood) {
  EXPECT_EQ(formed("t = sum(y * y)\noutput z = y / t"), "iter_on_vec(map reduce) gather scatter map");
  EXPECT_EQ(formed("output r = sum(X, over F)"), "reduce");
  EXPECT_EQ(formed("output g = X' @ (X @ v)"), "row_chain(mxvt mxv) gather scatter");
  // A total stands between.
  EXPECT_EQ(formed("m = sum(X, over N)\noutput d = X - m"), "reduce gather scatter map");
  // The other operand of a product may be large.
  EXPECT_EQ(formed("dim C local\ninput B : f64[F, C]\noutput q = (X - y) @ B"), "map mxvt");
}

TEST(Rows, ASecondTimeNothingChanges) {
  TrialLawChecker laws;
  const Module module = rows_plan(softmax);
  const std::string before = print_module(module);
  EXPECT_EQ(print_module(run_passes(module, laws, {}, {"fuse-selected"})), before);
  EXPECT_EQ(print_module(parse_module(before, "t.kir")), before);
}

// The matrix is read once, and the result written once.
TEST(Rows, ReadTheMatrixOnce) {
  const Module program = compile("dim N, F local = 10\ninput X : f64[N, F]\n" + std::string(softmax));
  const CostReport fused = measure(plan(program, Strategy::greedy, SyncMode::hybrid));
  const CostReport apart = measure(plan(program, Strategy::none, SyncMode::hybrid));
  const SymbolNames names(program);
  EXPECT_EQ(fused.actual.read.text(names), "80 N");
  EXPECT_EQ(fused.actual.written.text(names), "80 N");
  EXPECT_EQ(apart.actual.read.text(names), "336 N");  // X twice, the exponentials twice; two vectors
  EXPECT_EQ(apart.actual.written.text(names), "176 N");
  EXPECT_EQ(fused.model.read.text(names), "80 N");
}

// Nothing reads a block of the matrix when its result is written, so one buffer holds both. What must not be read later
// is a row's result, too.
TEST(Rows, WorkInPlace) {
  const auto matrices = [](const std::string& step) {
    const Module made = plan(compile("dim N, F local = 4\ninput X : f64[N, F]\nA = X + 1\nfor turn in 0..3 {\n" + step +
                                     "\n}\noutput A, s = sum(A)"),
                             Strategy::greedy, SyncMode::hybrid);
    return std::count_if(made.buffers.begin(), made.buffers.end(), [](const auto& b) { return b.dims.size() == 2; });
  };
  EXPECT_EQ(matrices("A = A / sum(A, over F)"), 1);
  EXPECT_EQ(matrices("B = A / sum(A, over F)\nA = B + sum(B * A, over F)"), 1);
}

// Results of products and totals are on every worker.
TEST(Rows, CountTotalsWhereTheyAre) {
  const Module program = compile(
      "dim N, F local = 10\ninput X : f64[N, F], v : f64[F], y : f64[N]\nP = X / sum(X, over F)\n"
      "output g = P' @ (P @ v - y), c = sum(P, over N)");
  const CostReport fused = measure(plan(program, Strategy::greedy, SyncMode::hybrid));
  const SymbolNames names(program);
  EXPECT_EQ(fused.actual.read.text(names), "88 N + 80 P");  // X, y; v
  EXPECT_EQ(fused.actual.written.text(names), "160 P");
}

const NamedProgram row_programs[] = {
    {"softmax",
     "dim N, F local = 4\ninput X : f64[N, F]\ne = exp(X - max(X, over F))\nr = e / sum(e, over F)\noutput r\n"},
    {"standardised", R"(
dim N, F local = 5
input X : f64[N, F]
d = X - mean(X, over N)
s = sqrt(mean(d * d, over N))
output z = d / (1 + s), s
)"},
    {"normalised_in_a_loop", R"(
dim N, F local = 3
input X : f64[N, F]
A = abs(X) + 1
for turn in 0..3 {
  A = A / sum(A, over F)
  A = A / (1 + sum(A, over N))
}
output A
)"},
    {"three_dimensions", R"(
dim N, F local = 3, G local = 2
input Z : f64[N, F, G], y : f64[N]
E = Z - mean(Z, over G)
S = sum(E * E, over F)
output W = E / (1 + sum(S, over G)) + y, S, t = sum(E * y, over N), m = max(E)
)"},
    {"batches", R"(
dim N, T local = 3, F local = 4
input Z : f64[T, N, F], y : f64[N]
s : f64[N] = 0
for i in 0..3 {
  B = at(Z, i, over T)
  E = B * y / (1 + sum(abs(B), over F))
  s = s + sum(E * E, over F)
}
output s, c = sum(Z * y, over N), r = Z / (1 + sum(abs(Z), over F))
)"},
    {"whole_vectors", R"(
dim N, M
input X : dense f64[N, M], v : f64[M], y : f64[N]
A = X * v
s = sum(A * A, over M)
B = A / (1 + s) + y
output B, s, t = sum(B * B)
)"},
    {"square", R"(
dim N
input A : dense f64[N, N], x : f64[N]
B = A * x
output C = B / (1 + sum(B * B))
)"},
    {"pairs", R"(
dim N, F local = 3
input X : f64[N, F], y : f64[N]
p = map((a, b) -> (a, a * b), X, y)
m = reduce((a, b) -> (a.0 + b.0, a.1 + b.1), p, over F)
output q = map((p, m) -> p.0 + m.1, p, m), c = reduce((a, b) -> (a.0 + b.0, a.1 + b.1), p, over N), m
)"},
    {"tuples_of_two_sizes", R"(
dim N, F local = 3
input X : f64[N, F], y : f64[N]
p = map((a, b) -> (a, i32(b)), X, y)
s = sum(X * X, over F)
output q = map((p, s) -> p.0 * f64(p.1) + s, p, s)
)"},
    {"ids", R"(
dim N, F local = 4
input X : f64[N, F]
s = X - max(X, over F)
output best = argmax(s, over F), t = sum(s, over N)
)"},
    {"slices", R"(
dim N, F local = 6, K local = 2
input X : f64[N, F]
param at = 3
A = X / (1 + sum(X * X, over F))
R = range(A, K, at) * range(X, K, 1)
output R, c = sum(R + at(A, 2), over N)
)"},
    {"made_matrices", R"(
dim N, F local = 4, K local = 3
input X : f64[N, F], V : f64[F, K], v : f64[F]
P = abs(X) / (1 + sum(abs(X), over F))
Q = P @ V
output H = P' @ (Q - P @ v), Q, g = P' @ (P @ v), l = sum(Q * Q)
)"},
    {"single_precision", R"(
dim N, F local = 5
input X : f32[N, F]
A = floor(X * 3)
s = sum(A, over F)
output B = A - s, c = sum(A * s, over N)
)"},
    {"sparse_there_and_back", R"(
dim N, F local = 4, K local = 3
input X : sparse f64[N, F], v : f64[F], V : f64[F, K], y : f64[N]
p = X @ v
Q = y * (X @ V)
output g = X' @ (y * p), H = X' @ (Q - y * sum(Q, over K)), p, l = sumsq(p - y), most = max(Q)
)"},
    {"sparse_sums", R"(
dim N, F local = 5
input X : sparse f64[N, F], v : f64[F], y : f64[N]
s = sum(abs(X) * v, over F)
output s, c = sum(X * y, over N), t = sum(X * X), m = max(X, over N), d = sum(X * v / (1 + s), over N)
)"},
    {"sparse_in_a_loop", R"(
dim N, F local = 4
input X : sparse f64[N, F], v : f64[F], y : f64[N]
w = v
for turn in 0..3 {
  w = X' @ (y * (X @ w)) / 10
}
output w
)"},
    {"sparse_beside_dense", R"(
dim N, F local = 4, K local = 3
input X : sparse f64[N, F], D : f64[N, K], v : f64[F]
E = D / (1 + sum(abs(D), over K))
r = (X @ v) * sum(E, over K)
output g = X' @ r, H = X' @ E, E, c = sum(E * r, over N)
)"},
    {"sparse_of_single_precision", R"(
dim N, F local = 6
input X : sparse f32[N, F], v : f32[F]
output g = X' @ floor(X @ v), m = mxv((a, x) -> max(a, x), max, X, X @ v)
)"},
    {"integers", R"(
dim N, F local = 5
input X : f64[N, F]
A = i64(X * 7)
output m = max(A, over F) - min(A, over F), B = A % (1 + abs(max(A, over F))), c = sum(A, over N)
)"},
    {"beside_a_graph", R"(
dim N, M, K local = 3
input U : f64[N, K], Q : f64[M, K], S : f64[N, M]
top = max(U, over K)
output g = S' @ top, s = sum(U, over K), e = sum(S * (U @ Q'), over N)
)"},
};

class RowRuns : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(RowRuns, LikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

// Fewer rows than workers: parts without any.
TEST_P(RowRuns, OverEmptyParts) { run_everywhere(compile(GetParam().text), 2, 3); }

INSTANTIATE_TEST_SUITE_P(Programs, RowRuns, ::testing::ValuesIn(row_programs),
                         [](const auto& named) { return std::string(named.param.name); });

}  // namespace
}  // namespace kasen
