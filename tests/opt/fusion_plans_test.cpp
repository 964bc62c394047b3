// Selection of fusion plans (Boehm et al., VLDB 2018, section 4): partitions, costs against a second way to count them,
// pruned search against all plans, and the patterns for which the paper says that heuristics go wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "libopt/fusion/explore.h"
#include "libopt/fusion/select.h"
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
    for (Group& group : memo.groups) std::erase_if(group, [](const Entry& e) { return row(e.type).joins(); });
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

// ---- against other ways to count ---------------------------------------------------------------------------------

// getPlanCost as the paper words it: recursive, a cost vector handed down, pairs of operators and vectors remembered.
class PaperCost {
 public:
  PaperCost(const Dag& dag, const Memo& memo, const Partition& partition, const Assignment& plan)
      : dag_(dag), memo_(memo), partition_(partition) {
    for (size_t p = 0; p < plan.size(); ++p) {
      if (plan[p] != 0) cut_.insert({partition.points[p].from, partition.points[p].to});
    }
  }

  double operator()() {
    double sum = 0;
    for (const NodeId top : partition_.tops) sum += visit(top, nullptr, nullptr);
    return sum;
  }

 private:
  struct Vector {
    int id;
    double written, seconds = 0;
    std::set<NodeId> members, inputs;
  };

  const Entry* best(NodeId id, const Template* within) {
    const Entry* found = nullptr;
    for (const Entry& entry : memo_[id]) {
      if (row(entry.type).joins() || (within == nullptr ? !is_valid(entry.close) : is_closed(entry.close))) continue;
      if (within != nullptr && !takes(within->id, entry.type)) continue;
      bool valid = true, begins = row(entry.type).open(dag_, id);
      for (const NodeId ref : entry.refs) {
        if (ref == no_node) continue;
        const Entry* below = best(ref, &row(entry.type));
        valid = valid && !cut_.contains({id, ref}) && below != nullptr;
        begins = begins || (below != nullptr && below->type == entry.type);
      }
      const auto rank = [&](const Entry& e) {
        std::set<NodeId> refs(e.refs.begin(), e.refs.end());
        refs.erase(no_node);
        return std::tuple(within != nullptr && e.type != within->id, e.type, -static_cast<int>(refs.size()));
      };
      if (valid && begins && (found == nullptr || rank(entry) < rank(*found))) found = &entry;
    }
    return found;
  }

  double visit(NodeId id, Vector* vector, const Template* within) {
    if (!visited_.insert({id, vector == nullptr ? 0 : vector->id}).second) return 0;
    Vector own{++vectors_, dag_[id].bytes, 0, {}, {}};
    const bool opened = vector == nullptr;
    const Entry* entry = best(id, within);
    if (opened) {
      vector = &own;
      visited_.insert({id, own.id});
    }
    vector->members.insert(id);
    double sum = 0;
    for (size_t i = 0; i < dag_[id].inputs.size(); ++i) {
      const NodeId in = dag_[id].inputs[i];
      if (entry != nullptr && entry->refs[i] != no_node) {
        sum += visit(in, vector, &row(entry->type));
        continue;
      }
      const NodeId stored = dag_.stored(in);
      vector->inputs.insert(stored);
      if (std::binary_search(partition_.nodes.begin(), partition_.nodes.end(), stored)) {
        sum += visit(stored, nullptr, nullptr);
      }
    }
    if (opened) sum += own_cost(own, entry, id);
    return sum;
  }

  double own_cost(const Vector& own, const Entry* entry, NodeId root) {
    PlanOperator op{{root}, {}, {own.members.begin(), own.members.end()}, {own.inputs.begin(), own.inputs.end()}};
    if (entry != nullptr && own.members.size() > 1) op.type = entry->type;
    return seconds(dag_, op, {});
  }

  const Dag& dag_;
  const Memo& memo_;
  const Partition& partition_;
  std::set<std::pair<NodeId, NodeId>> cut_;
  std::set<std::pair<NodeId, int>> visited_;
  int vectors_ = 0;
};

