// The search for fusion plans (Boehm et al., VLDB 2018, section 4) against other ways to count: its costs against the
// paper's recursion, the pruned search against all plans of random DAGs, cut sets, and the end of a budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "libopt/fusion/explore.h"
#include "libopt/selection/select.h"
#include "tests/opt/fusion_dags.h"

namespace kasen::fusion {
namespace {

using testing::DagBuilder;

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
      if (row(entry.type).joins(dag_, id) || (within == nullptr ? !is_valid(entry.close) : is_closed(entry.close)))
        continue;
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

TEST(FusionSearch, CostIsThePapersRecursion) {
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

TEST(FusionSearch, PrunedSearchFindsTheOptimum) {
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
TEST(FusionSearch, PrunedSearchFindsTheOptimumOfLargePartitions) {
  const auto check = [](const Dag& dag, const Memo& memo, const Partition& partition) {
    const double best = cheapest_of_all(dag, memo, partition, {});
    const SearchResult found = cheapest_plan(dag, memo, partition, {});
    EXPECT_TRUE(alike(found.seconds, best)) << found.seconds << " and " << best;
    EXPECT_TRUE(found.exact);
  };
  EXPECT_GT(for_random_partitions(200, check, {12, 15, 24}), 20);
}

TEST(FusionSearch, OptimumHoldsUnderConstraintsAndOverTheNetwork) {
  const CostRules cluster{.processes = 4, .memory = 5e8, .local = 1e8, .columns = 100};
  (void)for_random_partitions(150, [&](const Dag& dag, const Memo& memo, const Partition& partition) {
    const double best = cheapest_of_all(dag, memo, partition, cluster);
    const double found = cheapest_plan(dag, memo, partition, cluster).seconds;
    EXPECT_TRUE(found == best || alike(found, best)) << found << " and " << best;
  });
}

TEST(FusionSearch, CostIsNeverMoreThanAHeuristics) {
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

TEST(FusionSearch, EveryOperatorRunsOnceItsInputsAreThere) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Dag dag = random_dag(seed, 5 + static_cast<int>(seed % 20));
    for (const Selector selector : {Selector::none, Selector::fuse_all, Selector::fuse_no_redundancy, Selector::cost}) {
      const Selection made = select(dag, explore(dag), selector, {}, {.budget = 200});
      std::set<NodeId> stored;
      for (const PlanOperator& op : made.operators) {
        for (const NodeId root : op.roots) EXPECT_TRUE(stored.insert(root).second) << shown(root);
      }
      for (const NodeId id : dag.ids()) {
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

TEST(FusionSearch, CutSetsSolveStagesApart) {
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

TEST(FusionSearch, TheBudgetEndsASearchAndKeepsTheHeuristics) {
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
