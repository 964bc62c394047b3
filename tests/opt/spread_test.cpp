// Placements of block operators: small cases by hand, random graphs against the exact search and the lower bound, and
// the checker of spread_support.h.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <iostream>

#include "libcore/base/error.h"
#include "libopt/spread/bound.h"
#include "libopt/spread/exact.h"
#include "libopt/spread/report/report.h"
#include "tests/opt/spread_support.h"

namespace kasen::spread {
namespace {

// ---- graphs of array operators ----

TEST(Spread, TooManyBlockOperators) {
  Arrays arrays(rows_over(2, 2));
  const ArrayId x = arrays.input("X", {30'000}, {15'000});
  arrays.elementwise("Y", "i", {{x, "i"}});
  const std::string text = fault([&] { arrays.elementwise("Z", "i", {{x, "i"}}); }, ExitStatus::limit);
  EXPECT_NE(text.find("20000"), std::string::npos) << text;
  fault([&] { arrays.input("A", {1'000'000, 1'000'000}, {1'000'000, 1'000'000}); }, ExitStatus::limit);
  fault([&] { arrays.input("B", {std::int64_t{1} << 62}, {2}); }, ExitStatus::limit);
  fault([&] { arrays.input("C", {std::int64_t{1} << 40, std::int64_t{1} << 40}, {2, 2}); }, ExitStatus::limit);
}

TEST(Spread, BlocksThatMeetAreCutAlike) {
  Arrays arrays(rows_over(2, 2));
  const ArrayId x = arrays.input("X", {8, 8}, {4, 2}), y = arrays.input("Y", {8}, {2});
  EXPECT_EQ(arrays.array(arrays.elementwise("Z", "ij", {{x, "ij"}, {y, "j"}})).blocks.size(), 8U);
  const std::string text = fault([&] { arrays.elementwise("Z", "ij", {{x, "ij"}, {y, "i"}}); }, ExitStatus::usage);
  EXPECT_NE(text.find("Y"), std::string::npos) << text;
  fault([&] { arrays.whole("inverse", {8, 8}, {x}); }, ExitStatus::usage);
}

// Figure 5: the vertices of each operator.
TEST(Spread, VerticesOfArrayOperators) {
  Arrays arrays(rows_over(2, 2));
  const ArrayId x = arrays.input("X", {8, 8}, {4, 2}), y = arrays.input("Y", {8, 8}, {2, 4});
  std::int64_t last = 0;
  const auto more = [&] {
    const std::int64_t now = arrays.graph().operators();
    return now - std::exchange(last, now);
  };
  arrays.elementwise("-X", "ij", {{x, "ij"}});
  EXPECT_EQ(more(), 8);
  arrays.elementwise("X+Y'", "ij", {{x, "ij"}, {y, "ji"}});  // a transpose is no operator
  EXPECT_EQ(more(), 8);
  arrays.reduce("sum(X, 0)", "j", {x, "ij"});  // in each block, and two sums of four
  EXPECT_EQ(more(), 8 + 2 * 3);
  arrays.contract("X@Y", "ik", {{x, "ij"}, {y, "jk"}});  // 16 results of two products
  EXPECT_EQ(more(), 32 + 16);
  arrays.contract("tensordot(X, Y', 2)", "", {{x, "ij"}, {y, "ji"}});
  EXPECT_EQ(more(), 8 + 7);
  const ArrayId t = arrays.input("T", {8, 8, 4}, {4, 2, 2});
  arrays.contract("ijk,ji->ki", "ki", {{t, "ijk"}, {y, "ji"}});
  EXPECT_EQ(more(), 4 * 2 * 2 + 8);
}

// ---- the simulated cluster ----

// A task needs x from node 0 and z from node 1; a second one needs x on another worker, and then z in the node.
TEST(Spread, LoadsOfASmallPlanByHand) {
  const Cluster cluster{2, 2};
  Graph graph;
  const ObjectId x = graph.add_object("x", 10, WorkerId(0)), z = graph.add_object("z", 4, WorkerId(2));
  const ObjectId a = graph.add_task(Kind::product, "a", {x, z}, 7, WorkerId(2));
  const ObjectId b = graph.add_task(Kind::elementwise, "b", {x, z}, 3, WorkerId(3));
  graph.pin(a);
  graph.pin(b);
  const Plan plan = lshs(graph, cluster, {});
  Loads loads = loads_of(graph, cluster, plan);
  EXPECT_EQ(checked_objective(graph, cluster, plan), loads.objective());
  EXPECT_EQ(loads.between, 10);     // x, once
  EXPECT_EQ(loads.within, 10 + 4);  // x and z from worker 2 to 3, or back
  EXPECT_EQ(loads.nodes[NodeId(0)], (NodeLoad{10'000, 0, 10'000}));
  EXPECT_EQ(loads.nodes[NodeId(1)], (NodeLoad{(4 + 7 + 3 + 10 + 10 + 4) * 1000, 10'000 + 1'400, 1'400}));
  const Bound bound = lower_bound(graph, cluster);  // all is forced
  EXPECT_EQ(bound.memory, loads.memory());
  EXPECT_EQ(bound.in, loads.in());
  EXPECT_EQ(bound.out, loads.out());
  loads = loads_of(graph, {2, 2, 0, true}, lshs(graph, {2, 2, 0, true}, {}));  // with shared memory
  EXPECT_EQ(loads.within, 0);
  EXPECT_EQ(loads.nodes[NodeId(1)].memory, (4 + 7 + 3 + 10) * 1000);
}

// The holder that has sent least, of equal ones the first.
TEST(Spread, CopiesComeFromTheNodeThatSentLeast) {
  const Cluster cluster{4, 1};
  Graph graph;
  const ObjectId x = graph.add_object("x", 10, WorkerId(0));
  std::vector<ObjectId> made;
  for (const int worker : {1, 2, 3}) {
    const ObjectId own = graph.add_object("own", 1, WorkerId(worker));
    made.push_back(graph.add_task(Kind::product, "t", {x, own}, 1, WorkerId(worker)));
    graph.pin(made.back());
  }
  const Plan plan = place_at_owners(graph, cluster);
  ASSERT_EQ(plan.copies.size(), 3U);
  EXPECT_EQ(plan.copies[0], (Copy{x, WorkerId(0), WorkerId(1)}));
  EXPECT_EQ(plan.copies[1], (Copy{x, WorkerId(1), WorkerId(2)}));  // node 0 has sent 10
  EXPECT_EQ(plan.copies[2], (Copy{x, WorkerId(2), WorkerId(3)}));
  EXPECT_EQ(loads_of(graph, cluster, plan).out(), 10'000);
}

TEST(Spread, TriedAndUndonePlacementsLeaveNothing) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Cluster cluster{3, 2, 100, seed % 5 == 0};
    RandomGraphs random(seed);
    const Graph graph = random.graph(cluster, 30, 5);
    Placement placement(graph, cluster, Pairing::local);
    while (!placement.ready().empty()) {
      const VertexId vertex = placement.ready()[static_cast<std::size_t>(random.below(int(placement.ready().size())))];
      const std::vector<Move> moves = placement.moves(vertex, Options::all);
      const Loads before = placement.state().loads();
      const Load objective = placement.state().objective();
      for (const Move& move : moves) {
        placement.try_move(move);
        EXPECT_EQ(placement.state().objective(), move.cost.objective) << seed;
        EXPECT_EQ(placement.state().objective(), placement.state().loads().objective()) << seed;
        placement.undo();
        EXPECT_EQ(placement.state().objective(), objective) << seed;
        EXPECT_TRUE(placement.state().loads().nodes == before.nodes) << seed;
        EXPECT_EQ(placement.state().loads().between, before.between) << seed;
        EXPECT_EQ(placement.state().loads().within, before.within) << seed;
      }
      placement.commit(moves[static_cast<std::size_t>(random.below(int(moves.size())))]);
    }
    checked_objective(graph, cluster, placement.take("random"));
  }
}

// ---- array operators of the paper ----

TEST(Spread, EqualGridsSendNothing) {
  for (const Layout& layout : {rows_over(4, 4), Layout{{4, 4}, {2, 2}, Dealing::packed}}) {
    Arrays arrays(layout);
    const ArrayId x = arrays.input("X", {1000, 100}, {8, 2}), y = arrays.input("Y", {1000, 100}, {8, 2});
    arrays.elementwise("Z", "ij", {{x, "ij"}, {y, "ij"}});
    for (const char* search : {"owner", "lshs", "lshs-all", "ahead=3"}) {
      const Loads loads = placed(arrays, search);
      EXPECT_EQ(loads.between + loads.within, 0) << search;
    }
    EXPECT_GT(placed(arrays, "round-robin").between, 0);
  }
}

// X'Y over row blocks: products stay, and a node sends one block of d x d, but for the result's node. The bound is met.
TEST(Spread, InnerProductSendsABlockOfEachNode) {
  const std::int64_t d = 10;
  for (const int nodes : {2, 4, 16}) {
    Arrays arrays(rows_over(nodes, 4));
    const ArrayId x = arrays.input("X", {6400, d}, {64, 1}), y = arrays.input("Y", {6400, d}, {64, 1});
    arrays.output(arrays.contract("Z", "ij", {{x, "ki"}, {y, "kj"}}));
    for (const char* search : {"lshs", "ahead=2"}) {
      const Loads loads = placed(arrays, search);
      EXPECT_EQ(loads.between, (nodes - 1) * d * d) << search;
      // Each worker's blocks are joined at it; then three partial sums of a node move in it.
      EXPECT_EQ(loads.within, nodes * 3 * d * d) << search;
    }
  }
}

// X Y' over row blocks: block (i, j) lies where X's block i does, so that each node gets the blocks of Y that it lacks.
TEST(Spread, OuterProductSendsOneOperandToAllNodes) {
  Arrays arrays(rows_over(4, 1));
  const ArrayId x = arrays.input("X", {400, 10}, {4, 1}), y = arrays.input("Y", {400, 10}, {4, 1});
  arrays.output(arrays.contract("Z", "ij", {{x, "ik"}, {y, "jk"}}));
  const Loads loads = placed(arrays, "lshs");
  EXPECT_EQ(loads.between, 3 * 400 * 10);
  EXPECT_EQ(loads.in(), 3 * 1000 * element_load);
  EXPECT_EQ(loads.out(), loads.in());  // each node sends its own block on three times, or others do for it
  EXPECT_EQ(loads.objective(), lower_bound(arrays.graph(), {4, 1}).in + loads.memory() + loads.out());
}

// Figure 6: two by two blocks on two nodes. A node needs the other node's two blocks of B: 4 blocks move at least, if
// products stand where their sums end. Sending products instead moves as many.
TEST(Spread, MatrixProductOfTheFigure) {
  Arrays arrays(rows_over(2, 1));
  const ArrayId a = arrays.input("A", {20, 20}, {2, 2}), b = arrays.input("B", {20, 20}, {2, 2});
  arrays.output(arrays.contract("C", "ik", {{a, "ij"}, {b, "jk"}}));
  const Loads loads = placed(arrays, "exact");
  EXPECT_EQ(loads.between, 4 * 100);
  EXPECT_EQ(loads.in(), 2 * 100 * element_load);
  EXPECT_LE(loads.objective(), placed(arrays, "lshs").objective());
  EXPECT_LE(loads.objective(), placed(arrays, "owner").objective());
}

// ---- searches, the exact one and the bound ----

TEST(Spread, RandomPlansLieBetweenBoundAndExact) {
  std::map<std::string, double> regrets;
  int certified = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const Cluster cluster{2 + static_cast<int>(seed % 2), 2 - static_cast<int>(seed % 2),
                          static_cast<int>(seed % 11) * 100, seed % 7 == 0};
    const Graph graph = RandomGraphs(seed).graph(cluster, 6);
    const Bound bound = lower_bound(graph, cluster);
    const Proven least = exact(graph, cluster, {});
    EXPECT_EQ(checked_objective(graph, cluster, least.plan, true), least.objective) << seed;
    EXPECT_LE(bound.objective(), least.bound) << seed;
    EXPECT_LE(least.bound, least.objective) << seed;
    certified += least.is_certified() ? 1 : 0;
    for (const char* search : {"owner", "round-robin", "lshs", "lshs-all", "ahead=2", "ahead=4", "heft"}) {
      const Proven one = find_placement(search, graph, cluster, {});
      EXPECT_EQ(checked_objective(graph, cluster, one.plan), one.objective) << seed << " " << search;
      EXPECT_LE(least.objective, one.objective) << seed << " " << search;
      const Loads loads = loads_of(graph, cluster, one.plan);
      EXPECT_LE(bound.memory, loads.memory()) << seed << " " << search;
      EXPECT_LE(bound.in, loads.in()) << seed << " " << search;
      EXPECT_LE(bound.out, loads.out()) << seed << " " << search;
      regrets[search] += static_cast<double>(one.objective) / static_cast<double>(least.objective) / 200;
    }
  }
  EXPECT_GE(certified, 190);
  std::cout << "certified " << certified << " of 200; mean regret:";
  for (const auto& one : regrets) std::cout << " " << one.first << " " << one.second;
  std::cout << "\n";
  EXPECT_LE(regrets["lshs"], regrets["owner"]);
  EXPECT_LE(regrets["lshs"], regrets["round-robin"]);
}

// Tries all placements of a few operators: every worker, every order of additions, and every way of copies.
class BruteForce {
 public:
  BruteForce(const Graph& graph, const Cluster& cluster) : graph_(graph), cluster_(cluster) {
    for (const ObjectId id : graph.objects().ids())
      if (graph.objects()[id].home >= 0) at_[id] = graph.objects()[id].home, needs_[id];
    visit(0);
  }
  Load best = std::numeric_limits<Load>::max();

 private:
  void visit(int vertex) {
    if (vertex == std::ssize(graph_.vertices())) return leaf();
    const Vertex& one = graph_.vertices()[VertexId(vertex)];
    if (one.kind == Kind::sum) return add(vertex, one.inputs, 0);
    run(one.inputs, one.output, one.pinned ? int{one.owner} : -1, [&] { visit(vertex + 1); });
  }
  void add(int vertex, const std::vector<ObjectId>& terms, std::size_t additions) {
    if (terms.size() == 1) return visit(vertex + 1);
    const Vertex& one = graph_.vertices()[VertexId(vertex)];
    for (std::size_t i = 0; i < terms.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        std::vector<ObjectId> rest{graph_.partial(VertexId(vertex), additions)};
        for (std::size_t t = 0; t < terms.size(); ++t)
          if (t != i && t != j) rest.push_back(terms[t]);
        run({terms[i], terms[j]}, rest.front(), terms.size() == 2 && one.pinned ? int{one.owner} : -1,
            [&] { add(vertex, rest, additions + 1); });
      }
    }
  }
  void run(const std::vector<ObjectId>& inputs, ObjectId result, int only, const std::function<void()>& go_on) {
    for (int worker = 0; worker < cluster_.size(); ++worker) {
      if (only >= 0 && worker != only) continue;
      at_[result] = WorkerId(worker);
      for (const ObjectId input : inputs) needs_[input].push_back(WorkerId(worker));
      go_on();
      for (const ObjectId input : inputs) needs_[input].pop_back();
      at_.erase(result);
    }
  }

  void leaf() {
    const auto nodes = static_cast<std::size_t>(cluster_.nodes);
    std::vector<Load> memory(nodes), in(nodes), out(nodes);
    std::vector<std::pair<ObjectId, std::vector<int>>> away;  // nodes that need it beside the maker's, which is first
    for (const auto& [object, worker] : at_) {
      const Load load = graph_.elements(object) * 1000;
      std::map<int, std::set<int>> workers;
      workers[worker / cluster_.workers].insert(worker);
      const int home = worker / cluster_.workers;
      for (const WorkerId one : needs_[object]) workers[one / cluster_.workers].insert(one);
      away.push_back({object, {home}});
      for (const auto& [node, here] : workers) {
        const auto n = static_cast<std::size_t>(node);
        const auto copies = static_cast<Load>(cluster_.shared ? 1 : here.size());
        memory[n] += copies * load;
        in[n] += (copies - 1) * load / 1000 * cluster_.intra + (node == home ? 0 : load);
        out[n] += (copies - 1) * load / 1000 * cluster_.intra;
        if (node != home) away.back().second.push_back(node);
      }
    }
    const auto most = [](const std::vector<Load>& all) { return *std::max_element(all.begin(), all.end()); };
    best = std::min(best, most(memory) + most(in) + least_out(away, 0, 1, {}, out));
  }

  // Every node but the first gets it from some other one: all such choices that lead back to the first one.
  Load least_out(const std::vector<std::pair<ObjectId, std::vector<int>>>& away, std::size_t at, std::size_t child,
                 std::map<int, int> from, std::vector<Load> out) {
    if (at == away.size()) return *std::max_element(out.begin(), out.end());
    const auto& [object, nodes] = away[at];
    if (child == nodes.size()) {
      for (std::size_t i = 1; i < nodes.size(); ++i) {
        int node = nodes[i];
        for (std::size_t steps = 0; node != nodes[0]; node = from[node])
          if (++steps > nodes.size()) return std::numeric_limits<Load>::max();
      }
      return least_out(away, at + 1, 1, {}, out);
    }
    Load least = std::numeric_limits<Load>::max();
    for (const int sender : nodes) {
      if (sender == nodes[child]) continue;
      from[nodes[child]] = sender;
      std::vector<Load> more = out;
      more[static_cast<std::size_t>(sender)] += graph_.elements(object) * 1000;
      least = std::min(least, least_out(away, at, child + 1, from, more));
    }
    return least;
  }

  const Graph& graph_;
  const Cluster& cluster_;
  std::map<ObjectId, WorkerId> at_;
  std::map<ObjectId, std::vector<WorkerId>> needs_;
};

TEST(Spread, ExactAgreesWithAllPlacements) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Cluster cluster{3, 1 + static_cast<int>(seed % 2), 300, seed % 5 == 0};
    const Graph graph = RandomGraphs(seed).graph(cluster, cluster.workers == 1 ? 4 : 3);
    const Proven least = exact(graph, cluster, {});
    EXPECT_TRUE(least.is_certified()) << seed;
    EXPECT_EQ(least.objective, BruteForce(graph, cluster).best) << seed;
  }
  // Sums of four blocks have trees of both forms, and additions that do not need each other.
  for (unsigned seed = 1; seed <= 40; ++seed) {
    RandomGraphs random(seed);
    const Cluster cluster{3, 1};
    Graph graph;
    std::vector<ObjectId> terms;
    for (int i = 0; i < 4; ++i) terms.push_back(graph.add_object("x", 2, WorkerId(random.below(3))));
    std::swap(terms[0], terms[static_cast<std::size_t>(random.below(4))]);
    for (int i = 0; i < 3; ++i) graph.add_object("memory", 1 + random.below(12), WorkerId(i));
    const ObjectId sum = graph.add_sum("s", terms, WorkerId(random.below(3)));
    if (random.below(2) == 0) graph.pin(sum);
    const Proven least = exact(graph, cluster, {});
    EXPECT_TRUE(least.is_certified()) << seed;
    EXPECT_EQ(least.objective, BruteForce(graph, cluster).best) << seed;
  }
}

