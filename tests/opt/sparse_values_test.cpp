// Sparse values: what an expression gives at the stored entries of a matrix is stored, and read by sums, products and
// further expressions (libcore/ir/entries.h). Every plan computes what its program says and costs what is predicted.
#include <gtest/gtest.h>

#include "libcore/ir/entries.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram stored_value_programs[] = {
    {"read_twice", R"(
dim N, M, K local = 3
input X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]
W = X * tanh(U @ V')
output rows = sum(W, over M), columns = sum(W, over N), all = sum(W), p = W @ b, h = W' @ a, P = W @ V, H = W' @ U
)"},
    {"as_outputs", R"(
dim N, M
input X : f64[N, M], G : null[N, M], a : f64[N], b : f64[M]
W = X * a - X / (2 + b * b)
output W, itself = X, pattern = G, some = W > 0.1, whole = i32(W * 8), s = sum(W)
)"},
    {"from_each_other", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
param s = 0.5
W = X * a
T = s * W * W
R = W / (1 + T) - T * b + X
output w = sum(W), t = sum(T), r = sum(R, over M), R, mixed = (W * T - R) @ b
)"},
    {"changed_in_a_loop", R"(
dim N, M
input X : f64[N, M], b : f64[M]
W = X
i = 0
while i < 3 likely expect 3 {
  W = W * 0.5 + X * (W @ b)
  i = i + 1
}
output W, s = sum(W)
)"},
    {"smoothed", R"(
dim N, M
input X : f64[N, M], b : f64[M]
W = X * X
change = 1.0
for i in 0..4 {
  next = 0.5 * W + 0.25 * X
  change = sum(abs(next - W))
  W = next
}
output W, change, p = W @ b
)"},
    {"through_a_branch", R"(
dim N, M
input X : f64[N, M], a : f64[N]
param big = true
W = X * a
if big { W = W + X } else { W = W - X }
output W, s = sum(W, over M)
)"},
    {"read_in_a_loop", R"(
dim N, M, K local = 4
input X : f64[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]
W = X * exp(-abs(U @ V'))
v = b
for i in 0..3 {
  u = W @ v
  v = W' @ u
  v = v / (1 + sum(v * v))
}
output v
)"},
    {"rows_of_a_square_matrix", R"(
dim N
input A : f64[N, N], d : f64[N]
degree = A @ fill(1.0, N)
T = A / at_rows(1 + degree * degree)
upper = A * f64(at_rows(index(N)) < index(N))
output T, ones = T @ fill(1.0, N), both = sum(T * at_rows(d) - T * d), upper, above = sum(upper)
)"},
    {"several_matrices", R"(
dim N, M
input X : f64[N, M], Y : f32[N, M], a : f64[N]
W = X * a
T = Y * Y
output w = sum(W), t = sum(T), W, T, s = sum(W, over N), r = sum(T, over N)
)"},
    {"integers_and_bools", R"(
dim N, M
input X : f64[N, M], k : i64[N]
many = i64(X * 4) * k
large = many > 1
output s = sum(many), t = sum(many, over M), some = any(large), n = sum(i64(large)), many, large
)"},
    {"semirings", R"(
dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
W = X * a
output near = mxvt((x, w) -> x + w, min, W, b), far = mxv((x, w) -> x * w, max, W, a)
)"},
    {"in_a_function", R"(
dim N, M
input X : f64[N, M], b : f64[M]
def scaled(W, v) {
  T = W * v
  return T / (1 + sumsq(T))
}
Z = scaled(X, b)
output p = Z @ b, q = sum(Z, over N), Z
)"},
    {"beside_products", R"(
dim N
input G : f64[N, N], x : f64[N]
y = G @ x
W = G * y
z = G' @ y
output y, z, w = W @ z, t = W' @ z, m = mxvt((x, w) -> x * w, +, W, y)
)"},
};

class SparseValues : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(SparseValues, RunLikeTheirProgramAndCostWhatIsPredicted) {
  const Module program = compile(GetParam().text);
  EXPECT_TRUE(has_entries_dims(program));
  run_everywhere(program, 9, 30);
}

INSTANTIATE_TEST_SUITE_P(Programs, SparseValues, ::testing::ValuesIn(stored_value_programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

// More work than one thread takes, rows of more entries than a segment has, and parts in another order than their form.
TEST(LargeSparseValues, AreTheSame) {
  const Module program = compile(R"(
dim N, M, K local = 9
input X : f64[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]
W = X * tanh(U @ V')
T = W * W + X * b
output P = W @ V, H = T' @ U, s = sum(T)
)");
  for (const int workers : {1, 2}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 1000, 20000, 5), program);
    run_plan(plan(program, Strategy::greedy, SyncMode::hybrid), parts, interpret(program, whole_inputs(parts)), true);
  }
}

int operators_of_code(const Module& module, OpCode code) {
  int count = 0;
  for_each_op(module, [&](const Op& op, int, int) { count += op.code == code ? 1 : 0; });
  return count;
}

struct StoredCase {
  const char* name;
  const char* statements;
  int stored;
};

const StoredCase stored_cases[] = {
    {"read_once", "W = X * a; output s = sum(W)", 0},
    {"read_twice", "W = X * a; output s = sum(W), t = sum(W, over M)", 1},
    {"read_twice_by_one_expression", "W = X * a; output s = sum(W * W)", 1},
    {"read_in_a_loop", "W = X * a; s = 0.0; for i in 0..3 { s = s + sum(W) }; output s", 1},
    {"read_once_in_an_iteration", "s = 0.0; for i in 0..3 { W = X * a; s = s + sum(W) }; output s", 0},
    {"read_in_both_branches", "W = X * a; s = 0.0; if s < 1 { s = sum(W) } else { s = sum(W, over M) @ a }; output s",
     1},
    {"assigned_again", "W = X * a; s = sum(W); W = X * 2; output s, t = sum(W)", 0},
    {"of_the_matrix_alone", "W = 2 * X * X; output s = sum(W), t = sum(W, over M)", 0},
    {"not_zero_elsewhere", "P = X + 1; output s = sum(X * P), t = sum(X * P, over M)", 0},
    {"changed_by_a_loop", "W = X * a; for i in 0..3 { W = W * 2 }; output s = sum(W)", 1},
    {"returned_by_a_def", "def f(A, v) { W = A * v; return W / (1 + sum(W)) }; output s = sum(f(X, a))", 1},
    {"output", "output W = X * a", 1},
    {"named_output", "W = X * a; output W", 1},
};

class StoredRule : public ::testing::TestWithParam<StoredCase> {};

// An operator `entries` for each name that is stored, beside what outputs and maps of stored values add.
TEST_P(StoredRule, SaysWhatIsStored) {
  const Module program = compile("dim N, M\ninput X : f64[N, M], a : f64[N]\n" + std::string(GetParam().statements));
  EXPECT_EQ(operators_of_code(program, OpCode::entries), GetParam().stored) << print_module(program);
}

INSTANTIATE_TEST_SUITE_P(Names, StoredRule, ::testing::ValuesIn(stored_cases),
                         [](const auto& case_) { return std::string(case_.param.name); });

// Work on stored values alone is a map, which joins other vector work.
TEST(StoredAlone, IsAMap) {
  const Module program = compile(R"(
dim N, M
input X : f64[N, M], a : f64[N]
W = X * a
T = W * W + W
output s = sum(T), t = sum(T * W), w = sum(W)
)");
  EXPECT_EQ(operators_of_code(program, OpCode::entries), 1);
  EXPECT_EQ(operators_of_code(program, OpCode::fold_rows), 0);
  EXPECT_EQ(operators_of_code(program, OpCode::reduce), 3);
}

TEST(SparseValueText, IsReadBack) {
  const Module program = compile(stored_value_programs[0].text);
  const Module placed = plan(program, Strategy::greedy, SyncMode::hybrid);
  for (const Module* module : {&program, &placed}) {
    const std::string text = print_module(*module);
    EXPECT_NE(text.find("dim X_entries entries \"X\""), std::string::npos);
    EXPECT_EQ(print_module(parse_module(text, "plan.kir")), text);
  }
}

// Two forms of one matrix number its nonzeros: 4 bytes each. A value takes 8.
TEST(SparseValueMemory, IsPredicted) {
  const Module program = compile(R"(
dim N, M
input X : f64[N, M], b : f64[M], a : f64[N]
W = X * b
output p = W @ b, q = W' @ a
)");
  const Module placed = plan(program, Strategy::greedy, SyncMode::hybrid);
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 50, 400, 5), program);
  const RunResult result = testing::run_simulated(placed, parts);
  for (const PartCount& part : result.parts) {
    const PartMatrix& matrix = parts[static_cast<size_t>(part.worker)].matrices.at("X");
    const auto rows = std::ssize(matrix.row_pointers);
    const auto cols =
        parts[static_cast<size_t>(part.worker)].dims.at("M").masters.size() + std::ssize(matrix.col_slaves.slaves) + 1;
    EXPECT_EQ(part.matrix_bytes, 8 * (rows + cols) + 2 * matrix.entries() * (4 + 4 + 8));
  }
}

}  // namespace
}  // namespace kasen
