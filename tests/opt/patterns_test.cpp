// Expressions over several sparse matrices: each lies at a pattern that follows from those of its matrices. Every plan
// computes what its program says and costs what is predicted.
#include <gtest/gtest.h>

#include "libcore/ir/entries.h"
#include "libcore/patterns/recipe.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram pattern_programs[] = {
    {"sums_and_products", R"(
dim N, M
input X : f64[N, M], Y : f64[N, M], a : f64[N], b : f64[M]
output S = X + Y, D = X * a - Y * b, P = X * Y, s = sum(max(X, Y)), rows = sum(X * Y, over M), p = (X + Y) @ b
)"},
    {"stored_and_read_again", R"(
dim N, M, K local = 3
input X : f64[N, M], Y : f64[N, M], G : null[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]
S = X + Y
T = S * G - X
output t = sum(T), rows = sum(T, over M), P = T @ V, H = S' @ U, mixed = X * Y + G * (U @ V'), T
)"},
    {"changed_in_a_loop", R"(
dim N, M
input X : f64[N, M], Y : f64[N, M], b : f64[M]
W = X + Y
i = 0
while i < 3 likely expect 3 {
  r = W @ b
  W = 0.5 * W + X * r / (1 + sum(abs(r))) - 0.25 * Y
  i = i + 1
}
output W, s = sum(W)
)"},
    {"types", R"(
dim N, M
input X : f64[N, M], Y : f32[N, M], Z : i64[N, M]
output some = X > 0.5 || f64(Y) > 0.5, n = i64(X) + Z, f = f32(X) * Y, kept = if Z > 0 then X else 0.0, s = sum(Z * i64(X))
)"},
    {"masked_products", R"(
dim N
input A : f64[N, N], B : f64[N, N], G : null[N, N]
output m = A * (A @ B), t = sum(G * (G @ G)), c = B * (A' @ B), d = A * (B @ A'), e = A * ((A + B) @ (A * B))
)"},
    {"products", R"(
dim N, M, K
input A : f64[N, K], B : f64[K, M], X : f64[N, M], v : f64[M]
C = A @ B
output C, s = sum(C), p = C @ v, T = X - C, gram = A' @ A
)"},
    {"products_in_a_loop", R"(
dim N
input A : f64[N, N], B : f64[N, N]
W = A
for i in 0..3 {
  P = A * (W @ B)
  W = P / (1 + sum(abs(P)))
}
output W
)"},
    {"integers_and_bools", R"(
dim N
input A : i64[N, N], G : null[N, N]
large = A > 8
output n = sum(A * (A @ A)), any = large && (large @ large), f = sum(f32(A) * (f32(A) @ G)), w = i32(A) * (i32(A) @ i32(A))
)"},
    {"turned", R"(
dim N, M
input A : f64[N, N], X : f64[N, M], Y : f64[M, N], G : null[N, N], v : f64[N]
S = A + A'
output S, p = S @ v, d = X - Y', t = sum(G * G'), m = A' * (A @ A'), c = (A * v)', back = (X')', f = f32(X) * f32(Y')
)"},
    {"turned_in_a_loop", R"(
dim N
input A : f64[N, N], v : f64[N]
W = A + A'
for i in 0..3 {
  W = 0.5 * (W * v)' + 0.25 * A
}
output s = sum(W)
)"},
    {"places", R"(
dim N, M
input X : f64[N, M], Y : i64[N, M], G : null[N, M], a : f64[N]
output most = argmax(X * a, over M), least = argmin(X, over M), of = argmax(Y, over N), ones = argmin(G, over M)
output both = argmax(X - f64(Y), over N), none = argmax(-abs(X) * f64(G), over M)
)"},
    {"triangles", R"(
dim N
input A : f64[N, N], B : f64[N, N]
output lower = tril(A), upper = triu(A, 1), s = sum(tril(A + B, -1)), d = diag(A * B), e = diag(A)
)"},
};