// A random DAG of up to `length` operators over matrices, vectors of rows and a sparse mask.
Dag random_dag(std::uint32_t seed, int length) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  DagBuilder b({{"n", 2e5}, {"m", 600}, {"k", 8}, {"r", 30}});
  std::vector<NodeId> matrices{b.read("X", "n", "m"), b.read("S", "n", "m", 0.01)};
  std::vector<NodeId> rows{b.read("v", "n")};
  const NodeId small = b.read("W", "m", "k"), u = b.read("U", "n", "r"), v = b.read("V", "m", "r");
  std::vector<NodeId> narrow{b.read("P", "n", "k")};
  for (int i = 0; i < length; ++i) {
    const NodeId a = matrices[below(matrices.size())], c = matrices[below(matrices.size())];
    const NodeId p = narrow[below(narrow.size())], w = rows[below(rows.size())];
    const double work = below(8) == 0 ? 40 : 1;
    switch (below(12)) {
      case 0:
        matrices.push_back(b.product(u, b.t(v)));
        break;
      case 1:
        matrices.push_back(b.times({a, c}));
        break;
      case 2:
        matrices.push_back(b.cell("f", {a, c}, work));
        break;
      case 3:
        matrices.push_back(b.cell("g", {a, w}, work));
        break;
      case 4:
        rows.push_back(b.row_sums(a));
        break;
      case 5:
        rows.push_back(b.cell("h", {w, rows[below(rows.size())]}, work));
        break;
      case 6:
        narrow.push_back(b.product(a, small));
        break;
      case 7:
        narrow.push_back(b.cell("f", {p, narrow[below(narrow.size())]}, work));
        break;
      case 8:
        narrow.push_back(b.times({p, w}));
        break;
      case 9:
        rows.push_back(b.row_sums(p));
        break;
      case 10:
        b.output(b.product(b.t(a), below(2) == 0 ? p : w));
        break;
      default:
        b.output(b.sum(below(2) == 0 ? a : p));
        break;
    }
  }
  for (const std::vector<NodeId>& made : {matrices, rows, narrow}) {
    for (const NodeId id : made) {
      if (b.dag[id].form != Form::read && (b.dag[id].consumers.empty() || below(8) == 0)) b.output(id);
    }
  }
  return std::move(b.dag);
}

struct PointCount {
  size_t least = 1, most = 11;
  int operators = 6;  // of the smallest DAG
};

// Calls `check` for each partition, of many random DAGs, with so many points.
template <class Check>
int for_random_partitions(std::uint32_t seeds, Check check, PointCount points = {}) {
  int count = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Dag dag = random_dag(seed, points.operators + static_cast<int>(seed % 12));
    const Memo memo = explore(dag);
    for (const Partition& partition : partitions(dag, memo)) {
      if (partition.points.size() < points.least || partition.points.size() > points.most) continue;
      SCOPED_TRACE(seed);
      check(dag, memo, partition);
      ++count;
    }
  }
  return count;
}

Assignment assignment(size_t points, unsigned bits) {
  Assignment plan;
  for (size_t p = 0; p < points; ++p) plan.push_back(static_cast<char>(bits >> p & 1U));
  return plan;
}

bool alike(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

TEST(RandomFusionPlans, CostIsThePapersRecursion) {
  const int count = for_random_partitions(150, [](const Dag& dag, const Memo& memo, const Partition& partition) {
    const CostRules rules;
    PlanCoster coster(dag, memo, partition, rules);
    for (unsigned i = 0; i < 8; ++i) {
      const Assignment plan = assignment(partition.points.size(), i * 2654435761U >> 7U);
      const double own = coster.cost(plan, coster.whole()), paper = PaperCost(dag, memo, partition, plan)();
      EXPECT_TRUE(alike(own, paper)) << own << " and " << paper;
    }
  });
  EXPECT_GT(count, 100);
}

double cheapest_of_all(const Dag& dag, const Memo& memo, const Partition& partition, const CostRules& rules) {
  PlanCoster coster(dag, memo, partition, rules);
  double best = unlimited;
  for (unsigned bits = 0; bits < 1U << partition.points.size(); ++bits) {
    best = std::min(best, coster.cost(assignment(partition.points.size(), bits), coster.whole()));
  }
  return best;
}

TEST(RandomFusionPlans, PrunedSearchFindsTheOptimum) {
  std::int64_t pruned = 0, all = 0, by_cost = 0, by_structure = 0;
  const int count = for_random_partitions(400, [&](const Dag& dag, const Memo& memo, const Partition& partition) {
    const CostRules rules;
    const double best = cheapest_of_all(dag, memo, partition, rules);
    for (const bool cost : {false, true}) {
      for (const bool structure : {false, true}) {
        const SearchRules search{.by_cost = cost, .by_structure = structure};
        const SearchResult found = cheapest_plan(dag, memo, partition, rules, search);
        EXPECT_TRUE(alike(found.seconds, best)) << cost << structure << ": " << found.seconds << " and " << best;
        EXPECT_TRUE(found.exact);
        (cost ? structure ? pruned : by_cost : structure ? by_structure : all) += found.evaluated;
        if (!cost && !structure) {
          EXPECT_EQ(found.evaluated, std::int64_t{1} << partition.points.size());
        }
      }
    }
  });
  EXPECT_GT(count, 200);
  EXPECT_LT(5 * pruned, 4 * all);
  EXPECT_LT(pruned, by_cost);
  EXPECT_LT(pruned, by_structure);
}

// As large as a search is exact whatever it is told.
TEST(RandomFusionPlans, PrunedSearchFindsTheOptimumOfLargePartitions) {
  const auto check = [](const Dag& dag, const Memo& memo, const Partition& partition) {
    const double best = cheapest_of_all(dag, memo, partition, {});
    const SearchResult found = cheapest_plan(dag, memo, partition, {});
    EXPECT_TRUE(alike(found.seconds, best)) << found.seconds << " and " << best;
    EXPECT_TRUE(found.exact);
  };
  EXPECT_GT(for_random_partitions(200, check, {12, 15, 24}), 20);
}

TEST(RandomFusionPlans, OptimumHoldsUnderConstraintsAndOverTheNetwork) {
  const CostRules cluster{.processes = 4, .memory = 5e8, .local = 1e8, .columns = 100};
  (void)for_random_partitions(150, [&](const Dag& dag, const Memo& memo, const Partition& partition) {
    const double best = cheapest_of_all(dag, memo, partition, cluster);
    const double found = cheapest_plan(dag, memo, partition, cluster).seconds;
    EXPECT_TRUE(found == best || alike(found, best)) << found << " and " << best;
  });
}

TEST(RandomFusionPlans, CostIsNeverMoreThanAHeuristics) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Dag dag = random_dag(seed, 5 + static_cast<int>(seed % 40));
    const Memo memo = explore(dag);
    const SearchRules few{.budget = 200};
    const double best = select(dag, memo, Selector::cost, {}, few).seconds;
    EXPECT_LE(best, select(dag, memo, Selector::fuse_all, {}).seconds);
    EXPECT_LE(best, select(dag, memo, Selector::fuse_no_redundancy, {}).seconds);
  }
}

