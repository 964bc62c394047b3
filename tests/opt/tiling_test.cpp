// The searches of tiling graphs against all assignments, the paper's examples, and each other.
#include <gtest/gtest.h>

#include <cmath>

#include "libcore/base/error.h"
#include "tests/opt/tiling_graphs.h"

namespace kasen::tiling {
namespace {

using testing::below;
using testing::BruteForce;
using testing::ProgramGraph;

void expect_consistent(const Graph& graph, const Solution& solution, const Limits& limits) {
  ASSERT_EQ(solution.choices.size(), graph.size());
  if (solution.cost == forbidden) return;
  EXPECT_EQ(graph.cost(solution.choices), solution.cost);
  EXPECT_EQ(graph.memory(solution.choices), solution.memory);
  EXPECT_LE(solution.memory, limits.memory);
}

void expect_best(const Graph& graph, const Limits& limits) {
  const BruteForce all(graph, limits.memory);
  const Solution best = exact(graph, limits), dearest = worst(graph, limits);
  const Solution fast = greedy(graph, limits), ordered = in_order(graph, limits);
  for (const Solution* one : {&best, &dearest, &fast, &ordered}) expect_consistent(graph, *one, limits);
  EXPECT_EQ(best.cost, all.least);
  EXPECT_EQ(best.bound, best.cost);
  if (all.least == forbidden) {
    for (const Solution* none : {&dearest, &fast, &ordered}) EXPECT_EQ(none->cost, forbidden);
    return;
  }
  EXPECT_EQ(dearest.cost, all.most);
  for (const Solution* start : {&fast, &ordered, &dearest}) {
    EXPECT_GE(start->cost, best.cost);
    EXPECT_LE(start->cost, dearest.cost);
    const Solution better = improved(graph, *start, limits);
    expect_consistent(graph, better, limits);
    EXPECT_LE(better.cost, start->cost);
    EXPECT_GE(better.cost, best.cost);
  }
}

Limits random_budget(std::mt19937& random, const Graph& graph) {
  Limits limits;
  if (below(random, 2) == 0) limits.memory = static_cast<double>(below(random, 2 * graph.size() + 2));
  return limits;
}

// Half of the graphs have a budget. One without any effect would let assignments pass that take too much.
TEST(Tiling, ExactEqualsBruteForce) {
  std::mt19937 random(1);
  for (int i = 0; i < 10000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const Graph graph = testing::random_graph(random, i % 50 == 0 ? 1 << 16 : 1 << 12, 3 + below(random, 30));
    expect_best(graph, random_budget(random, graph));
  }
}

// With tables of at most 1 to 8 entries, branch and bound has to find the same, with a price for memory too. Cut off,
// it has a bound that holds.
TEST(Tiling, BranchAndBoundEqualsBruteForce) {
  std::mt19937 random(2);
  std::size_t open = 0;
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const Graph graph = testing::random_graph(random, 1 << 9, 3 + below(random, 30));
    Limits limits = random_budget(random, graph);
    limits.table_entries = std::size_t{1} << below(random, 4);
    expect_best(graph, limits);
    limits.nodes = below(random, 20);
    const Solution cut_off = exact(graph, limits);
    const double least = BruteForce(graph, limits.memory).least;
    expect_consistent(graph, cut_off, limits);
    EXPECT_LE(cut_off.bound, least);
    EXPECT_GE(cut_off.cost, least);
    if (!cut_off.is_certified()) ++open;
  }
  EXPECT_GT(open, 100u);
}

TEST(Tiling, BudgetIsKept) {
  ProgramGraph program(100, true);
  const VariableId a = program.array("A");
  program.map({a, program.transpose(a)});
  EXPECT_EQ(exact(program.graph).cost, 0);
  Limits limits;
  limits.memory = 199;  // A and t(A) are copied together
  EXPECT_EQ(exact(program.graph, limits).cost, 100);
  EXPECT_EQ(exact(program.graph, limits).memory, 0);
  EXPECT_LE(greedy(program.graph, limits).memory, 199);
  EXPECT_GT(worst(program.graph).memory, 0);
}

// Figure 11: greedy gives C and D rows, since neither costs anything by itself; then A and B cannot please both.
TEST(Tiling, GreedyMissesConflictingViews) {
  constexpr double elements = 1000.0 * 1000.0;
  ProgramGraph program(elements);
  const VariableId a = program.array("A"), b = program.array("B");
  const VariableId c = program.map({a, b}, "C");
  const VariableId d = program.map({program.transpose(a, "t(A)"), program.transpose(b, "t(B)")}, "D");
  program.map({c, d}, "E");
  const Solution best = exact(program.graph), fast = greedy(program.graph);
  EXPECT_EQ(fast.cost, 2 * elements);
  EXPECT_EQ(best.cost, elements);
  EXPECT_TRUE(best.is_certified());
  EXPECT_NE(best.choices[c], best.choices[d]);
  EXPECT_EQ(fast.choices[c], 0u);
  EXPECT_EQ(fast.choices[d], 0u);
}

// A view whose other end is the better judge: greedy looks through it.
TEST(Tiling, GreedyLooksThroughViews) {
  ProgramGraph program(10);
  const VariableId a = program.array("A"), t = program.transpose(a, "t(A)");
  program.graph.add(Factor{{t}, {0, 30}});
  program.graph.add(Factor{{a}, {0, 20}});
  const Solution fast = greedy(program.graph);
  EXPECT_EQ(fast.cost, 20);
  EXPECT_EQ(fast.choices[a], 1u);
}

// The cost of a view counts once: 5 + 20 for the first choice is less than 26.
TEST(Tiling, GreedyCountsAViewOnce) {
  Graph graph;
  const std::vector<Choice> choices{{"x"}, {"y"}};
  const VariableId a = graph.add({"a", choices}), b = graph.add({"b", choices});
  graph.add(Factor{{a, b}, {5, forbidden, forbidden, 0}, true});
  graph.add(Factor{{b}, {20, 26}});
  EXPECT_EQ(greedy(graph).choices[a], 0u);
}

// 0, 2, 4 and 6 are equal, and so are 1, 3 and 5; that 4 and 5 differ shows late. Three change, not four.
TEST(Tiling, DeadEndsAreRepairedByTheFewestChanges) {
  Graph graph;
  const std::vector<Choice> choices{{"x"}, {"y"}};
  std::vector<VariableId> all;
  for (int i = 0; i < 7; ++i) all.push_back(graph.add({"", choices}));
  for (const std::size_t i : {0, 1}) {
    graph.add(Factor{{all[i], all[i + 2]}, {0, forbidden, forbidden, 0}});
    graph.add(Factor{{all[i + 2], all[i + 4]}, {0, forbidden, forbidden, 0}});
  }
  graph.add(Factor{{all[0], all[6]}, {0, forbidden, forbidden, 0}});
  graph.add(Factor{{all[4], all[5]}, {forbidden, 0, 0, forbidden}});
  const Solution ordered = in_order(graph);
  EXPECT_EQ(ordered.cost, 0);
  const auto changed = std::count(ordered.choices.begin(), ordered.choices.end(), 1u);
  EXPECT_EQ(changed, 3);
  EXPECT_EQ(exact(graph).cost, 0);
}

TEST(Tiling, NothingIsAllowed) {
  Graph graph;
  const VariableId a = graph.add({"a", {{"x"}, {"y", 2}}}), b = graph.add({"b", {{"x", 1}, {"y", 3}}});
  Limits limits;
  limits.memory = 0;
  EXPECT_EQ(exact(graph, limits).cost, forbidden);
  EXPECT_TRUE(exact(graph, limits).is_certified());
  graph.add(Factor{{a, b}, {forbidden, forbidden, forbidden, forbidden}});
  for (const auto search : {exact, greedy, in_order, worst}) EXPECT_EQ(search(graph, {}).cost, forbidden);
}

TEST(Tiling, OfEqualChoicesTheFirst) {
  ProgramGraph program;
  program.map({program.array(), program.array()});
  const Assignment first(3, 0);
  for (const auto search : {exact, greedy, in_order}) EXPECT_EQ(search(program.graph, {}).choices, first);
}

TEST(Tiling, SatisfiableClausesCostTwoEach) {
  for (const int clauses : {10, 50, 100, 200}) {
    const int variables = std::max(5, clauses / 4);
    const Graph graph = testing::not_all_equal(
        variables, testing::random_clauses(static_cast<std::uint32_t>(clauses), variables, clauses, true));
    const Solution best = exact(graph);
    EXPECT_EQ(best.cost, 2 * clauses);
    EXPECT_LE(best.bound, best.cost);
    RecordProperty("gap of " + std::to_string(clauses), std::to_string(best.cost - best.bound));
    EXPECT_GE(greedy(graph).cost, best.cost);
  }
}

// 60 clauses over 5 variables leave no assignment.
TEST(Tiling, UnsatisfiableClausesCostMore) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const Solution best = exact(testing::not_all_equal(5, testing::random_clauses(seed, 5, 60, false)));
    EXPECT_GT(best.cost, 2 * 60);
    EXPECT_TRUE(best.is_certified());
  }
}

