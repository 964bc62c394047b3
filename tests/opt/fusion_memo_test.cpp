// The memo table of fusion plans: the entries that the paper names (Boehm et al., VLDB 2018, section 3), those of the
// patterns of its Figure 1, and one pass over the operators.
#include <gtest/gtest.h>

#include <algorithm>

#include "libopt/fusion/explore.h"
#include "libopt/fusion/from_module.h"
#include "libopt/selection/select.h"
#include "libopt/time/price.h"
#include "tests/opt/fusion_dags.h"
#include "tests/opt/law_support.h"
#include "tests/opt/plan_support.h"

namespace kasen::fusion {
namespace {

using testing::DagBuilder;

// The entries of the operator that people know by this number, in the paper's notation.
std::vector<std::string> entries(const Memo& memo, int number) {
  std::vector<std::string> texts;
  for (const Entry& entry : memo[NodeId(number - 1)]) texts.push_back(text(entry));
  return texts;
}

const Entry& entry_of(const Memo& memo, int number, const std::string& wanted) {
  const Group& group = memo[NodeId(number - 1)];
  const auto at = std::find_if(group.begin(), group.end(), [&](const Entry& e) { return text(e) == wanted; });
  if (at == group.end()) throw InternalError("no entry " + wanted);
  return *at;
}

using Texts = std::vector<std::string>;

TEST(FusionMemo, ExpressionTwoHasThePapersEntries) {
  const Dag dag = testing::expression_2();
  const Memo memo = explore(dag);
  EXPECT_EQ(memo.group_count(), 8);  // "All eight operators are represented by groups"
  EXPECT_EQ(entries(memo, 11), (Texts{"R(-1,9)", "R(10,-1)", "R(10,9)"}));
  EXPECT_EQ(entries(memo, 10), (Texts{"R(-1|x)"}));
  EXPECT_EQ(entries(memo, 9),
            (Texts{"R(-1,-1)", "R(-1,8)", "R(6,-1)", "R(6,8)", "C(-1,-1)", "C(-1,8)", "C(6,-1)", "C(6,8)"}));
  // rowSums closes a Cell template, which would cover a single operator: no C(-1).
  EXPECT_EQ(entries(memo, 7), (Texts{"R(-1)", "R(6)", "C(6)"}));
  EXPECT_EQ(entries(memo, 6), (Texts{"R(-1,-1)", "R(-1,4)", "R(5,-1)", "R(5,4)", "C(-1,-1)"}));
  EXPECT_EQ(entries(memo, 5), (Texts{"R(-1)"}));
  EXPECT_EQ(entries(memo, 4), (Texts{"R(-1,-1)"}));
  for (int input = 1; input <= 3; ++input) EXPECT_TRUE(entries(memo, input).empty());
}

TEST(FusionMemo, ClosingStates) {
  const Memo memo = explore(testing::expression_2());
  EXPECT_EQ(entry_of(memo, 11, "R(10,9)").close, Close::closed_valid);
  EXPECT_EQ(entry_of(memo, 10, "R(-1|x)").close, Close::open_invalid);
  EXPECT_EQ(entry_of(memo, 7, "C(6)").close, Close::closed_valid);
  EXPECT_EQ(entry_of(memo, 7, "R(6)").close, Close::open_valid);
}

TEST(FusionMemo, DominatedEntries) {
  const Dag dag = testing::expression_2();
  const Memo memo = explore(dag);
  EXPECT_TRUE(dominates(dag, entry_of(memo, 11, "R(10,9)"), entry_of(memo, 11, "R(10,-1)")));
  // Operator 6 has several consumers.
  EXPECT_FALSE(dominates(dag, entry_of(memo, 9, "R(6,8)"), entry_of(memo, 9, "R(-1,8)")));
  EXPECT_FALSE(dominates(dag, entry_of(memo, 9, "R(6,8)"), entry_of(memo, 9, "C(6,-1)")));
  const Memo pruned = without_dominated(dag, memo);
  EXPECT_EQ(entries(pruned, 11), (Texts{"R(10,9)"}));
  EXPECT_EQ(entries(pruned, 9), (Texts{"R(-1,8)", "R(6,8)", "C(-1,8)", "C(6,8)"}));
}

TEST(FusionMemo, OuterMasksThroughChains) {
  // Expression (1): O over the product with V, closed since X masks it.
  const Memo als = explore(testing::expression_1());
  EXPECT_EQ(entries(als, 6), (Texts{"O(-1,-1|x)"}));
  EXPECT_EQ(entries(als, 7), (Texts{"O(-1,6)", "O(4,6)", "R(-1,-1)", "R(4,-1)", "C(-1,-1)", "C(4,-1)"}));
  EXPECT_EQ(entries(als, 8)[0], "O(7,-1)");
  EXPECT_EQ(entry_of(als, 8, "O(7,-1)").close, Close::closed_valid);

  // sum(X * log(U t(V) + eps)), Figure 1(d): the mask comes late.
  const auto loss = [](double sparsity) {
    DagBuilder b({{"n", 20000}, {"m", 20000}, {"r", 100}});
    const NodeId x = b.read("X", "n", "m", sparsity), u = b.read("U", "n", "r"), v = b.read("V", "m", "r");
    const NodeId logs = b.cell("log", {b.cell("b(+)", {b.product(u, b.t(v))})});
    b.output(b.sum(b.times({x, logs})));
    return explore(b.dag);
  };
  EXPECT_EQ(entries(loss(0.01), 9), (Texts{"O(8)", "R(8)", "C(8)"}));
  // Without a sparse driver there is nothing to exploit, and no entry.
  EXPECT_EQ(entries(loss(1), 9), (Texts{"R(8)", "C(8)"}));
  EXPECT_EQ(entries(loss(1), 5), (Texts{"O(-1,-1|x)"}));
}

TEST(FusionMemo, OuterIsForLargeProductsAlone) {
  DagBuilder b({{"n", 20000}, {"m", 200}, {"r", 20}});
  const NodeId u = b.read("U", "n", "r"), v = b.read("V", "m", "r");
  b.output(b.product(u, b.t(v)));
  EXPECT_EQ(entries(explore(b.dag), 4), (Texts{"R(-1,-1)"}));  // row by row, as nothing sparse meets it
}

TEST(FusionMemo, CellChainsAndSeveralAggregates) {
  // sum(X * Y * Z), Figure 1(a).
  DagBuilder a({{"n", 1000}, {"m", 1000}});
  const NodeId x = a.read("X", "n", "m"), y = a.read("Y", "n", "m"), z = a.read("Z", "n", "m");
  a.output(a.sum(a.times({a.times({x, y}), z})));
  EXPECT_EQ(entries(explore(a.dag), 6), (Texts{"R(5)", "C(5)"}));

  // sum(X * Y), sum(X * Z), Figure 1(c): together MAgg. A sum over X itself may join, too.
  DagBuilder c({{"n", 1000}, {"m", 1000}});
  const NodeId cx = c.read("X", "n", "m"), cy = c.read("Y", "n", "m"), cz = c.read("Z", "n", "m");
  c.output(c.sum(c.times({cx, cy})));
  c.output(c.sum(c.times({cx, cz})));
  c.output(c.sum(cx));
  const Memo memo = explore(c.dag);
  EXPECT_EQ(entries(memo, 5), (Texts{"R(4)", "C(4)", "M(-1)", "M(4)"}));
  EXPECT_EQ(entries(memo, 7), (Texts{"R(6)", "C(6)", "M(-1)", "M(6)"}));
  EXPECT_EQ(entries(memo, 8), (Texts{"M(-1)"}));
}

TEST(FusionMemo, RowsThroughTwoProducts) {
  // t(X) (w * (X v)), Figure 1(b): vectors of rows merge into the Row template that the first product opens.
  DagBuilder b({{"n", 1000000}, {"f", 10}});
  const NodeId x = b.read("X", "n", "f"), v = b.read("v", "f"), w = b.read("w", "n");
  const NodeId scaled = b.times({w, b.product(x, v)});
  b.output(b.product(b.t(x), scaled));
  const Memo memo = explore(b.dag);
  EXPECT_EQ(entries(memo, 5), (Texts{"R(-1,4)", "C(-1,-1)"}));
  EXPECT_EQ(entries(memo, 7), (Texts{"R(-1,5)", "R(6,-1)", "R(6,5)"}));
}

// A chain of `length` cells over two matrices with an aggregate here and there.
Dag long_dag(int length) {
  DagBuilder b({{"n", 1000}, {"m", 1000}});
  const NodeId x = b.read("X", "n", "m"), y = b.read("Y", "n", "m");
  NodeId last = x;
  for (int i = 0; i < length; ++i) {
    last = b.cell("b(+)", {last, i % 3 == 0 ? y : x});
    if (i % 7 == 6) last = b.times({last, b.row_sums(last)});
  }
  b.output(last);
  return std::move(b.dag);
}

TEST(FusionMemo, OnePassLinearInTheOperators) {
  const Dag small = long_dag(70), large = long_dag(700);
  const Memo a = explore(small), b = explore(large);
  EXPECT_EQ(b.group_count(), 10 * a.group_count());
  EXPECT_LE(b.entry_count(), 10 * a.entry_count() + 100);
  EXPECT_LE(b.asked, 10 * a.asked + 100);
}

TEST(FusionMemo, WideMapsHaveBoundedGroups) {
  DagBuilder b({{"n", 1000}});
  std::vector<NodeId> parts;
  for (int i = 0; i < 12; ++i) parts.push_back(b.cell("u(exp)", {b.read("x" + std::to_string(i), "n")}));
  b.output(b.cell("sum", parts));
  EXPECT_EQ(explore(b.dag)[NodeId(b.dag.size() - 1)].size(), size_t{1} << most_choices);
}

TEST(FusionMemo, AnOperandThatIsReadTwiceIsTakenUpOnce) {
  DagBuilder b({{"n", 1000}});
  const NodeId e = b.cell("u(exp)", {b.read("x", "n")});
  b.output(b.times({e, e}));
  EXPECT_EQ(entries(explore(b.dag), 3), (Texts{"C(-1,-1)", "C(2,2)"}));
}

std::vector<BlockDag> dags_of(const std::string& text) {
  TrialLawChecker laws;
  const Module module = before_fusing(compile(text), laws, {});
  Pricing pricing({}, {});
  return fusion_dags(module, pricing.time_case(module));
}

TEST(FusionMemo, ProgramsOfTheIr) {
  const std::vector<BlockDag> dags = dags_of(
      "dim N\ndim F local\ninput X : f64[N, F], y : f64[N]\nw : f64[F] = 0\n"
      "for turn in 0..20 {\n  e = X @ w - y\n  w = w - 0.1 * (X' @ (e * e))\n}\noutput w\n");
  ASSERT_EQ(dags.size(), 1U);
  const Dag& dag = dags[0].dag;
  const Memo memo = explore(dag);
  const NodeId last(dag.size() - 1);
  ASSERT_EQ(dag[last].op, "mxv");
  // Read: X, w, y; then the product, what is made of its rows, the view t(X), and the product over the columns.
  EXPECT_EQ(entries(memo, 4), (Texts{"R(-1,-1)"}));
  EXPECT_EQ(entries(memo, shown(last)).back().substr(0, 2), "R(");
  EXPECT_EQ(entry_of(memo, shown(last), text(memo[last].back())).references(), 2U);
}

// Written down in the language, where a name makes an operator of its own: the numbers and entries are the paper's.
TEST(FusionMemo, ExpressionTwoAsAProgramHasThePapersEntries) {
  const std::vector<BlockDag> dags = dags_of(
      "dim N, F local = 100, C local = 5, K local = 4\ninput X : f64[N, F], V : f64[F, K], P : f64[N, C]\n"
      "XV = X @ V\nP_k = range(P, K)\nQ = P_k * XV\nS = P_k * sum(Q, over K)\noutput H = X' @ (Q - S)\n");
  ASSERT_EQ(dags.size(), 1U);
  const Dag& dag = dags[0].dag;
  ASSERT_EQ(dag.size(), 11U);
  EXPECT_EQ(dag[NodeId(4)].form, Form::range);
  const Memo memo = explore(dag), paper = explore(testing::expression_2());
  for (int number = 1; number <= 11; ++number) EXPECT_EQ(entries(memo, number), entries(paper, number)) << number;
}

TEST(FusionMemo, TransitionsEndFusion) {
  // The gather of a sparse product's rows stands between it and the map.
  const std::vector<BlockDag> dags = dags_of("dim N\ninput G : f64[N, N]\ninput x : f64[N]\noutput a = 2 * (G @ x)\n");
  ASSERT_EQ(dags.size(), 1U);
  const Memo memo = explore(dags[0].dag);
  for (const NodeId id : dags[0].dag.ids()) {
    for (const Entry& entry : memo[id]) EXPECT_EQ(entry.references(), 0U) << text(entry);
  }
}

// Folds with U t(V) begin Outer, and all work on one matrix in one direction may be one pass.
TEST(FusionMemo, FoldsAreOuterAndPasses) {
  const std::vector<BlockDag> dags = dags_of(
      "dim N, M, K local = 10\ninput X : f64[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]\n"
      "output P = (X / (U @ V')) @ V, r = sum(X * b, over M), c = sum(X * (U @ V'), over N)\n");
  ASSERT_EQ(dags.size(), 1U);
  const Dag& dag = dags[0].dag;
  const Memo memo = explore(dag);
  std::vector<NodeId> folds;
  for (const NodeId id : dag.ids()) {
    if (dag[id].form == Form::fold) folds.push_back(id);
  }
  ASSERT_EQ(folds.size(), 3U);
  const auto texts = [&](NodeId id) {
    std::string all;
    for (const Entry& entry : memo[id]) all += text(entry) + " ";
    return all;
  };
  EXPECT_EQ(texts(folds[0]), "O(-1,-1,-1) P(-1,-1,-1) ");
  EXPECT_EQ(texts(folds[1]), "P(-1,-1) ");
  EXPECT_EQ(texts(folds[2]), "O(-1,-1,-1) ");
  EXPECT_TRUE(are_like_products(dag, folds[0], folds[1]));
  EXPECT_FALSE(are_like_products(dag, folds[0], folds[2]));
}

// Folds of one pass: X and what both read of it are read once, unless that is dearer.
TEST(FusionMemo, FoldsJoinByCost) {
  const std::vector<BlockDag> dags = dags_of(
      "dim N, M, K local = 10\ninput X : f64[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]\n"
      "output P = (X / (U @ V')) @ V, Q = (X * (U @ V')) @ V, r = sum(X * b, over M)\n");
  ASSERT_EQ(dags.size(), 1U);
  const Memo memo = explore(dags[0].dag);
  const auto operators = [&](Selector selector) { return select(dags[0].dag, memo, selector, {}).operators; };
  EXPECT_EQ(operators(Selector::none).size(), 3U);
  const std::vector<PlanOperator> joined = operators(Selector::cost);
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].roots.size(), 3U);
  EXPECT_EQ(joined[0].type, TemplateId::mxm);
}

// Products of several columns join a fold, and not each other.
TEST(FusionMemo, ProductsOfColumnsJoinFolds) {
  const auto operators = [&](const std::string& outputs) {
    const std::vector<BlockDag> dags =
        dags_of("dim N, M, K local = 10\ninput X : f64[N, M], V : f64[M, K], b : f64[M]\noutput " + outputs + "\n");
    return select(dags.at(0).dag, explore(dags[0].dag), Selector::cost, {}).operators.size();
  };
  EXPECT_EQ(operators("P = X @ V, Q = X @ (2 * V)"), 2U + 1U);  // and 2 * V
  EXPECT_EQ(operators("P = X @ V, r = sum(X * b, over M)"), 1U);
  EXPECT_EQ(operators("P = X @ V, p = X @ b, r = sum(X * b, over M)"), 1U);
}

}  // namespace
}  // namespace kasen::fusion
