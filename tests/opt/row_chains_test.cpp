// row_chain regions: X'(f(X v)), and work on rows before or behind a product, in one pass over a dense matrix. Where
// they are formed and where not, what they cost,
// and that every plan with them computes what its program says, on generated and interpreted kernels, over workers of
// which some may hold no rows.
#include <gtest/gtest.h>

#include <random>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

Module chain_plan(const std::string& text, SyncMode sync = SyncMode::hybrid) {
  return plan(compile("dim N, M, F local = 4, K local = 3\n" + text), Strategy::greedy, sync);
}

std::string chained(const std::string& text) { return shape(chain_plan(text).body); }

int regions_of(const Module& module, RegionKind kind) {
  int count = 0;
  for_each_op(module, [&](const Op& op, int, int) { count += op.code == OpCode::region && op.kind == kind ? 1 : 0; });
  return count;
}
int row_chains(const Module& module) { return regions_of(module, RegionKind::row_chain); }

const std::string local_columns = "input X : f64[N, F], v : f64[F], y : f64[N]\n";
const std::string all_cut = "input X : dense f64[N, M], v : f64[M], y : f64[N]\n";

TEST(RowChains, AreFormed) {
  EXPECT_EQ(chained(local_columns + "output g = X' @ (X @ v)"), "row_chain(mxvt mxv) gather scatter");
  EXPECT_EQ(chained(all_cut + "output g = X' @ (X @ v)"), "scatter row_chain(mxvt mxv) gather");
  EXPECT_EQ(chained(local_columns + "output g = X' @ (X @ v - y)"), "row_chain(mxvt map mxv) gather scatter");
  // With a total of rows, and rows that are handed on.
  EXPECT_EQ(chained(local_columns + "e = 1 / (1 + exp(-(X @ v))) - y\noutput e, g = X' @ e, l = sum(e * e)"),
            "row_chain(mxvt map mxv map reduce) gather gather scatter scatter");
  // Several of each, one product with a vector from outside.
  EXPECT_EQ(
      chained(local_columns + "p = X @ v\nq = X @ (2 * v)\noutput a = X' @ (p * q), b = X' @ (p + y), c = X' @ y"),
      "map row_chain(mxvt mxvt map mxv map mxv mxv) gather gather gather scatter scatter scatter");
  EXPECT_EQ(chained("input X : f32[N, F], v : f32[F]\noutput g = X' @ (X @ v)"), "row_chain(mxvt mxv) gather scatter");
  // A computed matrix joins.
  EXPECT_EQ(chained(local_columns + "B = X * v\noutput g = B' @ (B @ v)"), "rows(map mxvt mxv) gather scatter");
}

// No product needs another's rows: the work that makes a product's rows, or reads what it makes of them.
TEST(RowChains, TakeUpWorkOnRows) {
  EXPECT_EQ(chained(local_columns + "output g = X' @ (y * exp(-y))"), "row_chain(map mxv) gather scatter");
  EXPECT_EQ(chained(local_columns + "m = max(0, 1 - y)\noutput m, g = X' @ (m * y), c = sum(m * y)"),
            "row_chain(map map mxv reduce) gather gather scatter scatter");
  EXPECT_EQ(chained(local_columns + "output p = 1 / (1 + exp(-(X @ v)))"), "row_chain(mxvt map)");
  EXPECT_EQ(chained(local_columns + "p = X @ v\noutput g = X' @ (p / sum(p))"),
            "row_chain(mxvt reduce) gather scatter row_chain(map mxv) gather scatter");  // a total stands between
  // Of an array with any number of columns one may be read.
  EXPECT_EQ(chained("dim C local\ninput P : f64[N, C]\n" + local_columns + "output g = X' @ (at(P, 0) * (X @ v))"),
            "row_chain(mxvt at map mxv) gather scatter");
  // A product whose rows come from outside has nothing to take up.
  EXPECT_EQ(row_chains(chain_plan(local_columns + "output g = X' @ y")), 0);
  EXPECT_EQ(row_chains(chain_plan(local_columns + "output p = X @ v")), 0);
}