class Patterns : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(Patterns, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

INSTANTIATE_TEST_SUITE_P(Programs, Patterns, ::testing::ValuesIn(pattern_programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

// More work than one thread takes.
TEST(LargePatterns, AreTheSame) {
  const Module program = compile(R"(
dim N
input A : f64[N, N], B : f64[N, N]
S = A + B
output t = sum(S * (S @ A)), u = sum(S - 2 * A), P = A * (A @ B)
)");
  for (const int workers : {1, 2}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 600, 12000, 5), program);
    run_plan(plan(program, Strategy::greedy, SyncMode::hybrid), parts, interpret(program, whole_inputs(parts)), true);
  }
}

struct LiesAt {
  const char* name;
  const char* expression;
  const char* pattern;  // of inputs alone: no other one is made
};

const LiesAt lies_at[] = {
    {"sum", "X + Y", "X|Y"},
    {"difference_the_other_way", "Y - X", "X|Y"},
    {"product", "X * Y", "X&Y"},
    {"largest", "max(X, Y)", "X|Y"},
    {"of_three", "X + Y * Z", "X|Y&Z"},
    {"of_either", "X * (Y + Z)", "X&Y|X&Z"},
    {"all", "X * Y * Z", "X&Y&Z"},
    {"condition", "if Y > 0 then X else 0.0", "X&Y"},
    {"factor", "X * if Y > 0 then 2.0 else 1.0", "X"},
    {"masked", "X * (X @ Y)", "X"},
    {"masked_by_two", "X * Y * (X @ Y)", "X&Y"},
    {"product_of_matrices", "X @ Y", "X@Y"},
    {"product_and_more", "Z + X @ Y'", "X@Y'|Z"},
    {"product_of_a_sum", "(X + Y) @ Z", "(X|Y)@Z"},
    {"turned", "X'", "X'"},
    {"turned_twice", "X''", "X"},
    {"sum_with_turned", "X + X'", "X|X'"},
    {"product_with_turned", "Y * X'", "X'&Y"},
    {"turned_sum", "(X + Y)'", "X'|Y'"},
    {"turned_again", "(X + X')'", "X|X'"},
    {"turned_product", "(X @ Y)'", "Y'@X'"},
    {"masked_by_turned", "X' * (X @ Y)", "X'"},
    {"of_more_and_less", "X * Y + X", "X"},
};

class PatternOf : public ::testing::TestWithParam<LiesAt> {};

TEST_P(PatternOf, FollowsFromTheExpression) {
  const Module program = compile("dim N\ninput X : f64[N, N], Y : f64[N, N], Z : f64[N, N]\noutput W = " +
                                 std::string(GetParam().expression));
  const ValueId made = program.body.ops.back().operands.at(0);
  EXPECT_EQ(program.dim(program.type(made).dims.at(0)).entries_of, GetParam().pattern);
  for (const Op& op : program.body.ops) {
    if (op.code != OpCode::input || !is_recipe(op.name)) continue;
    EXPECT_TRUE(parse_recipe(op.name)) << op.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Expressions, PatternOf, ::testing::ValuesIn(lies_at),
                         [](const auto& case_) { return std::string(case_.param.name); });

TEST(PatternText, IsReadBack) {
  for (const NamedProgram& named : pattern_programs) {
    const Module program = compile(named.text);
    const Module placed = plan(program, Strategy::greedy, SyncMode::hybrid);
    for (const Module* module : {&program, &placed}) {
      const std::string text = print_module(*module);
      EXPECT_EQ(print_module(parse_module(text, "plan.kir")), text);
    }
  }
}

TEST(Recipes, AreReadAsTheyAreWritten) {
  for (const char* text :
       {"X|Y", "X&Y", "A@B", "A'", "(A|B)@C'", "A&(B|C)", "(A@B)@C", "(A|B)'", "A~", "((A')~)'|B~", "(A|B)~@C"}) {
    const auto recipe = parse_recipe(text);
    ASSERT_TRUE(recipe) << text;
    EXPECT_EQ(recipe_text(*recipe), text);
    EXPECT_TRUE(is_recipe(text));
  }
  for (const char* text :
       {"", "X|", "X | Y", "X||Y", "(X", "X)", "A@B@C", "(X)|Y", "X''", "X~~", "~X", "X'~", "1|X", "X| Y", "/|X"})
    EXPECT_FALSE(parse_recipe(text)) << text;
  EXPECT_FALSE(is_recipe("X_1"));
  EXPECT_FALSE(parse_recipe(std::string(40, '(') + "X|Y" + std::string(40, ')')));
  std::string deep = "X|Y";
  while (deep.size() < most_recipe_length) deep = '(' + deep + ")&Z";
  EXPECT_FALSE(parse_recipe(deep));
  EXPECT_EQ(turned_pattern(turned_pattern("X")), "X");
  EXPECT_EQ(recipe_word("X|Y"), "X_or_Y");
  EXPECT_EQ(gaps_pattern("X", false), "X~");
  EXPECT_EQ(gaps_pattern("X|Y", true), "((X'|Y')~)'");
}

struct Refused {
  const char* name;
  const char* line;
  const char* says;
};

const Refused refused[] = {
    {"not_absent", "W = X + if Y == 0 then 1.0 else 0.0", "not 0 where the matrix stores nothing"},
    {"other_dims", "W = X @ Y", "'@' of matrices over"},
    {"types", "W = sum(X * (X @ Z'))", "nothing is converted silently"},
    {"exchanged", "W = sum(X * T)", "arrays over [N, M] and [M, N] do not match"},
    {"seven", "W = sum(X + Y + A + B + C + D + E)", "7 sparse matrices in one expression"},
    {"diagonal", "W = diag(X)", "the diagonal of a matrix over"},
    {"array", "W = tril(u)", "has 2 dimensions"},
    {"number", "W = sum(tril(X, u))", "a diagonal for"},
    {"arguments", "W = diag(X, 1)", "diag of 2 arguments"},
};

class RefusedPattern : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedPattern, SaysWhy) {
  const std::string text =
      "dim N, M\ninput X : f64[N, M], Y : f64[N, M], A : f64[N, M], B : f64[N, M], C : f64[N, M], D : f64[N, M]\n"
      "input E : f64[N, M], T : f64[M, N], Z : i64[N, M], u : f64[N]\n" +
      std::string(GetParam().line) + "\noutput W\n";
  try {
    static_cast<void>(compile(text));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().says), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, RefusedPattern, ::testing::ValuesIn(refused),
                         [](const auto& case_) { return std::string(case_.param.name); });

}  // namespace
}  // namespace kasen
