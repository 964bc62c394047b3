// Swap plans: the figures of Huang's thesis, random graphs against the exact search, and the checks of swap_support.h.
#include <gtest/gtest.h>

#include <iostream>
#include <limits>

#include "libcore/base/error.h"
#include "libopt/swap/bound.h"
#include "libopt/swap/exact.h"
#include "libopt/swap/find.h"
#include "libopt/swap/on_demand.h"
#include "libopt/swap/tasks_json.h"
#include "tests/opt/swap_support.h"

namespace kasen::swap {
namespace {

const Allocation coarse{{0, 0}, {5}};   // five objects of two megabytes
const Allocation fine{{0, 1}, {8, 1}};  // eight of one, one of two
constexpr Links a_unit{1, 1, 2};        // a megabyte a unit of time, each way

Order order_of(std::initializer_list<int> tasks) {
  Order order;
  for (const int task : tasks) order.push_back(TaskId(task));
  return order;
}
const Order left_first = order_of({0, 1, 2, 3, 4}), right_first = order_of({1, 2, 3, 0, 4});

double exact(const TaskGraph& graph, const Order* order, const Allocation& allocation) {
  const std::optional<double> seconds = least_seconds(graph, Sizes(graph), allocation, {a_unit, order});
  EXPECT_TRUE(seconds);
  return seconds.value_or(-1);
}

double planned(const TaskGraph& graph, const Order& order, const Allocation& allocation, const PlanOptions& options) {
  SwapPlan plan;
  EXPECT_TRUE(make_plan(graph, Sizes(graph), order, allocation, options, plan));
  const Timeline timeline = simulate(graph, plan, a_unit);
  Checker(graph, plan, timeline, options).check();
  return timeline.seconds;
}

// Figure 4.1: the best plans of four combinations end in units 6, 7, 6 and 7.
TEST(Swap, FourCombinationsOfAToyNetwork) {
  const TaskGraph toy = toy_network();
  EXPECT_EQ(memory(Sizes(toy), coarse), 10);
  EXPECT_EQ(memory(Sizes(toy), fine), 10);
  EXPECT_EQ(exact(toy, &left_first, coarse), 6);   // (b)
  EXPECT_EQ(exact(toy, &right_first, coarse), 7);  // (c)
  EXPECT_EQ(exact(toy, &right_first, fine), 6);    // (d)
  EXPECT_EQ(exact(toy, &left_first, fine), 7);     // (e)
  EXPECT_EQ(planned(toy, right_first, fine, {.once = true}), 6);
  EXPECT_EQ(planned(toy, left_first, fine, {.once = true}), 7);
}

// Figure 4.3: three tasks in a row, four units of memory. W1 makes room for W3, and W2 for A3, which no move brings.
TEST(Swap, PairsOfMovesOfASmallGraph) {
  TaskGraph graph;
  std::vector<TensorId> w, a;
  for (int i = 1; i <= 3; ++i) {
    w.push_back(graph.add(Tensor{"W" + std::to_string(i), 1, TensorKind::parameter}));
    a.push_back(graph.add(Tensor{"A" + std::to_string(i), 1, TensorKind::made, true}));
  }
  graph.add(Task{"op1", 1, {w[0]}, {a[0]}});
  graph.add(Task{"op2", 1, {w[1], a[0]}, {a[1]}});
  graph.add(Task{"op3", 1, {w[2], a[1]}, {a[2]}});
  SwapPlan plan;
  const PlanOptions options{.once = true, .copies_clean = true};
  ASSERT_TRUE(make_plan(graph, Sizes(graph), program_order(graph), {{0}, {4}}, options, plan));
  std::string moves;
  for (const Move& move : plan.moves) moves += graph.tensors()[move.tensor].name + (move.in ? " in, " : " out, ");
  EXPECT_EQ(moves, "W1 in, W2 in, W1 out, W3 in, W2 out, ");
  const Move &w1_out = plan.moves[2], &w3_in = plan.moves[3], &w2_out = plan.moves[4];
  EXPECT_EQ(w1_out.after_task, 0);  // op1 has used it
  EXPECT_EQ(w3_in.after_move, 2);
  EXPECT_EQ(w2_out.after_task, 1);
  EXPECT_EQ(plan.awaited[2], (std::vector<int>{3, 4}));
}

// Figure 4.5.
TEST(Swap, OrdersCross) {
  const Order first = order_of({1, 2, 5, 3, 4}), second = order_of({2, 3, 4, 1, 5});
  // Numbers of tasks begin at 0 here: 5 tasks more than used.
  const auto crossing = [](Order a, Order b, std::size_t cut) {
    for (Order* order : {&a, &b})
      for (TaskId& task : *order) --task;
    Order made = crossed(a, b, cut);
    for (TaskId& task : made) ++task;
    return made;
  };
  EXPECT_EQ(crossing(second, first, 3), order_of({2, 3, 4, 1, 5}));
  EXPECT_EQ(crossing(first, second, 3), order_of({1, 2, 5, 3, 4}));
}

// Figure 4.6: sizes of 1, 2, 3 and 4 megabytes, 12 megabytes of memory.
TEST(Swap, AllocationsCross) {
  TaskGraph graph;
  for (int bytes = 1; bytes <= 4; ++bytes) graph.add(Tensor{std::to_string(bytes), bytes, TensorKind::parameter});
  const Sizes sizes(graph);
  const Allocation one{{0, 0, 0, 0}, {4}}, other{{0, 1, 1, 1}, {8, 1}};
  EXPECT_EQ(memory(sizes, one), 16);
  EXPECT_EQ(memory(sizes, other), 12);
  const Classes child = crossed(other.classes, one.classes, 2);
  EXPECT_EQ(child, (Classes{0, 1, 1, 1}));  // [1, 2, 1, 1], repaired
  EXPECT_EQ(crossed(one.classes, other.classes, 2), (Classes{0, 0, 1, 1}));
  Allocation made{child, crossed(other, one, 2, child)};
  EXPECT_EQ(made.counts, (Counts{8, 3}));  // [8, 1, 4, 4]
  EXPECT_TRUE(fit(sizes, made, {1, 1}, 12));
  EXPECT_EQ(made.counts, (Counts{4, 2}));
}

TEST(Swap, LargeSizesDoNotOverflow) {
  constexpr std::int64_t large = std::int64_t{1} << 60;
  TaskGraph graph;
  std::vector<TensorId> all;
  for (std::int64_t i = 0; i < 6; ++i)
    all.push_back(graph.add(Tensor{std::to_string(i), large + i, TensorKind::parameter}));
  for (const TensorId tensor : all) graph.add(Task{"reads " + std::to_string(tensor), 1, {tensor}, {}});
  EXPECT_THROW((void)graph.add(Tensor{"more", 2 * large, TensorKind::parameter}), UserError);
  const Sizes sizes(graph);
  Allocation made{{0, 1, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 1}};
  EXPECT_FALSE(fit(sizes, made, {1, 1, 1, 1, 1, 1}, 5 * large));
  EXPECT_TRUE(fit(sizes, made, {0, 0, 0, 0, 0, 1}, 2 * large));
  EXPECT_LE(memory(sizes, made), 2 * large);
}

TEST(Swap, ClassesAreRepairedByTheLeast) {
  EXPECT_EQ(repaired({0, 1, 0, 0}), (Classes{0, 1, 1, 1}));
  EXPECT_EQ(repaired({0, 2, 2}), (Classes{0, 1, 1}));
  EXPECT_EQ(repaired({0, 0, 2, 2}), (Classes{0, 1, 2, 2}));
  Random random(5);
  for (int turn = 0; turn < 10000; ++turn) {
    Classes classes(1 + draw(random, 9));
    for (int& one : classes) one = static_cast<int>(draw(random, 5));
    const Classes made = mutated(repaired(classes), 0.3, random);
    EXPECT_EQ(made.front(), 0);
    for (std::size_t i = 1; i < made.size(); ++i) EXPECT_TRUE(made[i] == made[i - 1] || made[i] == made[i - 1] + 1);
  }
}

// Crossing and mutating keep what stands before what.
TEST(Swap, OrdersStayOrders) {
  Random random(1);
  for (int turn = 0; turn < 100000; ++turn) {
    const TaskGraph graph = random_tasks(random, 2 + draw(random, 12));
    Order a = mutated(graph, program_order(graph), 1, random), b = mutated(graph, a, 0.1, random);
    if (turn % 3 == 0)
      b = turn % 2 == 0 ? depth_first(graph) : turn % 4 == 1 ? least_live(graph) : breadth_first(graph);
    const Order child = crossed(a, b, draw(random, a.size() + 1));
    ASSERT_TRUE(is_order(graph, a) && is_order(graph, b) && is_order(graph, child)) << turn;
  }
}

// An allocation that fits, drawn at random.
Allocation some_allocation(const TaskGraph& graph, const Sizes& sizes, std::int64_t capacity, Random& random) {
  Allocation made;
  made.classes = mutated(Classes(sizes.count(), 0), 0.5, random);
  made.counts =
      mutated(Counts(number_of(made.classes), static_cast<std::int64_t>(graph.tensors().size())), 0.5, random);
  return fit(sizes, made, least_counts(graph, sizes, made.classes), capacity) ? made : Allocation{};
}

// Departs from the planner's rules at random.
void depart(const TaskGraph& graph, Random& random, PlanOptions& options) {
  for (const TaskId task : graph.tasks().ids()) {
    for (int request = 0; request < 4; ++request)
      if (draws(random, 0.1)) options.choices.push_back({task, request, static_cast<int>(1 + draw(random, 4))});
    for (const TensorId tensor : graph.touched(task))
      if (draws(random, 0.1)) options.copies.push_back({task, tensor});
  }
  for (const TensorId tensor : graph.tensors().ids())
    if (graph.tensors()[tensor].kind == TensorKind::parameter && !options.once && draws(random, 0.2))
      options.residents.push_back(tensor);
}

TEST(Swap, PlansOfRandomGraphsHold) {
  Random random(2);
  int planned_ones = 0, moving = 0, bounded = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    const TaskGraph graph = random_tasks(random, 1 + draw(random, 20));
    const Sizes sizes(graph);
    const std::int64_t capacity = graph.least_memory() + static_cast<std::int64_t>(draw(random, 12));
    const Allocation allocation = some_allocation(graph, sizes, capacity, random);
    if (allocation.counts.empty()) continue;
    PlanOptions options{.threshold = static_cast<int>(draw(random, 4)), .once = draws(random, 0.3)};
    options.reluctance = static_cast<int>(draw(random, 4));
    options.victims = draws(random, 0.2) ? Victims::oldest : Victims::belady;
    options.copies_clean = draws(random, 0.1);
    depart(graph, random, options);
    SwapPlan plan;
    ASSERT_TRUE(make_plan(graph, sizes, mutated(graph, program_order(graph), 0.5, random), allocation, options, plan));
    const Links links{1.0 + static_cast<double>(draw(random, 3)), 2, 2.5};
    const Timeline timeline = simulate(graph, plan, links);
    Checker(graph, plan, timeline, options).check();
    const double bound = least_possible(graph, {capacity, links, options.once});
    EXPECT_LE(bound, timeline.seconds + 1e-9);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "graph " << turn;
    ++planned_ones;
    moving += plan.bytes_out > 0 ? 1 : 0;
    bounded += bound > graph.seconds() + 1e-9 ? 1 : 0;
  }
  EXPECT_GT(planned_ones, 10000);
  EXPECT_GT(moving, 3000);
  EXPECT_GT(bounded, 3000);  // by what has to move
}

// Swapping on demand, which plans are compared with, also reads what is whole and newest, and loses nothing.
TEST(Swap, OnDemandRunsRandomGraphs) {
  Random random(6);
  int ran = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const TaskGraph graph = random_tasks(random, 1 + draw(random, 20));
    const std::int64_t capacity = 2 * graph.least_memory() + static_cast<std::int64_t>(draw(random, 6));
    const Order order = turn % 2 == 0 ? program_order(graph) : breadth_first(graph);
    const SwapPlan plan = on_demand(graph, order, capacity);
    const PlanOptions options;
    Checker(graph, plan, simulate(graph, plan, a_unit), options).check();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "graph " << turn;
    ran += plan.bytes_out > 0 ? 1 : 0;
  }
  EXPECT_GT(ran, 500);
}