Graph lattice(std::mt19937& random, std::size_t rows, std::size_t columns) {
  Graph graph;
  const auto join = [&](VariableId a, VariableId b) {
    Factor factor{{a, b}, {}};
    for (int i = 0; i < 9; ++i) factor.costs.push_back(static_cast<double>(below(random, 100)));
    graph.add(std::move(factor));
  };
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const VariableId at = graph.add({"", {{"r"}, {"c", 1}, {"b", 2}}});
      if (column > 0) join(VariableId(at - 1), at);
      if (row > 0) join(VariableId(static_cast<std::size_t>(at) - columns), at);
    }
  }
  return graph;
}

TEST(Tiling, ChainsAndTreesAreCertified) {
  std::mt19937 random(3);
  Graph tree;
  for (int i = 0; i < 500; ++i) {
    const VariableId at = tree.add({"", {{"r"}, {"c", 1}}});
    if (i == 0) continue;
    Factor factor{{VariableId(below(random, static_cast<std::size_t>(i))), at}, {}};
    for (int entry = 0; entry < 4; ++entry) factor.costs.push_back(static_cast<double>(below(random, 100)));
    tree.add(std::move(factor));
  }
  for (const Graph& graph : {lattice(random, 1, 500), tree}) {
    Limits limits;
    EXPECT_TRUE(exact(graph).is_certified());
    EXPECT_LE(exact(graph).cost, improved(graph, greedy(graph)).cost);
    limits.memory = 100;
    const Solution within = exact(graph, limits);
    EXPECT_TRUE(within.is_certified());
    EXPECT_LE(within.memory, 100);
    EXPECT_GT(within.cost, exact(graph).cost);
  }
}