// X' W X: what the work makes of the matrix's own rows goes to its products alone.
TEST(RowChains, ReadRowsOfTheMatrixForItsProducts) {
  EXPECT_EQ(chained(local_columns + "w = exp(y)\noutput H = X' @ (w * X), e = X' @ w"),
            "row_chain(map map mxv mxv) gather gather scatter scatter");
  EXPECT_EQ(chained(local_columns + "m = X @ v\noutput m, H = X' @ (X * m)"), "row_chain(mxvt map mxv) gather scatter");
  // It is stored, or reduced.
  EXPECT_EQ(chained(local_columns + "w = exp(y)\nZ = w * X\noutput Z, H = X' @ Z, e = X' @ w"),
            "rows(map map mxv mxv) gather gather scatter scatter");
  EXPECT_EQ(chained(local_columns + "w = exp(y)\noutput c = sum(w * X, over N), e = X' @ w"),
            "rows(map map reduce mxv) gather gather scatter scatter");
  // So many columns, or their number is not known.
  EXPECT_EQ(row_chains(chain_plan("dim C local = 65\ninput X : f64[N, C], y : f64[N]\noutput H = X' @ (y * X)")), 0);
  EXPECT_EQ(row_chains(chain_plan("dim C local\ninput X : f64[N, C], y : f64[N]\noutput H = X' @ (y * X)")), 0);
}

// The work that makes the rows makes the matrix as well: the region is one of rows (rows_test.cpp).
TEST(RowChains, DoNotMakeTheirMatrix) {
  EXPECT_EQ(chained("input X : f64[N, F]\nC = X - 1\noutput c = C' @ C"), "rows(map mxv) gather scatter");
  EXPECT_EQ(chained("input X : f64[N, F], y : f64[N]\nH = X * y\nJ = X + y\noutput c = H' @ J"),
            "rows(map map mxv) gather scatter");
  EXPECT_EQ(
      chained("input X : f64[N, F], v : f64[F], y : f64[N]\nD = X * y\nt = exp(y)\noutput D, p = D' @ (t * (D @ v))"),
      "rows(map map mxvt map mxv) gather scatter");
}

// The product's maker gives a total, too, for which the product's matrix waits: the maker stays outside, what follows
// the product's rows does not.
TEST(RowChains, BeginWithTheProductWhereItWaitsForItsMaker) {
  EXPECT_EQ(chained("input X : f64[N, F], v : f64[F], y : f64[N]\ne = exp(y)\nB = X / sum(e)\n"
                    "output p = 2 * (B @ v), g = B' @ e"),
            "iter_on_vec(map reduce) gather scatter rows(map mxvt map mxv) gather scatter");
}

TEST(RowChains, OneForEachWayThroughTheMatrix) {
  EXPECT_EQ(chained(local_columns + "g = X' @ (X @ v)\noutput h = X' @ (X @ g)"),
            "row_chain(mxvt mxv) gather scatter row_chain(mxvt mxv) gather scatter");
  // The vector work behind waits for the total, and so stands apart.
  EXPECT_EQ(chained(local_columns + "p = X @ v\ng = X' @ p\noutput g, d = p * sum(g)"),
            "row_chain(mxvt mxv) gather scatter reduce map");
}