TEST(Spread, ExactEndsByCountsWithAGap) {
  const Cluster cluster{2, 2};
  int open = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Graph graph = RandomGraphs(seed).graph(cluster, 7);
    const Proven least = exact(graph, cluster, {});
    for (const std::int64_t nodes : {1, 30, 1000}) {
      SearchOptions options;
      options.exact_nodes = nodes;
      const Proven part = exact(graph, cluster, options);
      EXPECT_LE(part.nodes, nodes);
      EXPECT_GE(part.objective, least.objective) << seed;
      EXPECT_LE(part.bound, least.objective) << seed;
      open += part.is_certified() ? 0 : 1;
      checked_objective(graph, cluster, part.plan, true);
    }
  }
  EXPECT_GT(open, 0);
  const Graph large = RandomGraphs(1).graph({2, 2}, 65);
  EXPECT_NE(fault([&] { (void)exact(large, {2, 2}, {}); }, ExitStatus::limit).find("64"), std::string::npos);
}

// Sums of blocks that lie anywhere. Every worker with terms has to send one block at least, and every node one block to
// another node, but for those where the sum ends. Where no term lies, two blocks come. Local pairs need no more. Terms
// in order do.
TEST(Spread, LocalPairsMoveLeast) {
  std::int64_t local_moved = 0, order_moved = 0;
  int worse = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    RandomGraphs random(seed);
    const Cluster cluster{1 + random.below(6), 1 + random.below(4)};
    const auto owner = WorkerId(random.below(cluster.size()));
    Graph graph;
    std::vector<ObjectId> terms;
    std::set<int> workers, nodes;
    bool owner_has = false, node_has = false;
    for (int i = 0; i < 2 + random.below(30); ++i) {
      const auto worker = WorkerId(random.below(cluster.size()));
      terms.push_back(graph.add_object("x", 5, worker));
      const NodeId node = cluster.node_of(worker);
      worker == owner ? void(owner_has = true) : void(workers.insert(worker));
      node == cluster.node_of(owner) ? void(node_has = true) : void(nodes.insert(node));
    }
    graph.pin(graph.add_sum("s", terms, owner));
    const std::ptrdiff_t all = std::max<std::ptrdiff_t>(std::ssize(workers), owner_has ? 0 : 2);
    const std::ptrdiff_t between = std::max<std::ptrdiff_t>(std::ssize(nodes), node_has ? 0 : 2);
    for (const char* search : {"lshs", "ahead=2"}) {
      SearchOptions options;
      const Plan plan = find_placement(search, graph, cluster, options).plan;
      checked_objective(graph, cluster, plan);
      const Loads local = loads_of(graph, cluster, plan);
      options.pairing = Pairing::in_order;
      const Loads order = loads_of(graph, cluster, find_placement(search, graph, cluster, options).plan);
      EXPECT_LE(local.between, order.between) << seed << " " << search;
      EXPECT_LE(local.between * 10 + local.within, order.between * 10 + order.within) << seed << " " << search;
      EXPECT_EQ(local.between, between * 5) << seed << " " << search;
      EXPECT_EQ(local.between + local.within, all * 5) << seed << " " << search;
      worse += local.objective() > order.objective() ? 1 : 0;
      local_moved += local.between;
      order_moved += order.between;
    }
  }
  EXPECT_LT(local_moved * 2, order_moved);
  // Memory is never given back, so that additions far from their terms can even out the memory of nodes.
  std::cout << "objective of local pairs above that of terms in order: " << worse << " of 600\n";
}