void expect_bounded(const Graph& graph, const std::string& name, const Limits& limits = {}) {
  const Solution best = exact(graph, limits), fast = greedy(graph, limits);
  expect_consistent(graph, best, limits);
  EXPECT_LE(best.bound, best.cost);
  EXPECT_GT(best.bound, 0.5 * best.cost);
  EXPECT_LE(best.cost, fast.cost);
  EXPECT_GE(worst(graph, limits).cost, fast.cost);
  ::testing::Test::RecordProperty("gap of " + name, std::to_string(best.cost - best.bound));
}

TEST(Tiling, LargeGraphsHaveAGap) {
  std::mt19937 random(4);
  const Graph grid = lattice(random, 22, 23);
  expect_bounded(grid, "a grid");
  expect_bounded(testing::random_program(5, 500), "a program");
  Limits limits;
  limits.memory = 100;
  expect_bounded(grid, "a grid within a budget", limits);
}

TEST(Tiling, TwiceTheSame) {
  const Graph graph = testing::random_program(6, 300);
  const Solution once = exact(graph), again = exact(graph);
  EXPECT_FALSE(once.is_certified());
  EXPECT_EQ(again.choices, once.choices);
  EXPECT_EQ(again.bound, once.bound);
}

TEST(Tiling, ProgramsOfFortyOperatorsAreCertified) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const bool has_copies = seed % 2 == 1;
    Limits limits;
    if (has_copies) limits.memory = 5 << 20;
    const Graph graph = testing::random_program(seed, 40, has_copies);
    EXPECT_TRUE(exact(graph, limits).is_certified());
    EXPECT_GE(greedy(graph, limits).cost, exact(graph, limits).cost);
  }
}

TEST(Tiling, MisuseIsABug) {
  Graph graph;
  EXPECT_THROW(graph.add(Variable{"none", {}}), InternalError);
  EXPECT_THROW(graph.add(Variable{"negative", {{"x", -1}}}), InternalError);
  const VariableId a = graph.add({"a", {{"x"}, {"y"}}});
  EXPECT_THROW(graph.add(Factor{{a}, {1}}), InternalError);
  EXPECT_THROW(graph.add(Factor{{a}, {1, -1}}), InternalError);
  EXPECT_THROW(graph.add(Factor{{a}, {1, std::nan("")}}), InternalError);
  EXPECT_THROW(graph.add(Factor{{a, a}, {1, 1, 1, 1}}), InternalError);
  EXPECT_THROW(graph.add(Factor{{VariableId(7)}, {1, 1}}), InternalError);
  EXPECT_THROW(graph.add(Factor{{a}, {1, 1}, true}), InternalError);
  EXPECT_THROW((void)improved(graph, {}), InternalError);
}

}  // namespace
}  // namespace kasen::tiling