TEST(RowChains, AreNotFormedOfWhatMayNotShareAPass) {
  const auto formed = [](const std::string& text) { return row_chains(chain_plan(text)); };
  EXPECT_EQ(formed(local_columns + "input Y : f64[N, F]\noutput g = Y' @ (X @ v)"), 0);
  EXPECT_EQ(formed(local_columns + "output g = mxv((a, b) -> a * b, max, X, X @ v)"), 0);
  EXPECT_EQ(formed(local_columns + "output g = X' @ mxvt((a, b) -> a * b, max, X, v)"), 0);
  EXPECT_EQ(formed("input X : i64[N, F], v : i64[F]\noutput g = X' @ (X @ v)"), 0);
  EXPECT_EQ(formed("input X : f64[K, F], v : f64[F]\noutput g = X' @ (X @ v)"), 0);
  EXPECT_EQ(formed("input X : f64[N, M], v : f64[M]\noutput g = X' @ (X @ v)"), 0);       // sparse
  EXPECT_EQ(formed(local_columns + "output p = X @ v, g = X' @ y"), 0);                   // none needs the other: mxm
  EXPECT_EQ(formed("input A : dense f64[N, N], v : f64[N]\noutput g = A @ (A @ v)"), 0);  // its rows are met whole
  EXPECT_EQ(row_chains(plan(compile("dim N, F local = 4\n" + local_columns + "output g = X' @ (X @ v)"), Strategy::none,
                            SyncMode::hybrid)),
            0);
}

TEST(RowChains, ASecondTimeNothingChanges) {
  TrialLawChecker laws;
  const Module module = chain_plan(local_columns + "e = X @ v - y\noutput g = X' @ e, l = sum(e * e)");
  const std::string before = print_module(module);
  EXPECT_EQ(print_module(run_passes(module, laws, {}, {"fuse-selected"})), before);
  EXPECT_EQ(print_module(parse_module(before, "t.kir")), before);
}

// The matrix once, in the paper's column and in the actual one; between the products nothing is stored.
TEST(RowChains, ReadTheMatrixOnce) {
  const Module program = compile(
      "dim N, F local = 10\ninput X : f64[N, F], v : f64[F], y : f64[N]\n"
      "e = X @ v - y\noutput g = X' @ e, l = sum(e * e)");
  const CostReport fused = measure(plan(program, Strategy::greedy, SyncMode::hybrid));
  const CostReport apart = measure(plan(program, Strategy::none, SyncMode::hybrid));
  const SymbolNames names(program);
  EXPECT_EQ(fused.actual.read.text(names), "88 N + 80 P");   // X 80 N, y 8 N; v on each worker
  EXPECT_EQ(fused.actual.written.text(names), "80 P");       // g on each worker
  EXPECT_EQ(apart.actual.read.text(names), "200 N + 80 P");  // X twice, e's operands, e twice, its square
  EXPECT_EQ(apart.actual.written.text(names), "24 N + 80 P");
  EXPECT_EQ(fused.model.read.text(names), "408 N");     // of 10 N elements 8, and 8 + 8 of each product; y
  EXPECT_EQ(fused.model.written.text(names), "160 N");  // 8 of each product for each element
}

// So it does for work on the matrix itself.
TEST(RowChains, ReadTheMatrixOnceForTheirWorkToo) {
  const Module program =
      compile("dim N, F local = 10\ninput X : f64[N, F], y : f64[N]\nw = exp(y)\noutput H = X' @ (w * X), e = X' @ w");
  const CostReport fused = measure(plan(program, Strategy::greedy, SyncMode::hybrid));
  const CostReport apart = measure(plan(program, Strategy::none, SyncMode::hybrid));
  const SymbolNames names(program);
  EXPECT_EQ(fused.actual.read.text(names), "88 N");  // X 80 N, y 8 N
  EXPECT_EQ(fused.actual.written.text(names), "880 P");
  EXPECT_EQ(apart.actual.read.text(names), "344 N");  // X three times, W X and w twice, y
  EXPECT_EQ(apart.actual.written.text(names), "88 N + 880 P");
  EXPECT_EQ(fused.model.read.text(names), "1848 N");  // of 10 N elements 8, and 16 of eleven products; y
}