// The least time with any allocation that fits and cannot grow.
double exact_of_all(const TaskGraph& graph, std::int64_t capacity) {
  const Sizes sizes(graph);
  double least = std::numeric_limits<double>::infinity();
  for (unsigned joins = 0; joins < 1U << (sizes.count() - 1); ++joins) {
    Classes classes{0};
    for (std::size_t i = 1; i < sizes.count(); ++i)
      classes.push_back(classes.back() + static_cast<int>(joins >> (i - 1) & 1U));
    const Counts needs = least_counts(graph, sizes, classes);
    const std::vector<std::int64_t> bytes = object_bytes(sizes, classes);
    const auto each = [&](auto self, Counts counts, std::size_t c, std::int64_t left) -> void {
      if (c + 1 == counts.size()) {
        counts[c] = left / bytes[c];
        if (counts[c] < needs[c]) return;
        const auto found = least_seconds(graph, sizes, {classes, counts}, {{1, 1, 2}, nullptr, 3'000'000});
        if (found) least = std::min(least, *found);
        return;
      }
      for (counts[c] = needs[c]; counts[c] * bytes[c] <= left; ++counts[c])
        self(self, counts, c + 1, left - counts[c] * bytes[c]);
    };
    each(each, Counts(needs.size(), 0), 0, capacity);
  }
  return least;
}