TEST(RandomFusionPlans, EveryOperatorRunsOnceItsInputsAreThere) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Dag dag = random_dag(seed, 5 + static_cast<int>(seed % 20));
    for (const Selector selector : {Selector::none, Selector::fuse_all, Selector::fuse_no_redundancy, Selector::cost}) {
      const Selection made = select(dag, explore(dag), selector, {}, {.budget = 200});
      std::set<NodeId> stored;
      for (const PlanOperator& op : made.operators) {
        for (const NodeId root : op.roots) EXPECT_TRUE(stored.insert(root).second) << shown(root);
      }
      for (NodeId id = 0; id < dag.size(); ++id) {
        if (dag[id].form == Form::read) stored.insert(id);
        if (dag[id].escapes) {
          EXPECT_TRUE(stored.contains(id)) << shown(id);
        }
      }
      for (const PlanOperator& op : made.operators) {
        for (const NodeId in : op.inputs) EXPECT_TRUE(stored.contains(in)) << shown(in);
      }
    }
  }
}

// Stages of which each reads the one before twice: what a stage gives is a cut.
Dag stages(int count) {
  DagBuilder b({{"n", 1e7}});
  NodeId last = b.cell("start", {b.read("x", "n")}, 30);
  for (int i = 0; i < count; ++i) {
    const NodeId y = b.read("y" + std::to_string(i), "n");
    last = b.cell("b(+)", {b.cell("f", {last, y}, 30), b.cell("g", {b.sum(last), last}, 30)}, 30);
  }
  b.output(last);
  return std::move(b.dag);
}

TEST(FusionPlans, CutSetsSolveStagesApart) {
  const Dag dag = stages(4);
  const Memo memo = explore(dag);
  const std::vector<Partition> all = partitions(dag, memo);
  ASSERT_EQ(all.size(), 1U);
  const CostRules rules;
  const SearchResult plain = cheapest_plan(dag, memo, all[0], rules, {.by_cost = false, .by_structure = false});
  const SearchResult cut = cheapest_plan(dag, memo, all[0], rules, {.by_cost = false, .by_structure = true});
  EXPECT_TRUE(alike(plain.seconds, cut.seconds));
  EXPECT_EQ(plain.evaluated, std::int64_t{1} << all[0].points.size());
  EXPECT_LT(6 * cut.evaluated, 5 * plain.evaluated);
}

TEST(FusionPlans, TheBudgetEndsASearchAndKeepsTheHeuristics) {
  // Each is read by two, every other one is costly: neither heuristic is it, and there are more than 15 points.
  DagBuilder b({{"n", 1e7}});
  std::vector<NodeId> shared;
  for (int i = 0; i < 20; ++i)
    shared.push_back(b.cell("f", {b.read("x" + std::to_string(i), "n")}, i % 2 == 0 ? 60 : 1));
  for (size_t i = 1; i < shared.size(); ++i) b.output(b.cell("g", {shared[i - 1], shared[i]}));
  const Memo memo = explore(b.dag);
  const Selection best =
      select(b.dag, memo, Selector::cost, {}, {.by_cost = false, .by_structure = false, .budget = 400});
  ASSERT_EQ(best.partitions.size(), 1U);
  EXPECT_GT(best.partitions[0].partition.points.size(), 15U);
  EXPECT_FALSE(best.partitions[0].exact);
  EXPECT_EQ(best.partitions[0].evaluated, 400);
  // It was improved before the search.
  EXPECT_LT(best.seconds, select(b.dag, memo, Selector::fuse_all, {}).seconds);
  EXPECT_LT(best.seconds, select(b.dag, memo, Selector::fuse_no_redundancy, {}).seconds);
}

}  // namespace
}  // namespace kasen::fusion
