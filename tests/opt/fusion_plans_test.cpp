// Selection of fusion plans (Boehm et al., VLDB 2018, section 4): partitions, and the patterns for which the paper says
// that heuristics go wrong. fusion_search_test.cpp holds the search against other ways to count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libopt/fusion/explore.h"
#include "libopt/selection/select.h"
#include "tests/opt/fusion_dags.h"

namespace kasen::fusion {
namespace {

using testing::DagBuilder;

std::vector<int> shown_all(const std::vector<NodeId>& ids) {
  std::vector<int> numbers;
  for (const NodeId id : ids) numbers.push_back(shown(id));
  return numbers;
}

using Numbers = std::vector<int>;

// Operators as "R 4 5 6 <- 1 2 3".
std::vector<std::string> operators_of(const Selection& selection) {
  std::vector<std::string> texts;
  for (const PlanOperator& op : selection.operators) {
    std::string text = op.type ? std::string(1, row(*op.type).letter) : "-";
    for (const int n : shown_all(op.members)) text += ' ' + std::to_string(n);
    text += " <-";
    for (const int n : shown_all(op.inputs)) text += ' ' + std::to_string(n);
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(FusionPartitions, ExpressionTwo) {
  const Dag dag = testing::expression_2();
  const std::vector<Partition> all = partitions(dag, explore(dag));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(shown_all(all[0].nodes), (Numbers{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(shown_all(all[0].roots), (Numbers{11}));
  EXPECT_EQ(shown_all(all[0].inputs), (Numbers{1, 2, 3}));
  EXPECT_EQ(shown_all(all[0].shared), (Numbers{5, 6}));
  std::set<std::pair<int, int>> shared, switches;
  for (const Point& point : all[0].points) {
    if (point.shared) shared.insert({shown(point.from), shown(point.to)});
    if (point.switches) switches.insert({shown(point.from), shown(point.to)});
  }
  EXPECT_EQ(shared, (std::set<std::pair<int, int>>{{6, 5}, {8, 5}, {7, 6}, {9, 6}}));
  // A Cell operator may end at rowSums, and at what the last product reads; their consumers are rows.
  EXPECT_EQ(switches, (std::set<std::pair<int, int>>{{8, 7}, {11, 9}}));
}

TEST(FusionPartitions, ColumnSumsSeparate) {
  // colSums closes every template: what reads it is a partition of its own.
  DagBuilder b({{"n", 1e6}, {"f", 20}});
  const NodeId x = b.read("X", "n", "f"), y = b.read("Y", "n", "f");
  const NodeId sums = b.col_sums(b.times({x, y}));
  b.output(b.cell("u(exp)", {b.cell("b(/)", {sums, sums})}));
  const std::vector<Partition> all = partitions(b.dag, explore(b.dag));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(shown_all(all[0].nodes), (Numbers{3, 4}));
  EXPECT_EQ(shown_all(all[1].nodes), (Numbers{5, 6}));
  EXPECT_EQ(shown_all(all[1].inputs), (Numbers{4}));
}

TEST(FusionPlans, ExpressionTwoIsOnePassOverTheFeatures) {
  const Dag dag = testing::expression_2();
  const Memo memo = explore(dag);
  const Selection best = select(dag, memo, Selector::cost, {});
  EXPECT_EQ(operators_of(best), (Texts{"R 4 5 6 7 8 9 10 11 <- 1 2 3"}));
  EXPECT_TRUE(best.partitions[0].exact);
  EXPECT_EQ(best.partitions[0].evaluated, 2);  // of 64: both heuristics, and nothing can be cheaper
  EXPECT_EQ(operators_of(select(dag, memo, Selector::fuse_all, {})), operators_of(best));
  EXPECT_GT(select(dag, memo, Selector::fuse_no_redundancy, {}).seconds, best.seconds);
  EXPECT_GT(select(dag, memo, Selector::none, {}).seconds, 1.2 * best.seconds);
}

TEST(FusionPlans, ExpressionOneExploitsItsMask) {
  const Dag dag = testing::expression_1();
  const Selection best = select(dag, explore(dag), Selector::cost, {});
  EXPECT_EQ(operators_of(best), (Texts{"O 4 6 7 8 <- 1 2 3"}));
  EXPECT_GT(select(dag, explore(dag), Selector::none, {}).seconds, 50 * best.seconds);
}

// Y + X * (U t(V)): a Cell template that takes up the product of the mask destroys the Outer template below
// (section 4.2, template switches).
TEST(FusionPlans, TemplateSwitchKeepsTheOuterProductSparse) {
  DagBuilder b({{"n", 20000}, {"m", 10000}, {"r", 50}});
  const NodeId y = b.read("Y", "n", "m"), x = b.read("X", "n", "m", 0.001);
  const NodeId u = b.read("U", "n", "r"), v = b.read("V", "m", "r");
  b.output(b.cell("b(+)", {y, b.times({x, b.product(u, b.t(v))})}));
  const Memo memo = explore(b.dag);
  const Selection best = select(b.dag, memo, Selector::cost, {}), all = select(b.dag, memo, Selector::fuse_all, {});
  EXPECT_EQ(operators_of(best), (Texts{"O 6 7 <- 2 3 4", "- 8 <- 1 7"}));
  EXPECT_GT(all.seconds, 5 * best.seconds);
}

// A costly intermediate with two consumers is written once, a cheap one is computed twice.
TEST(FusionPlans, RedundantComputeAgainstMaterialization) {
  const auto chosen = [](double operations) {
    DagBuilder b({{"n", 1e7}});
    const NodeId x = b.read("x", "n"), y = b.read("y", "n"), z = b.read("z", "n");
    const NodeId shared = b.cell("f", {x}, operations);
    b.output(b.sum(b.times({shared, y})));
    b.output(b.sum(b.cell("b(-)", {b.cell("u(exp)", {shared}), z})));
    // Without MAgg, which would compute it once for both.
    Memo memo = explore(b.dag);
    for (Group& group : memo.groups) std::erase_if(group, [](const Entry& e) { return e.type == TemplateId::magg; });
    return operators_of(select(b.dag, memo, Selector::cost, {})).size();
  };
  EXPECT_EQ(chosen(1), 2U);
  EXPECT_EQ(chosen(100), 3U);
}

TEST(FusionPlans, AggregatesJoinOverWhatTheyShare) {
  DagBuilder b({{"n", 10000}, {"m", 1000}});
  const NodeId x = b.read("X", "n", "m"), y = b.read("Y", "n", "m"), z = b.read("Z", "n", "m");
  b.output(b.sum(b.times({x, y})));
  b.output(b.sum(b.times({x, z})));
  const Selection best = select(b.dag, explore(b.dag), Selector::cost, {});
  EXPECT_EQ(operators_of(best), (Texts{"M 4 5 6 7 <- 1 2 3"}));

  // Not where one waits for the other, through whatever else.
  DagBuilder c({{"n", 10000}, {"m", 1000}});
  const NodeId cx = c.read("X", "n", "m"), mean = c.read("mean", "n");
  const NodeId first = c.sum(c.times({cx, cx}));
  c.dag[mean].waits = {first};
  c.output(first);
  c.output(c.sum(c.cell("b(-)", {cx, mean})));
  for (const PlanOperator& op : select(c.dag, explore(c.dag), Selector::cost, {}).operators) {
    EXPECT_EQ(op.roots.size(), 1U);
  }
}

// Products with one matrix in one direction read it once together.
TEST(FusionPlans, ProductsJoinOverTheirMatrix) {
  DagBuilder b({{"n", 1e6}, {"m", 1e6}});
  const NodeId x = b.read("X", "n", "m", 1e-5), u = b.read("u", "n"), v = b.read("v", "m"), w = b.read("w", "m");
  b.output(b.product(x, v));
  b.output(b.product(x, w));
  b.output(b.product(b.t(x), u));
  const Memo memo = explore(b.dag);
  for (const Selector selector : {Selector::fuse_all, Selector::fuse_no_redundancy, Selector::cost}) {
    EXPECT_EQ(operators_of(select(b.dag, memo, selector, {})), (Texts{"P 5 6 <- 1 3 4", "R 7 8 <- 1 2"}));
  }
  EXPECT_EQ(operators_of(select(b.dag, memo, Selector::none, {})).size(), 3U);

  // Not where the second one needs the first, be it through what others joined: y = X v and z = X f(a), a and b
  // sums of one array, where b's takes a number that is made of y.
  DagBuilder c({{"n", 1e6}, {"m", 1e6}});
  const NodeId cx = c.read("X", "n", "m", 1e-5), cv = c.read("v", "m"), ca = c.read("a", "m");
  const NodeId y = c.product(cx, cv);
  c.output(y);
  const NodeId sum_a = c.sum(c.times({ca, cv}));
  const NodeId with = c.read("c", "m");
  c.dag[with].waits = {y};
  const NodeId sum_b = c.sum(c.cell("b(-)", {ca, with}));
  const NodeId after = c.read("f(sum)", "m");
  c.dag[after].waits = {sum_a};
  c.output(sum_a);
  c.output(sum_b);
  c.output(c.product(cx, after));
  const Selection best = select(c.dag, explore(c.dag), Selector::cost, {});
  // Either pair may join, but not both.
  EXPECT_EQ(std::count_if(best.operators.begin(), best.operators.end(),
                          [](const PlanOperator& op) { return op.roots.size() == 2; }),
            1);
}

TEST(FusionPlans, ConstraintsAreKept) {
  const Dag dag = testing::expression_2();
  const Memo memo = explore(dag);
  // X is distributed, and its rows are longer than a block: no Row operator over it.
  const CostRules blocks{.processes = 8, .local = 1e8, .columns = 50};
  for (const PlanOperator& op : select(dag, memo, Selector::cost, blocks).operators) {
    const bool over_x = std::find(op.inputs.begin(), op.inputs.end(), 0) != op.inputs.end();
    EXPECT_FALSE(over_x && op.type == TemplateId::row && op.members.size() > 1);
  }
  // Neither X nor anything as large fits: every operator by itself.
  const CostRules tight{.memory = 1000};
  const Selection single = select(dag, memo, Selector::cost, tight);
  EXPECT_EQ(single.seconds, select(dag, memo, Selector::none, tight).seconds);
  EXPECT_TRUE(std::isfinite(single.seconds));
}

// Vector work that is taken up into a distributed operator brings its operands over the network (section 5.5, L2SVM).
TEST(FusionPlans, SidesOfDistributedOperatorsCostNetwork) {
  DagBuilder b({{"n", 1e6}, {"f", 1000}});
  const NodeId x = b.read("X", "n", "f"), w = b.read("w", "f");
  NodeId rows = b.product(x, w);
  NodeId vectors = b.read("v0", "n");
  for (int i = 1; i < 6; ++i) vectors = b.times({vectors, b.read("v" + std::to_string(i), "n")});
  b.output(vectors);  // is needed anyway
  b.output(b.product(b.t(x), b.times({rows, vectors})));
  const CostRules cluster{.processes = 6, .local = 1e9};
  const Memo memo = explore(b.dag);
  const Selection best = select(b.dag, memo, Selector::cost, cluster);
  EXPECT_LT(best.seconds, select(b.dag, memo, Selector::fuse_all, cluster).seconds);
}

}  // namespace
}  // namespace kasen::fusion