// How much longer plans take than the best ones: of so many random graphs of 3 to `most` tasks.
struct Gaps {
  double mean = 0, worst = 1;
  int equal = 0;

  void add(double found, double least, int graphs) {
    EXPECT_GE(found, least - 1e-9);
    worst = std::max(worst, found / least);
    mean += found / least / graphs;
    equal += found <= least + 1e-9 ? 1 : 0;
  }
};
struct GapsOfSearches {
  Gaps genetic, beam, both;
};
GapsOfSearches gaps_of(int graphs, std::size_t most) {
  Random random(3);
  GapsOfSearches gaps;
  for (int compared = 0; compared < graphs;) {
    const TaskGraph graph = random_tasks(random, 3 + draw(random, most - 2));
    SearchOptions options;
    options.capacity = graph.least_memory() + 2 + static_cast<std::int64_t>(draw(random, 3));
    options.links = a_unit;
    options.plan.once = true;
    options.seed = static_cast<std::uint64_t>(compared);
    options.patience = 60;  // small graphs cost little
    const double least = exact_of_all(graph, options.capacity);
    if (least == std::numeric_limits<double>::infinity()) continue;
    EXPECT_LE(least_possible(graph, {options.capacity, options.links, true}), least + 1e-9);
    for (const auto& [way, gap] :
         {std::pair(Way::genetic, &gaps.genetic), std::pair(Way::beam, &gaps.beam), std::pair(Way::both, &gaps.both)}) {
      const Found found = find_plan(graph, options, {way, {.width = 8}});
      Checker(graph, found.plan, found.timeline, options.plan).check();
      gap->add(found.timeline.seconds, least, graphs);
    }
    ++compared;
  }
  for (const auto& [name, gap] :
       {std::pair("genetic", gaps.genetic), std::pair("beam", gaps.beam), std::pair("both", gaps.both)})
    std::cout << name << " over exact: mean " << gap.mean << ", worst " << gap.worst << ", equal " << gap.equal
              << " of " << graphs << "\n";
  return gaps;
}