TEST(Spread, EqualSeedsGiveEqualPlans) {
  const Arrays arrays = newton_step(rows_over(4, 4), 6400, 8, 32);
  const Cluster cluster{4, 4};
  SearchOptions options, other;
  other.seed = 2;
  for (const char* search : {"owner", "round-robin", "lshs", "lshs-all", "ahead=2", "heft"}) {
    const Plan plan = find_placement(search, arrays.graph(), cluster, options).plan;
    EXPECT_TRUE(plan == find_placement(search, arrays.graph(), cluster, options).plan) << search;
    const bool is_drawn = std::string(search).find_first_of("=") != std::string::npos || plan.search.find("lshs") == 0;
    EXPECT_EQ(plan == find_placement(search, arrays.graph(), cluster, other).plan, !is_drawn) << search;
  }
}

// ---- reports ----

TEST(Spread, ReportsSayWhatPlansDo) {
  const Arrays arrays = newton_step(rows_over(2, 2), 640, 4, 8);
  const Comparison all = compare("newton", arrays.graph(), {2, 2}, {"all"}, {});
  ASSERT_EQ(all.found.size(), 6U);  // too large for the exact search
  const std::string text = comparison_text(all);
  for (const char* word :
       {"owner", "round-robin", "lshs", "ahead=2", "heft", "bound", "regret", "2 nodes of 2 workers"})
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  double least = 2;
  for (std::size_t i = 0; i < all.found.size(); ++i) {
    EXPECT_GE(regret(all, i), 1);
    EXPECT_GE(over_bound(all, i), regret(all, i));
    least = std::min(least, regret(all, i));
    const std::vector<Point> points = curve(arrays.graph(), {2, 2}, all.found[i].plan, 10);
    ASSERT_EQ(points.size(), 11U);
    EXPECT_EQ(points.back().steps, all.found[i].plan.steps.size());
    EXPECT_TRUE(points.back().loads.nodes == loads_of(arrays.graph(), {2, 2}, all.found[i].plan).nodes);
    for (std::size_t p = 1; p < points.size(); ++p) EXPECT_GT(points[p].steps, points[p - 1].steps);
  }
  EXPECT_EQ(least, 1);
  const std::string csv = curves_csv(all);
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  std::size_t points = 0;
  for (const Proven& one : all.found) points += curve(arrays.graph(), {2, 2}, one.plan, all.most_points).size();
  EXPECT_EQ(lines, 1 + static_cast<std::ptrdiff_t>(points) * 2);
  EXPECT_NE(comparison_json(all).find("\"regret\": 1.0"), std::string::npos);
  const Graph small = RandomGraphs(3).graph({2, 2}, 5);
  EXPECT_NE(comparison_text(compare("small", small, {2, 2}, {"all"}, {})).find("least, proven"), std::string::npos);
}

}  // namespace
}  // namespace kasen::spread