// What passes between a product and the work on its rows is neither stored nor read.
TEST(RowChains, KeepWhatPassesBetween) {
  const Module program = compile(
      "dim N, F local = 10\ninput X : f64[N, F], v : f64[F], y : f64[N]\n"
      "along = X @ v + 1\nfar = sum(along * along)\nm = max(0, y - far * along)\noutput g = X' @ (m * y), c = sum(m * "
      "y)");
  const CostReport fused = measure(plan(program, Strategy::greedy, SyncMode::hybrid));
  const CostReport apart = measure(plan(program, Strategy::none, SyncMode::hybrid));
  const SymbolNames names(program);
  EXPECT_EQ(fused.actual.read.text(names), "176 N + 80 P");   // X twice; along, y; v on each worker
  EXPECT_EQ(fused.actual.written.text(names), "8 N + 80 P");  // along; g
  EXPECT_EQ(apart.actual.written.text(names), "48 N + 80 P");
}

const NamedProgram chain_programs[] = {
    {"bare", R"(
dim N, M
input X : dense f64[N, M], v : f64[M]
output g = X' @ (X @ v)
)"},
    {"weighted", R"(
dim N, F local = 3
input X : f64[N, F], v : f64[F], w : f64[N]
param s = 0.5
output g = X' @ (s * w * (X @ v))
)"},
    {"logistic", R"(
dim N, M
input X : dense f64[N, M], y : f64[N]
w : f64[M] = 0.01
loss = 0.0
for i in 0..4 {
  z = X @ w
  e = 1 / (1 + exp(-z)) - y
  loss = sum(log(1 + exp(-abs(z)))) + max(e)
  w = w - 0.001 * (X' @ e)
}
output w, loss
)"},
    {"rows_handed_on", R"(
dim N, M
input X : dense f64[N, M], v : f64[M], y : f64[N]
p = X @ v
e = p - y
output p, e, g = X' @ e, h = X' @ y, k = X' @ p, t = e * y, l = sum(p), m = max(e)
)"},
    {"single_precision", R"(
dim N, M
input X : dense f32[N, M], v : f32[M], y : f32[N]
W = floor(X * 3 + 0.5)
output g = W' @ max(W @ floor(v * 3 + 0.5), floor(y))
)"},
    {"a_computed_matrix", R"(
dim N, M
input X : dense f64[N, M], u : f64[N], v : f64[M]
B = X / 4 + outer(u, v)
output g = B' @ (B @ v), h = X' @ (X @ v)
)"},
    {"square", R"(
dim N
input A : dense f64[N, N], x : f64[N]
p = A @ x
output g = A' @ (p + x), h = A' @ x, p
)"},
    {"points_between", R"(
dim N, F local = 2
input X : f64[N, F], v : f64[F], y : f64[N]
p = X @ v
q = map((a, b) -> (a + b, i64(b)), p, y)
e = map(t -> t.0 * f64(t.1), q)
output g = X' @ e, q, most = reduce((a, b) -> if a.0 < b.0 || (a.0 == b.0 && a.1 < b.1) then b else a, q)
)"},
    {"columns_behind_a_vector", R"(
dim N, F local = 4, K local = 3
input X : f64[N, F], x : f64[N], v : f64[F]
q = tanh(outer((a, b) -> a - f64(i64(b)), x, index(K)))
u = tanh(X @ v)
output u, totals = sum(q / (1 + abs(u)), over N)
)"},
    {"columns_of_a_wide_array", R"(
dim N, F local = 4, C local = 70, K local = 2
input X : f64[N, F], v : f64[F], P : f64[N, C]
param first = 67
output g = X' @ (at(P, first) * (X @ v)), h = X' @ (range(P, K, 3) * (X @ v)), m = max(P)
)"},
    {"begun_with_vectors", R"(
dim N, F local = 4
input X : f64[N, F], y : f64[N], v : f64[F]
e = y
for turn in 0..3 {
  e = max(0, 1 - y * (X @ v))
  v = tanh(X' @ (e * y))
}
output v, g = X' @ (y * exp(-y)), e
)"},
    {"work_before_and_behind", R"(
dim N, F local = 3
input X : f64[N, F], y : f64[N], v : f64[F]
scores : f64[N] = 0
for turn in 0..3 {
  along = X @ v + 0.5
  far = 1 / (1 + sum(along * along))
  scores = scores + far * along
  m = max(0, 1 - scores * y)
  v = tanh(X' @ (m * y) + sum(m * y))
}
output v, scores, g = X' @ (y * exp(-y))
)"},
    {"a_maker_that_waits", R"(
dim N, F local = 4
input X : f64[N, F], v : f64[F], y : f64[N]
e = exp(-y)
B = X / sum(e)
output p = 2 * (B @ v), g = B' @ e
)"},
    {"vector_in_the_work", R"(
dim N, F local = 3
input X : f64[N, F], v : f64[F]
p = X @ v
t = fill(1.0, N, F) * v - p
u = fill(1.0, N, F) + v
output p, g = t' @ u, h = X' @ p
)"},
    {"ids_over_the_rows", R"(
dim N, F local = 5
input x : f64[N], Y : f64[N, F]
i = if fill(true, N, F) then argmax(x) else argmin(x)
output last = reduce(max, i, over N), g = Y' @ (fill(0.125, N, F) * x)
)"},
    {"behind_an_if", R"(
dim N, M
input X : dense f64[N, M], v : f64[M], y : f64[N]
g : f64[M] = 1
for i in 0..3 {
  if i < 2 likely {
    g = X' @ (X @ (g / sum(g)))
  } else {
    g = X' @ (X @ g * y)
  }
}
output g
)"},
};

class RowChainRuns : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(RowChainRuns, LikeTheirProgramAndCostWhatIsPredicted) {
  const Module program = compile(GetParam().text);
  const auto made_by = [&](Strategy strategy) {
    const Module made = plan(program, strategy, SyncMode::hybrid);
    return row_chains(made) + regions_of(made, RegionKind::rows);
  };
  EXPECT_GE(made_by(Strategy::greedy) + made_by(Strategy::fuse_all), 1);
  run_everywhere(program, 9, 30);
}

// Fewer rows than workers: parts without any.
TEST_P(RowChainRuns, OverEmptyParts) { run_everywhere(compile(GetParam().text), 2, 3); }

INSTANTIATE_TEST_SUITE_P(Programs, RowChainRuns, ::testing::ValuesIn(chain_programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Products whose matrix the program computes, itself or its maker among what they multiply.
const NamedProgram computed_matrices[] = {
    {"covariance", R"(
dim N, F local = 4
input X : f64[N, F], v : f64[F]
C = X - mean(X, over N)
output c = C' @ C / size(N), s = sum(C * C), r = C @ v
)"},
    {"two_of_one_region", R"(
dim N, F local = 4
input X : f64[N, F], Z : f64[N, F], y : f64[N], v : f64[F]
H = X * y
J = Z - X
output h = H' @ J, j = J' @ H, e = H @ v, J
)"},
    {"in_a_loop", R"(
dim N, F local = 3
input X : f64[N, F], y : f64[N], u : f64[F]
D = X * 0.25
g = u
for i in 0..3 {
  r = y - D @ g
  g = g + 0.125 * (D' @ (r * y))
  D = D + X * (0.25 / size(N))
}
output g, D, q = D' @ D
)"},
    {"factors", R"(
dim N, M local = 5, K local = 3
input V : f64[N, M], W0 : f64[N, K], H0 : f64[K, M]
W = W0
H = H0
for i in 0..3 {
  H = H * (W' @ V) / (W' @ W @ H + 1e-9)
  W = W * (V @ H') / (W @ (H @ H') + 1e-9)
}
output W, H
)"},
    {"integers", R"(
dim N, F local = 3
input X : i64[N, F], y : i64[N]
C = X * y - 3
D = C + X
output c = C' @ C, d = D' @ C, e = D' @ y, C
)"},
    {"cut_along_both", R"(
dim N, M
input X : dense f64[N, M], y : f64[N], v : f64[M]
D = X + outer(y, v)
e = D @ v - y
output g = D' @ e, l = sum(e * e), h = D' @ y, D
)"},
};

class ComputedMatrices : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(ComputedMatrices, AreInMemoryWhenTheirProductsBegin) { run_everywhere(compile(GetParam().text), 9, 30); }

INSTANTIATE_TEST_SUITE_P(Programs, ComputedMatrices, ::testing::ValuesIn(computed_matrices),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Random statements over values of rows, of columns, and totals; all numbers stay above zero, so that sums in another
// order agree.
std::string random_chains(std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const bool cut = below(2) == 0;
  std::string text = cut ? "dim N, M\ninput X : dense f64[N, M], v : f64[M], y : f64[N]\n"
                         : "dim N, M local = 3\ninput X : f64[N, M], v : f64[M], y : f64[N]\n";
  std::vector<std::string> rows{"y"}, cols{"v"}, totals{"0.5"};
  const auto any = [&](const std::vector<std::string>& of) { return of[below(of.size())]; };
  const auto last = [&](const std::vector<std::string>& of) { return below(3) > 0 ? of.back() : any(of); };
  for (int k = 0; k < 10; ++k) {
    const std::string name = "t" + std::to_string(k);
    switch (below(7)) {
      case 0:
      case 1:
        text += name + " = X @ " + last(cols) + "\n";
        rows.push_back(name);
        break;
      case 2:
      case 3:
        text += name + " = X' @ " + last(rows) + "\n";
        cols.push_back(name);
        break;
      case 4:
        text += name + " = " + last(rows) + " * " + any(totals) + " / (1 + " + any(rows) + ")\n";
        rows.push_back(name);
        break;
      case 5:
        text += name + " = max(" + last(rows) + ", sqrt(" + any(rows) + ")) + " + any(rows) + "\n";
        rows.push_back(name);
        break;
      default:
        text += name + " = " + (below(2) == 0 ? "sum(" : "max(") + last(rows) + ")\n";
        totals.push_back(name);
    }
  }
  return text + "output " + rows.back() + ", " + cols.back() + ", a = " + any(rows) + " * 1.5, b = sum(" + any(rows) +
         ") + " + any(totals) + ", c = " + any(cols) + " * 0.25\n";
}

TEST(RowChains, OfRandomShape) {
  std::mt19937_64 random(11);
  int formed = 0;
  for (int round = 0; round < 60; ++round) {
    const std::string text = random_chains(random);
    SCOPED_TRACE(text);
    const Module program = compile(text);
    const int workers = 1 + static_cast<int>(random() % 4);
    const auto size = static_cast<std::int64_t>(1 + random() % 12);
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, size, 30, random()));
    const auto wanted = interpret(program, whole_inputs(parts));
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::hybrid}) {
      const Module module = plan(program, Strategy::greedy, sync);
      formed += row_chains(module);
      run_plan(module, parts, wanted, round % 3 == 0);
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(formed, 40);
}

// As somebody may edit it: no product goes back, and no buffers.
TEST(RowChains, WithoutAWayBack) {
  const Module module = parse_module(R"(kir 1 level 3
module t {
  dim N
  dim M
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  %X = input "X" : f64[N,M] @part
  %v = input "v" : f64[M] @part
  %y = input "y" : f64[N] @part
  %w = scatter %v : f64[M] @cons{all}
  %p, %e, %p2, %l = region row_chain (%w, %X, %y) : f64[N] @part, f64[N] @part, f64[N] @part, f64 @pre(add) {
    %a = mxvt[mul, add] %w, %X : f64[N] @part
    %b = map[mul] %a, %y : f64[N] @part
    %c = reduce[add] %b : f64 @pre(add)
    yield %a, %b, %a, %c
  }
  %g = gather %l : f64 @part
  output "p" %p
  output "e" %e
  output "p2" %p2
  output "l" %g
}
##end
)",
                                     "test.kir");
  const Module program = compile(
      "dim N, M\ninput X : dense f64[N, M], v : f64[M], y : f64[N]\noutput p = X @ v, e = (X @ v) * y, p2 = X @ v, l = "
      "sum((X @ v) * y)");
  run_edited(module, program);
}

}  // namespace
}  // namespace kasen