// Four layers of 4 bytes each, forward and backward, in 8 bytes. The first one waits for the input. When the backward
// pass begins, 9 bytes have left for the last layer and its gradient; as many come back before the last task begins.
TEST(Swap, BoundsKnowWhatHasToMove) {
  TaskGraph graph;
  std::vector<TensorId> x{graph.add(Tensor{"x0", 4, TensorKind::input})};
  for (int i = 1; i <= 4; ++i) {
    x.push_back(graph.add(Tensor{"x" + std::to_string(i), 4}));
    graph.add(Task{"forward " + std::to_string(i), 1, {x[x.size() - 2]}, {x.back()}});
  }
  TensorId gradient;
  for (std::size_t i = 4; i >= 1; --i) {
    std::vector<TensorId> reads{x[i]};
    if (gradient >= 0) reads.push_back(gradient);
    gradient = graph.add(Tensor{"d" + std::to_string(i), 1});
    graph.add(Task{"backward " + std::to_string(i), 1, reads, {gradient}});
  }
  EXPECT_EQ(least_possible(graph, {8, {1, 1, 2}, false}), 4 + 9 + 9 + 1);
  EXPECT_EQ(least_possible(graph, {8, {2, 1, 3}, false}), 2 + 9 + 4.5 + 1);
  EXPECT_EQ(least_possible(graph, {12, {1, 1, 2}, false}), 4 + 5 + 5 + 1);
  EXPECT_EQ(least_possible(graph, {100, {1, 1, 2}, true}), 4 + 8);
}

TEST(Swap, SearchesComeNearTheExactOne) {
  const GapsOfSearches gaps = gaps_of(40, 8);
  for (const Gaps& gap : {gaps.genetic, gaps.beam, gaps.both}) {
    EXPECT_LE(gap.mean, 1.005);
    EXPECT_GE(gap.equal, 36);
  }
}
TEST(LongSwap, SearchesComeNearTheExactOne) {
  const GapsOfSearches gaps = gaps_of(200, 14);
  for (const Gaps& gap : {gaps.genetic, gaps.beam, gaps.both}) {
    EXPECT_LE(gap.mean, 1.008);
    EXPECT_LE(gap.worst, 1.12);
  }
}

