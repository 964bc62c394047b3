// Ranges of columns, single indices and transposed matrices. Every plan computes what its program says, with
// interpreted and generated kernels, and costs what is predicted: in a region what a view shows, and no array for it.
#include <gtest/gtest.h>

#include "libcore/ir/regions.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram view_programs[] = {
    {"ranges", R"(
dim N, C local = 5, K local = 2, L local = 4
input A : f64[N, C]
output a = range(A, K), b = range(A, K, 3), c = range(A, L, 1)
)"},
    {"fused", R"(
dim N, C local = 5, K local = 3
input A : f64[N, C], B : f64[N, K], u : f64[N]
D = range(A, K, 1) * B + u
output D, t = sum(range(A, K) * range(A, K, 2)), rows = max(D, over K), columns = sum(range(A, K, 2), over N)
)"},
    {"at_what_a_loop_says", R"(
dim N, C local = 6, K local = 2
input A : f64[N, C]
S : f64[N, K] = 0
for i in 0..5 { S = S + f64(i) * range(A, K, i) }
output S
)"},
    {"at_what_data_says", R"(
dim N, C local = 6, K local = 2
input A : f64[N, C]
param at = 3
at_last = argmax(sum(A, over N))
begin = if i64(at_last) > 4 then at else i64(at_last)
output begin, S = range(2 * A, K, begin)
)"},
    {"of_what_is_computed", R"(
dim N, C local = 4, K local = 3
input A : f64[N, C]
E = exp(A)
P = E / sum(E, over C)
output P, q = sum(range(P, K, 1), over K), r = range(P, K) - range(P, K, 1)
)"},
    {"several_local_dimensions", R"(
dim N, C local = 3, D local = 4, K local = 2, L local = 3
input A : f64[N, C, D], B : f64[N, K]
output a = range(A, K, 1, over C), b = range(A, L, 1, over D), c = range(range(A, L, 0, over D), K, 1, over C)
output d = sum(range(A, K, 0, over C) * B)
)"},
    {"in_front_of_the_cut_one", R"(
dim N, C local = 4, K local = 2
input A : f64[C, N]
output a = range(A, K, 1) * 3, b = sum(range(A, K, 2), over N)
)"},
    {"beside_a_whole_one", R"(
dim N, M, C local = 4, K local = 2
input A : dense f64[N, M, C], u : f64[M]
output a = range(A, K, 1), b = sum(range(A, K, 2) * u, over N)
)"},
    {"shareds", R"(
dim F local = 5, G local = 3, C local = 4, K local = 2
input W : f64[F, C], v : f64[F]
output a = range(W, K, 2, over C), b = range(W, G, 1, over F), c = range(v, G, 2) * 2, d = range(v, G)
)"},
    {"elements", R"(
dim N, C local = 4, K local = 3
input A : [f64; 2][N, C], B : i32[N, C], T : bool[N, C]
output a = range(A, K, 1), b = range(B, K), c = range(T, K, 1), n = sum(range(B, K) + range(B, K, 1))
)"},
    {"of_products_of_the_slaves", R"(
dim N, C local = 4, K local = 2
input G : f64[N, N], A : dense f64[N, C]
P = G @ A
output p = range(P, K, 1), q = G @ range(P, K, 2), r = G' @ range(A, K), s = G @ (range(A, K, 2) * range(A, K))
)"},
    {"of_a_product_with_it", R"(
dim N, F local = 5, K local = 3
input X : f64[N, F], V : f64[K, F]
output p = range(X, K, 1)' @ X
)"},
    {"a_chain_over_a_range", R"(
dim N, F local = 6, C local = 4, K local = 3
input X : f64[N, F], P : f64[N, C], V : f64[F, K]
Q = range(P, K) * (X @ V)
output H = X' @ (Q - range(P, K) * sum(Q, over K)), t = sum(P), u = sum(range(P, K, 1), over N)
)"},
    {"a_chain_with_a_range_of_its_own", R"(
dim N, F local = 6, C local = 4, K local = 3
input X : f64[N, F], V : f64[F, C], begin_at : f64[K]
param at = 1
E = exp(X @ V)
P = E / sum(E, over C)
R = range(P, K, at)
output H = X' @ (R * R), h = X' @ range(P, K), t = sum(range(P, K, 1) - R), R
)"},
    {"a_chain_that_brings_a_range_back", R"(
dim N, F local = 6, C local = 4, K local = 2
input X : f64[N, F], P : f64[N, C], v : f64[F]
s = X @ v
output H = X' @ range(P, K, 1), h = X' @ (s * s), Z = range(P, K) * s
)"},
    {"a_chain_in_single_precision", R"(
dim N, F local = 3, C local = 5, K local = 2
input X : f32[N, F], P : f32[N, C], V : f32[F, K]
Z = floor(4 * X)
Q = floor(range(P, K, 3) * 4) * (Z @ floor(V * 3))
output H = Z' @ Q
)"},
    {"at_an_index", R"(
dim N, C local = 5
input A : f64[N, C], u : f64[N]
param last = 4
output a = at(A, 2), b = sum(at(A, 0) * u), c = at(A, last) - at(A, 3), d = at(2 * A, 1)
)"},
    {"batches", R"(
dim T local = 3, N, F local = 4, K local = 2
input X : f64[T, N, F], W : f64[F, K], y : f64[T, N]
V = W
loss = 0.0
for t in 0..size(T) {
  B = at(X, t, over T)
  E = sum(B @ V, over K) - at(y, t)
  V = V - 0.1 * (B' @ outer((e, k) -> e * f64(i64(k) + 1), E, index(K)))
  loss = loss + sumsq(E) + sum(at(X, t, over T) * B) + sum(max(B, over F) - min(at(X, 2 - t, over T), over F))
}
output V, loss, last = at(X, size(T) - 1, over T)
)"},
    {"at_what_data_say", R"(
dim T local = 4, N
input A : i64[T, N]
best = i64(argmax(sum(A, over N)))
output best, row = at(A, best), others = A - at(A, best)
)"},
    {"at_of_several_local_dimensions", R"(
dim N, C local = 3, D local = 4, K local = 2
input A : f64[N, C, D], B : f64[C, D, N], u : f64[N]
output a = at(A, 1, over C), b = at(A, 3, over D) * u, c = at(at(A, 2, over C), 0), d = at(range(A, K, 1, over D), 1, over C)
output e = at(B, 2, over C), f = sum(at(B, 0, over D) * u, over N), g = at(at(B, 1, over D), 2)
)"},
    {"at_beside_a_whole_dimension", R"(
dim N, M, C local = 4
input A : dense f64[N, M, C], u : f64[M]
output a = at(A, 1), b = sum(at(A, 2) * u, over N)
)"},
    {"at_of_shareds", R"(
dim F local = 5, C local = 4
input W : f64[F, C], v : f64[F], w : [f64; 3][F]
total = 0.0
for i in 0..size(F) { total = total + at(v, i) * sum(at(W, i, over F)) }
output total, a = at(W, 2, over C), b = at(W, 4, over F) * 2, c = at(v, 3), d = at(w, 1), e = v * at(v, 0)
)"},
    {"at_of_elements", R"(
dim N, C local = 4
input A : [f64; 2][N, C], B : i32[N, C], T : bool[N, C], P : f32[C, N]
output a = at(A, 1), b = at(B, 3), c = at(T, 0), n = sum(at(B, 1) + at(B, 2)), p = at(P, 2), q = sum(map(p -> p[0] * p[1], at(A, 2)))
)"},
    {"at_of_products_of_the_slaves", R"(
dim N, C local = 4
input G : f64[N, N], A : dense f64[N, C]
P = G @ A
output p = at(P, 1), q = G @ at(P, 2), r = G' @ at(A, 0), s = G @ (at(A, 2) * at(A, 3) - at(P, 3))
)"},
    {"a_chain_over_an_index", R"(
dim N, F local = 6, C local = 4, T local = 3
input X : f64[N, F], P : f64[N, C], v : f64[F], V : f64[F, C]
param k = 2
s = at(P, 3) * (X @ v)
E = exp(X @ V)
output h = X' @ (s - at(P, k)), H = X' @ (E * at(E, 1)), t = sum(at(E, k) * s), c = at(E, 0)
)"},
    {"a_chain_over_a_batch", R"(
dim T local = 3, N, F local = 6, K local = 2
input X : f64[T, N, F], Y : f64[T, N, K], V : f64[F, K]
S = V
for t in 0..3 {
  B = at(X, t, over T)
  E = B @ S - at(Y, t, over T)
  S = S - 0.1 * (B' @ E)
}
output S
)"},
    // A vector over F meets the columns, its last dimension, in generated kernels, too.
    {"square_shareds", R"(
dim F local = 5, N
input A : f64[F, F], x : f64[F], X : f64[N, F]
u = A * x
w = fill(1i32, F, F) + i32(10.0 * x)
points = [x, 2.0 * x + A]
output u, w, points, total = sum(X @ (A * x)), ids = if A > x then argmax(x) else argmin(x)
)"},
    // A view on masters, beside work on all indices of a dimension that every worker holds: behind the masters nothing
    // reads the viewed array.
    {"beside_work_on_all", R"(
dim N, M, K local = 3
input x : f64[N], Y : f64[M, K]
a = argmin(fill(2.0, M))
b = argmax(at(Y, 2))
output t = if a == b then 1.0 else 2.0, o = fill(0.5, N, M) * x
)"},
    // Work on masters alone beside a view of what slaves hold, too.
    {"seen_by_masters_alone", R"(
dim N, F local = 2, T local = 3
input G : null[N, N], x : f64[N], X : f64[N, F]
Y = G' @ (X * x)
Z = fill(0.75, T, N) * x
v = fill(1.0, F)
for t in 0..3 {
  v = 0.01 * (Y' @ (Y @ v - at(Z, t)))
}
output v
)"},
    // Ids over the columns of a row: coordinate loops take numbers alone.
    {"least_ids_of_rows", R"(
dim N, F local = 3
input x : f64[N], X : f64[N, F]
m = if X > 0.0 then argmax(x) else argmin(x)
v = X' @ x
output least = reduce(min, m), most = reduce(max, m, over F), v, r = X @ v
)"},
    {"transposed", R"(
dim N, F local = 3, C local = 4, K local = 5
input X : f64[N, F], W : f64[F, C], S : f64[F, F]
output a = W', b = W' * 2, c = X', d = S', e = sum(S' - S), f = sum(X' * X', over F)
)"},
    {"products_of_shareds", R"(
dim F local = 3, H local = 4, K local = 2
input A : f64[F, H], B : f64[H, K], C : f64[K, H], D : f64[H, F], v : f64[H]
output a = A @ B, b = A @ C', c = D' @ B, d = D' @ C', e = A' @ D', f = A' @ A, g = A @ A', h = (A @ B)', i = C @ v
)"},
    {"times_a_transposed_one", R"(
dim N, F local = 5, K local = 3
input X : f64[N, F], C : f64[K, F], W : f64[N, K]
D = -2 * (X @ C') + sum(C * C, over F)
output D, P = D <= min(D, over K), E = X @ (X' @ W), G = X' @ W, H = (X' @ W)'
)"},
    {"sparse_times_a_transposed_one", R"(
dim N, K local = 3
input G : f64[N, N], B : f64[K, N]
output a = G @ B', b = G' @ B'
)"},
};

class ViewPrograms : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(ViewPrograms, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 9, 30); }

Module view_plan(const std::string& text, Strategy strategy = Strategy::greedy) {
  return plan(compile("dim N, F local = 10, C local = 4, K local = 3\n" + text), strategy, SyncMode::hybrid);
}

// The paper's second expression, whole: the Hessian of multinomial regression with one class for reference.
const std::string hessian =
    "input X : f64[N, F], P : f64[N, C], V : f64[F, K]\n"
    "Q = range(P, K) * (X @ V)\noutput H = X' @ (Q - range(P, K) * sum(Q, over K))";

TEST(Views, JoinRegions) {
  EXPECT_EQ(shape(view_plan(hessian).body), "row_chain(mxvt range map reduce map mxv) gather scatter");
  EXPECT_EQ(shape(view_plan("input A : f64[N, C]\noutput t = sum(range(A, K) * range(A, K, 1))").body),
            "iter_on_vec(range range map reduce) gather scatter");
  EXPECT_EQ(
      shape(view_plan("input X : f64[N, F], P : f64[N, C], v : f64[F]\noutput h = X' @ (at(P, 1) * (X @ v))").body),
      "row_chain(mxvt at map mxv) gather scatter");
  // What is read at other places is made before, of a block of rows.
  EXPECT_EQ(shape(view_plan("input A : f64[N, C]\nE = exp(A)\noutput t = sum(range(E, K, 1))").body),
            "rows(map range reduce) gather scatter");
  EXPECT_EQ(shape(view_plan("input A : f64[N, C], v : f64[K]\noutput p = range(A, K, 1) @ v").body),
            "rows(range mxvt)");
  EXPECT_EQ(shape(view_plan("input A : f64[N, C]\noutput t = sum(range(A, K))", Strategy::none).body),
            "range reduce gather scatter");
}

// Actual reads and writes; the model's.
std::string cost(const std::string& text, Strategy strategy) {
  const Module module = view_plan(text, strategy);
  const CostReport report = measure(module);
  const SymbolNames names(module);
  return report.actual.read.text(names) + ", " + report.actual.written.text(names) + "; " +
         report.model.read.text(names) + ", " + report.model.written.text(names);
}

TEST(Views, CostWhatTheyShow) {
  // X 80 N, of the four columns of P three; V and H have 30 numbers on each worker.
  EXPECT_EQ(cost(hessian, Strategy::greedy), "104 N + 240 P, 240 P; 1064 N, 480 N");
  const std::string sum = "input A : f64[N, C]\noutput t = sum(range(A, K))";
  EXPECT_EQ(cost(sum, Strategy::greedy), "24 N, 0; 24 N, 0");
  EXPECT_EQ(cost(sum, Strategy::none), "48 N, 24 N; 48 N, 24 N");
  // Each view by itself, beside its array.
  EXPECT_EQ(cost("input A : f64[N, C], B : f64[N, K]\noutput t = sum(range(A, K) * B - range(A, K, 1)), m = max(A)",
                 Strategy::greedy),
            "104 N, 0; 104 N, 0");
}

// An index of a dimension reads what is at that index and writes nothing; for a product it is copied.
TEST(Views, CostOneIndex) {
  const std::string read = "input X : f64[C, N, F], u : f64[N]\nparam t = 1\n";
  const std::string sum = read + "output s = sum(at(X, t, over C) * u)";
  EXPECT_EQ(shape(view_plan(sum).body), "iter_on_vec(at map reduce) gather scatter");
  EXPECT_EQ(cost(sum, Strategy::greedy), "88 N, 0; 88 N, 0");
  const std::string copied = read + "output s = at(X, t, over C)' @ u";
  EXPECT_EQ(shape(view_plan(copied).body), "rows(at mxv) gather scatter");
}

TEST(Views, StayInALoopThatMayNotTurn) {
  const Module module = view_plan(
      "input A : f64[N, C]\nparam at = 1, turns = 0\ns = 0.0\n"
      "for i in 0..turns { s = s + sum(range(A, K, at)) + sum(at(A, at)) }\noutput s");
  EXPECT_NE(shape(module.body).find("for(rows(range"), std::string::npos) << shape(module.body);
}

TEST(Views, OutsideOfTheirArrayAreRefused) {
  const Module program = compile(
      "dim N, K local, C local\ninput A : f64[N, C], B : f64[N, K]\nparam at = 1\n"
      "output s = sum(range(A, K, at) * B), a = sum(A)");
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 9, 30, 5));
  constexpr std::int64_t room = 1;  // C has 11 indices, K 10
  for (const std::int64_t at : {-1, 0, 1, 1000}) {
    for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
      RunOptions options;
      options.params["at"] = {Word::integer(at)};
      try {
        testing::run_simulated(plan(program, strategy, SyncMode::hybrid), parts, options);
        EXPECT_TRUE(at >= 0 && at <= room) << at;
      } catch (const UserError& error) {
        EXPECT_TRUE(at < 0 || at > room) << error.what();
        EXPECT_NE(std::string(error.what()).find("a range does not lie inside of its array"), std::string::npos);
      }
    }
  }
}

TEST(Views, AtAnIndexOutsideAreRefused) {
  const Module program = compile(
      "dim N, C local\ninput A : f64[N, C], v : f64[C]\nparam i = 1\noutput a = sum(at(A, i)), b = at(v, i), c = v");
  const std::vector<Part> parts = testing::split(testing::random_data(program, 2, 9, 30, 5));
  constexpr std::int64_t size = 10;
  for (const std::int64_t at : {-1, 0, 9, 10, 1000}) {
    for (const Strategy strategy : {Strategy::none, Strategy::greedy}) {
      RunOptions options;
      options.params["i"] = {Word::integer(at)};
      try {
        testing::run_simulated(plan(program, strategy, SyncMode::hybrid), parts, options);
        EXPECT_TRUE(at >= 0 && at < size) << at;
      } catch (const UserError& error) {
        EXPECT_TRUE(at < 0 || at >= size) << error.what();
        EXPECT_NE(std::string(error.what()).find("an index does not lie inside of its array"), std::string::npos);
      }
    }
  }
}

TEST(Views, PrintAndReadAlike) {
  const std::string text = print_module(view_plan(hessian + ", T = V', t = at(P, 2)"));
  EXPECT_NE(text.find("at[C] %P, %index : f64[N] @part"), std::string::npos) << text;
  EXPECT_NE(text.find("range[K of C] %P, %begin : f64[N,K] @part"), std::string::npos) << text;
  EXPECT_NE(text.find("transpose %V : f64[K,F] @cons"), std::string::npos) << text;
  EXPECT_EQ(print_module(parse_module(text, "t.kir")), text);
}

INSTANTIATE_TEST_SUITE_P(Programs, ViewPrograms, ::testing::ValuesIn(view_programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

}  // namespace
}  // namespace kasen
