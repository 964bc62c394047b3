// Element-wise work on a sparse matrix (libcore/ir/entries.h): sums and products of expressions over stored entries.
// Every plan computes what its program says, with interpreted and generated kernels, and costs what is predicted.
#include "libcore/ir/entries.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram entry_programs[] = {
    {"cells", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : dense f64[M]
param s = 0.5
output all = sum(X), squares = sumsq(X), rows = sum(X * a, over M), columns = sum(X * b, over N)
output both = sum(X * X * a * b * s), count = sum(f64(X != 0), over N), m = mean(X)
)"},
    {"pattern", R"(
dim N, M
input G : null[N, M], a : f64[N], b : f64[M]
output entries = sum(G), out = sum(G, over M), weighed = sum(map((g, x, y) -> g * exp(-abs(x - y)), G, a, b))
)"},
    // The paper's sparsity-exploiting outer product (SystemML, Figure 8 h).
    {"outer_full", R"(
dim N, M, K local = 5
input X : f64[N, M], U : f64[N, K], V : f64[M, K]
param eps = 1e-3
output s = sum(X * log(abs(U @ V') + eps))
)"},
    {"outer_both_ways", R"(
dim N, M, K local = 11
input X : f64[N, M], U : f64[N, K], V : f64[M, K]
W = (X != 0)
R = X - f64(W) * (U @ V')
output right = R @ V, left = R' @ U, loss = sum(R * R), rows = sum(R, over M), columns = sum(R, over N)
)"},
    {"many_columns", R"(
dim N, M, K local = 24
input X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]
output P = (X * (U @ V') * a + X * b) @ V
)"},
    {"one_column", R"(
dim N, M, K local = 1
input X : f64[N, M], U : f64[N, K], V : f64[M, K]
output P = (X * (U @ V')) @ V, H = (X * (U @ V'))' @ U
)"},
    {"vectors", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
W = X * tanh(a) + X / (1 + b * b)
output p = W @ b, h = W' @ a, q = b @ (W)', t = a @ W
)"},
    {"square", R"(
dim N, K local = 4
input G : f64[N, N], U : f64[N, K], V : f64[N, K]
W = G * (U @ V') - G * (V @ U')
output s = sum(W), P = W @ U, H = W' @ U
)"},
    {"semirings", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
output far = mxvt((x, w) -> x + w, min, X * a, b), most = mxv((x, w) -> x * w, max, X + b, a)
output some = any(X * a > 1)
fn twice(x, w) = (x * w, w)
fn both(a, b) = (a.0 + b.0, a.1 + b.1)
output pair = mxvt(twice, both, X * a, b)
)"},
    {"multipliers_of_one_side", R"(
dim N, M, K local = 2
input X : f64[N, M], G : f64[N, N], a : f64[N], b : f64[M], U : f64[N, K]
output of_vector = mxvt((x, w) -> x, +, X * X, b), of_entry = mxv((x, w) -> w, max, X * X, a)
output of_neither = mxvt((x, w) -> 2.0, +, X * X, b), square = mxv((x, w) -> w, +, G * G, a)
output turned = mxvt((x, w) -> w, +, G * G, a), columns = mxv((x, w) -> w + 1, +, f64(G != 0), U)
)"},
    {"reducer_without_identity", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
fn shifted(p, q) = p + q + 3
output rows = mxvt(*, shifted, X * a, b), columns = mxv((x, w) -> i64(x * w), (p, q) -> p + q + 3, X * a, a)
)"},
    {"integers", R"(
dim N, M
input X : f64[N, M], i : i64[N], f : f32[M]
n = sum(i64(X * f64(i)), over M)
output n, g = sum(floor(f32(X) * 4) * floor(f * 4)), k = max(n)
)"},
    {"points", R"(
dim N, M
const d = 3
input X : f64[N, M], p : [f64; d][N], q : [f64; d][M]
fn far(x, p, q) = x * sum(j in d: (p[j] - q[j]) ^ 2)
output s = sum(map(far, X, p, q)), rows = sum(map((x, p, q) -> x * sum(j in d: p[j] * q[j]), X, p, q), over M)
fn twice(x, w) = (x, [w, x * w])
fn both(a, b) = (a.0 + b.0, [a.1[0] + b.1[0], a.1[1] + b.1[1]])
output pair = mxvt(twice, both, map(far, X, p, q), fill(2.0, M))
)"},
    {"user_functions", R"(
dim N, M, K local = 6
input X : f64[N, M], U : f64[N, K], V : f64[M, K]
fn loss(x, y) = if x == 0 then 0.0 else (x - y) ^ 2
output s = sum(loss(X, U @ V')), t = sum(map((x, y) -> x * exp(-y), X, U @ V'))
)"},
    {"in_a_loop", R"(
dim N, M, K local = 3
input X : f64[N, M], V0 : f64[M, K]
U : f64[N, K] = 0.25
V = V0
i = 0
while i < 4 likely expect 4 {
  E = X - f64(X != 0) * (U @ V')
  U = U + 0.01 * (E @ V)
  V = V + 0.01 * (E' @ U)
  i = i + 1
}
output U, V, loss = sumsq(X - f64(X != 0) * (U @ V'))
)"},
    // One pass over X each way: totals go along with what has a direction, and share U V'.
    {"one_pass", R"(
dim N, M, K local = 7
input X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]
fn off(x, p) = x - f64(x != 0) * p
output loss = sumsq(off(X, U @ V')), size = sum(abs(off(X, U @ V'))), total = sum(X), p = X @ b
output P = off(X, U @ V') @ V, rows = sum(X * a, over M), q = X' @ a, H = off(X, U @ V')' @ U, columns = sum(X * X, over N)
output far = mxv((x, w) -> x + w, min, X, a)
)"},
    {"one_pass_of_a_pattern", R"(
dim N, M, K local = 3
input G : null[N, M], U : f64[N, K], V : f64[M, K], i : i64[M], f : f32[M]
fn both(a, b) = (a.0 + b.0, a.1 + b.1)
output degree = sum(G, over M), hops = mxvt((x, w: i64) -> x + w, max, G, i), single = G @ floor(f * 4)
output s = sum(G * (U @ V')), t = sum(G * (U @ V')), pair = mxvt((x, w) -> (x, w), both, G * (U @ V'), f64(i))
)"},
    {"one_pass_of_a_square", R"(
dim N, K local = 4
input G : f64[N, N], U : f64[N, K], V : f64[N, K], x : f64[N]
output s = sum(G * (U @ V')), t = sum(G * (V @ U')), P = (G * (U @ V')) @ U, p = G @ x, q = G' @ x
output H = (G * (U @ V'))' @ V
)"},
    // Stored values meet folds and products of the matrix's own entries.
    {"one_pass_of_stored_values", R"(
dim N, M, K local = 3
input X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]
W = X * tanh(U @ V')
output rows = sum(W * b, over M), P = (W - X) @ V, p = X @ b, most = max(abs(W), over M)
output columns = sum(W * a, over N), H = (W * X)' @ U, q = X' @ a, s = sum(W * W)
)"},
    {"zeros_are_met", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
W = X * (a - 1) * b
output most = max(X), least = min(W), rows = max(W, over M), columns = min(0 - abs(W), over N), p = prod(X, over M)
output all_of_row = all(X > 0.5, over M), every = all(W != 0), mean_of_row = mean(W, over M), all_p = prod(X * 2)
output shortest = reduce((p, q) -> min(p, q), W, over M), most_of_ints = max(i64(X * 8), over N)
)"},
    {"beside_products", R"(
dim N, K local = 3
input G : f64[N, N], U : f64[N, K]
P = G @ U
H = (G * (U @ P')) @ P
output P, H, r = G' @ sum(H, over K)
)"},
};

class Entries : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(Entries, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

INSTANTIATE_TEST_SUITE_P(Programs, Entries, ::testing::ValuesIn(entry_programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Random expressions that are 0 where nothing is stored, and random uses of them.
class RandomFormula {
 public:
  explicit RandomFormula(std::uint64_t seed) : random_(seed) {}

  std::string program() {
    std::string text =
        "dim N, M, K local = " + std::to_string(1 + random_() % 10) +
        "\ninput X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]\nparam s = 0.5\nW = " +
        entries(3) + "\n";
    const std::vector<std::string> uses{"sum(W)", "sum(W, over M)", "sum(W, over N)", "W @ V",
                                        "W' @ U", "W @ b",          "W' @ a",         "sumsq(W)"};
    for (int i = 0; i < 3; ++i) text += "output r" + std::to_string(i) + " = " + one_of(uses) + "\n";
    return text;
  }

 private:
  std::string one_of(const std::vector<std::string>& of) { return of[random_() % of.size()]; }

  // Anything over [N, M], [N], [M] or nothing.
  std::string any(int depth) {
    if (depth == 0) return one_of({"a", "b", "s", "0.25", "(U @ V')"});
    const std::string pairs = "((U @ V') " + one_of({"+", "-", "*"}) + " " + any(depth - 1) + ")";
    return one_of({pairs, "exp(-abs(" + pairs + "))", "tanh(" + any(depth - 1) + ")", any(depth - 1)});
  }

  std::string entries(int depth) {
    if (depth == 0) return one_of({"X", "f64(X != 0)", "X * X"});
    const std::string one = entries(depth - 1), other = entries(depth - 1);
    return one_of({"(" + one + " * " + any(2) + ")", "(" + one + " + " + other + ")", "(" + one + " - " + other + ")",
                   "sqrt(abs(" + one + "))", "(" + one + " / (1.5 + cos(" + any(1) + ")))", "tanh(" + one + ")",
                   "(if X > 0.5 then " + one + " else " + other + ")"});
  }

  std::mt19937_64 random_;
};

class RandomEntries : public ::testing::TestWithParam<int> {};

TEST_P(RandomEntries, RunLikeTheirProgram) {
  const std::string text = RandomFormula(static_cast<std::uint64_t>(GetParam())).program();
  SCOPED_TRACE(text);
  run_everywhere(compile(text), 9, 30);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEntries, ::testing::Range(0, 40));

// Rows of more entries than a segment of a reduction has, and more work than one thread takes.
TEST(LongRows, AreFoldedInSegments) {
  const Module program = compile(R"(
dim N, M, K local = 9
input X : f64[N, M], U : f64[N, K], V : f64[M, K]
output P = (X * tanh(U @ V')) @ V, H = (X * (U @ V'))' @ U
)");
  for (const int workers : {1, 2}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 6000, 90000, 5), program);
    run_plan(plan(program, Strategy::greedy, SyncMode::hybrid), parts, interpret(program, whole_inputs(parts)), true);
  }
}

// The words of all outputs, as bits.
std::vector<std::int64_t> bits_of(const Module& module, const std::vector<Part>& parts, const RunResult& result) {
  std::vector<std::int64_t> bits;
  for (const Output& output : result.outputs) {
    for (const Word& word : testing::whole_words(module, output, parts)) bits.push_back(word.i);
  }
  return bits;
}

// Folds of one pass, and products beside them, give the bits that each gives alone, by any kernels on any threads.
TEST(LongRows, HaveTheBitsOfEachAlone) {
  const Module program = compile(R"(
dim N, M, K local = 9
input X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]
fn e(x, p) = x / (1 + p * p)
output P = e(X, U @ V') @ V, r = sum(abs(e(X, U @ V')), over M), p = X @ b, m = mxvt((x, w) -> x + w, max, X, b)
output H = e(X, U @ V')' @ U, q = X' @ a
)");
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 6000, 90000, 5));
  std::vector<std::vector<std::int64_t>> all;
  for (const Strategy strategy : {Strategy::none, Strategy::greedy, Strategy::mpskip}) {
    const Module module = plan(program, strategy, SyncMode::hybrid);
    all.push_back(bits_of(module, parts, testing::run_simulated(module, parts)));
    for (const int threads : {1, 3}) {
      const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
      const auto kernels = testing::make_kernels({.threads = threads});
      all.push_back(bits_of(module, parts, execute(module, parts, *transport, *kernels, {})));
    }
  }
  ASSERT_GT(all[0].size(), 6000U * 9U);
  for (size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i], all[0]) << i;
}

struct Refusal {
  const char* name;
  const char* statement;
  const char* what;
};

const Refusal refusals[] = {
    {"not_zero_where_nothing_is_stored", "s = sum(X + 1)", "this is not 0 where the matrix stores nothing"},
    {"logarithm", "s = sum(log(X))", "this is not 0 where the matrix stores nothing"},
    {"zeros_count", "s = reduce((p, q) -> p + q + 3, X)", "'f_reduce' of stored entries"},
    {"all_pairs", "s = sum(U @ V')", "all pairs over [N, M]"},
    {"pairs_in_a_product", "s = mxvt((x, w) -> x * w, +, U @ V', fill(1.0, M))", "all pairs over [N, M]"},
    {"pairs_as_an_array", "output u = U @ V'", "all pairs over [N, M]"},
    {"points_of_tuples", "s = mxvt((x, w) -> (x, w), (p, q) -> (p.0 + q.0, p.1 + q.1), X * 2, V)",
     "entries with columns give (f64, f64)"},
    {"no_array", "s = sort(X * 2, over M)", "stored entries over [N, M] where an array is meant"},
    {"output_of_pairs", "output W = U @ V'", "all pairs over [N, M]"},
    {"output_of_what_is_not_zero", "output W = X + 1", "this is not 0 where the matrix stores nothing"},
    {"stored_points", "output W = map((x, y) -> (x, y), X, X)", "this is not 0 where the matrix stores nothing"},
    {"other_entries", "W = X * 2; i = 0; while i < 3 { W = Y * 3; i = i + 1 }", "'W' is f64[N, M] at stored entries"},
    {"other_type", "W = X * 2; i = 0; while i < 3 { W = i64(W); i = i + 1 }", "'W' is f64[N, M] at stored entries"},
    {"array_for_entries", "W = X * 2; i = 0; while i < 3 { W = fill(1.0, N, M); i = i + 1 }", "'W' is f64[N, M]"},
    {"rows_of_another_shape", "s = sum(X * at_rows(a))", "arrays over [N, M] and [N, N] do not match"},
    {"rows_of_a_matrix", "s = sum(X * at_rows(U))", "at_rows takes a vector over the rows of a matrix"},
    {"two_matrices", "s = sum(X + Y + 1)", "this is not 0 where the matrix stores nothing"},
    {"dense", "s = sum(X * D)", "a dense array over [N, M] beside stored entries"},
    {"unknown_columns", "s = sum(X * (A @ B'))", "'A' is f64[N, L]"},
    {"other_shape", "s = (X * 2) @ a", "the product needs an array over [M]"},
    {"array_becomes_a_formula", "E : f64[N, M] = 1; E = X * 2",
     "'E' is f64[N, M] and would become an expression over stored entries"},
    {"becomes_a_formula", "a = X * 2", "'a' is f64[N] and would become f64[N, M]"},
};

class EntryRefusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(EntryRefusals, SayWhatAndWhere) {
  const std::string program = std::string(R"(dim N, M, K local = 2, L local
input X : f64[N, M], Y : f64[N, M], D : dense f64[N, M], U : f64[N, K], V : f64[M, K], A : f64[N, L], B : f64[M, L], a : f64[N]
)") + GetParam().statement + "\n";
  try {
    (void)compile(program);
    FAIL() << "it was taken";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    const Diagnostic& first = error.diagnostics().at(0);
    EXPECT_EQ(first.what.substr(0, std::string(GetParam().what).size()), GetParam().what);
    EXPECT_EQ(first.where.line, 3);
    EXPECT_FALSE(first.why.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Statements, EntryRefusals, ::testing::ValuesIn(refusals),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Each part of an expression is looked at once, however deep it is, to see what it is where nothing is stored.
TEST(DeepExpressions, AreSeenThroughAtOnce) {
  std::string product = "a";
  for (int i = 0; i < 120; ++i) product = "(" + product + " * a)";
  const std::string head = "dim N, M\ninput X : f64[N, M], a : f64[N]\n";
  EXPECT_NE(first_op(compile(head + "output s = sum(" + product + " * X)\n"), OpCode::fold_rows), nullptr);
  EXPECT_THROW((void)compile(head + "output s = sum(" + product + " + X)\n"), UserError);
}

// Stored values are read at each nonzero with its number, which is counted once. Operator entries goes alone.
TEST(EntryPass, ReadsStoredValuesByTheirNumbers) {
  const Module program = compile(R"(
dim N, M
input X : f64[N, M], b : f64[M]
W = X * b
output s = sum(W * b, over M), t = sum(W * X, over M), p = X @ b
)");
  const Module greedy = plan(program, Strategy::greedy, SyncMode::hybrid);
  const Op* region = first_op(greedy, OpCode::region);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(entry_operators(*region).size(), 3U);
  const EntryPass pass = entry_pass(greedy, entry_operators(*region));
  EXPECT_TRUE(pass.numbered);
  EXPECT_FALSE(pass.stores);
  const Cost cost = actual_cost(cost_context(greedy), *region);
  const Polynomial one(Symbol{SymbolKind::entries, "X", {}, -1});
  EXPECT_EQ(cost.read.terms().at(one.terms().begin()->first),
            4 + 4 + 8 + 8 + 8 + 1);  // index, number, X, W, b, and what t meets
  const Op* entries = first_op(greedy, OpCode::entries);
  ASSERT_NE(entries, nullptr);
  const EntryPass alone = entry_pass(greedy, {entries, 1});
  EXPECT_TRUE(alone.stores);
  EXPECT_EQ(alone.results[0].reducer, no_fn);
}

// A function is taken apart: sums of points go by lanes, what columns have in common is computed once.
TEST(EntryPass, HasSumsThenWhatIsCommonThenColumns) {
  const Module program = compile(R"(
dim N, M, K local = 20
input X : f64[N, M], U : f64[N, K], V : f64[M, K]
output P = (X * tanh(U @ V')) @ V
)");
  const Op* fold = first_op(program, OpCode::fold_rows);
  ASSERT_NE(fold, nullptr);
  const EntryPass parts = entry_pass(program, {fold, 1});
  ASSERT_EQ(parts.sums.size(), 1U);
  EXPECT_EQ(parts.sums[0].result(), ElementType::array(Scalar::f64, 20));
  ASSERT_EQ(parts.once.size(), 1U);
  ASSERT_EQ(parts.results.size(), 1U);
  EXPECT_EQ(parts.results[0].function.body.op, ScalarOp::build);
  EXPECT_EQ(parts.results[0].function.body.args[0].op, ScalarOp::mul);
}

// Functions of one pass share equal sums of coordinates, whatever the loops around them, and equal parts of points.
TEST(EntryPass, ComputesEqualPartsOnce) {
  const Module program = compile(R"(
dim N, M, K local = 20
input X : f64[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]
fn off(x, p) = x - f64(x != 0) * p
output s = sum(abs(off(X, U @ V')), over M), P = off(X, U @ V') @ V, Q = (off(X, U @ V') * b) @ V, p = X @ b
)");
  std::vector<Op> ops;
  for (const Op& op : program.body.ops) {
    if (visits_entries(program, op)) ops.push_back(op);
  }
  ASSERT_EQ(ops.size(), 4U);
  const EntryPass pass = entry_pass(program, ops);
  EXPECT_EQ(pass.operands.size(), 3U);
  EXPECT_EQ(pass.sums.size(), 1U);
  EXPECT_EQ(pass.once.size(), 2U);
  EXPECT_EQ(entry_pass(program, std::span(ops).subspan(1, 1)).once.size(), 1U);
}

// The stored entries are counted once for a region, with the elements that their functions share.
TEST(EntryPass, ReadsTheMatrixOnce) {
  const Module program = compile(R"(
dim N, M
input X : f64[N, M], b : f64[M]
output s = sum(X * b, over M), t = sum(X * X * b, over M), p = X @ b
)");
  const Module greedy = plan(program, Strategy::greedy, SyncMode::hybrid);
  const Op* region = first_op(greedy, OpCode::region);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(entry_operators(*region).size(), 3U);
  const Cost cost = actual_cost(cost_context(greedy), *region);
  const Polynomial one(Symbol{SymbolKind::entries, "X", {}, -1});
  EXPECT_EQ(cost.read.terms().at(one.terms().begin()->first), 4 + 8 + 8);  // index, value, and the element of b
}

TEST(EntryText, IsReadBack) {
  const Module program = compile(entry_programs[3].text);
  const Module placed = plan(program, Strategy::greedy, SyncMode::hybrid);
  for (const Module* module : {&program, &placed}) {
    const std::string text = print_module(*module);
    EXPECT_EQ(print_module(parse_module(text, "plan.kir")), text);
  }
}

}  // namespace
}  // namespace kasen