// Small changes to plans of iterations that repeat: what they leave behind is checked, too.
TEST(Swap, SmallChangesHold) {
  Random random(9);
  int better = 0;
  for (int turn = 0; turn < 200; ++turn) {
    const TaskGraph graph = random_tasks(random, 2 + draw(random, 30));
    SearchOptions options;
    options.capacity = graph.least_memory() * 2;
    options.links = a_unit;
    options.plan.once = draws(random, 0.3);
    options.orders = draws(random, 0.8);
    options.allocations = draws(random, 0.8);
    const Found first = beam(graph, options, {1, 1});
    const Found found = improve(graph, options, first.best, {.evaluations = 2000});
    Checker(graph, found.plan, found.timeline, options.plan).check();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "graph " << turn;
    EXPECT_LE(found.timeline.seconds, first.timeline.seconds);
    EXPECT_TRUE(options.orders || found.plan.order == program_order(graph));
    EXPECT_TRUE(options.allocations || found.plan.allocation == first.plan.allocation);
    better += found.timeline.seconds < first.timeline.seconds ? 1 : 0;
  }
  EXPECT_GT(better, 100);
}

SearchOptions little_memory(const TaskGraph& graph) {
  SearchOptions options;
  options.capacity = graph.least_memory() + 6;
  options.links = a_unit;
  return options;
}

// All searches one behind another: equal with any number of threads, within the plans that they may make.
TEST(Swap, SearchesFollowEachOther) {
  Random random(10);
  const TaskGraph graph = random_tasks(random, 60);
  SearchOptions options = little_memory(graph);
  const Found one = find_plan(graph, options, {.plans = 4000});
  options.threads = 3;
  const Found three = find_plan(graph, options, {.plans = 4000});
  EXPECT_EQ(one.plan.order, three.plan.order);
  EXPECT_EQ(one.plan.allocation, three.plan.allocation);
  EXPECT_EQ(one.timeline.seconds, three.timeline.seconds);
  EXPECT_EQ(one.timeline.seconds, one.course.back().best);
  EXPECT_LE(one.course.back().evaluated, 4000);
  for (std::size_t i = 1; i < one.course.size(); ++i) {
    EXPECT_LE(one.course[i].best, one.course[i - 1].best);
    EXPECT_GE(one.course[i].evaluated, one.course[i - 1].evaluated);
  }
  Checker(graph, one.plan, one.timeline, options.plan).check();
}

TEST(Swap, SearchesDoNotDependOnThreads) {
  Random random(4);
  const TaskGraph graph = random_tasks(random, 60);
  SearchOptions options = little_memory(graph);
  options.population = 32;
  options.generations = 8;
  const Found one = search(graph, options);
  options.threads = 3;
  const Found three = search(graph, options);
  EXPECT_EQ(one.plan.order, three.plan.order);
  EXPECT_EQ(one.plan.allocation, three.plan.allocation);
  EXPECT_EQ(one.timeline.seconds, three.timeline.seconds);
  ASSERT_EQ(one.course.size(), three.course.size());
  EXPECT_EQ(one.course.back().worst, three.course.back().worst);
}

TEST(Swap, BeamsDoNotDependOnThreads) {
  Random random(7);
  const TaskGraph graph = random_tasks(random, 60);
  SearchOptions options = little_memory(graph);
  const Found one = beam(graph, options, {4, 600});
  options.threads = 3;
  const Found three = beam(graph, options, {4, 600});
  EXPECT_EQ(one.plan.order, three.plan.order);
  EXPECT_EQ(one.plan.allocation, three.plan.allocation);
  EXPECT_EQ(one.timeline.seconds, three.timeline.seconds);
  EXPECT_LE(one.course.back().evaluated, 600);
  EXPECT_LT(one.timeline.seconds, one.course.front().best);
  Checker(graph, one.plan, one.timeline, options.plan).check();
}

// A beam keeps its best order: more evaluations, with steps of one task, or a part left out give no surprise.
TEST(Swap, BeamsEndByCounts) {
  Random random(8);
  for (int turn = 0; turn < 200; ++turn) {
    const TaskGraph graph = random_tasks(random, 1 + draw(random, 30));
    SearchOptions options;
    options.capacity = graph.least_memory() * 2;
    options.links = a_unit;
    options.orders = draws(random, 0.8);
    options.allocations = draws(random, 0.8);
    const Found found = beam(graph, options, {static_cast<int>(1 + draw(random, 5)), 100});
    Checker(graph, found.plan, found.timeline, options.plan).check();
    ASSERT_FALSE(::testing::Test::HasFailure()) << "graph " << turn;
    EXPECT_LE(found.course.back().evaluated, 100);
    EXPECT_LE(found.timeline.seconds, found.course.front().best);
    EXPECT_TRUE(options.orders || found.plan.order == program_order(graph));
    options.capacity = graph.least_memory() - 1;
    EXPECT_THROW((void)beam(graph, options, {}), UserError);
  }
}

}  // namespace
}  // namespace kasen::swap
