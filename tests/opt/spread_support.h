// Block graphs for tests of placements, and a checker that knows plans alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "libopt/spread/arrays.h"
#include "libopt/spread/bound.h"
#include "libopt/spread/search.h"

namespace kasen::spread {

// The message of the fault that the call ends in.
template <class Call>
std::string fault(Call call, ExitStatus status) {
  try {
    call();
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  ADD_FAILURE() << "no fault";
  return {};
}

inline Layout rows_over(int nodes, int workers) { return {{nodes, workers}, {nodes, 1}, Dealing::cyclic}; }

// One Newton step of logistic regression over so many row blocks (NumS, section 6 and Algorithm 2): X is n x d.
inline Arrays newton_step(const Layout& layout, std::int64_t n, std::int64_t d, std::int64_t blocks) {
  Arrays a(layout);
  const ArrayId x = a.input("X", {n, d}, {blocks, 1}), y = a.input("y", {n}, {blocks}),
                beta = a.input("beta", {d}, {1});
  const ArrayId xb = a.contract("Xb", "n", {{x, "nd"}, {beta, "d"}});
  const ArrayId minus = a.elementwise("-Xb", "n", {{xb, "n"}}), exp = a.elementwise("exp", "n", {{minus, "n"}});
  const ArrayId plus = a.elementwise("1+exp", "n", {{exp, "n"}}), mu = a.elementwise("mu", "n", {{plus, "n"}});
  const ArrayId c = a.elementwise("mu-y", "n", {{mu, "n"}, {y, "n"}});
  const ArrayId g = a.contract("g", "d", {{x, "nd"}, {c, "n"}});
  const ArrayId one_minus = a.elementwise("1-mu", "n", {{mu, "n"}});
  const ArrayId w = a.elementwise("W", "n", {{mu, "n"}, {one_minus, "n"}});
  const ArrayId wx = a.elementwise("WX", "nd", {{w, "n"}, {x, "nd"}});
  const ArrayId h = a.contract("H", "de", {{x, "nd"}, {wx, "ne"}});
  const ArrayId inverse = a.whole("inverse", {d, d}, {h});
  const ArrayId step = a.contract("step", "d", {{inverse, "de"}, {g, "e"}});
  const ArrayId next = a.elementwise("next", "d", {{beta, "d"}, {step, "d"}});
  for (const ArrayId result : {mu, g, h, next}) a.output(result);
  return a;
}

// Tasks and sums over a few blocks: inputs are drawn from all blocks so far, and some outputs are pinned.
class RandomGraphs {
 public:
  explicit RandomGraphs(unsigned seed) : random_(seed) {}
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  Graph graph(const Cluster& cluster, int operators, int most_terms = 3) {
    Graph graph;
    std::map<std::int64_t, std::vector<ObjectId>> by_size;
    std::vector<ObjectId> all;
    const auto note = [&](ObjectId object) {
      all.push_back(object);
      by_size[graph.elements(object)].push_back(object);
      if (below(3) == 0) graph.pin(object);
    };
    const auto worker = [&] { return WorkerId(below(cluster.size())); };
    for (int i = 0; i < 3 + below(3); ++i) note(graph.add_object("x" + std::to_string(i), 1 + below(4), worker()));
    while (graph.operators() < operators) {
      const std::string name = "v" + std::to_string(graph.vertices().size());
      std::vector<ObjectId> terms = by_size[1 + below(4)];
      std::shuffle(terms.begin(), terms.end(), random_);
      if (below(3) == 0 && terms.size() >= 2) {
        const auto most = std::min<std::size_t>(terms.size(), static_cast<std::size_t>(most_terms));
        terms.resize(most);
        note(graph.add_sum(name, terms, worker()));
        continue;
      }
      std::vector<ObjectId> inputs;
      for (int i = 0; i < 1 + below(3); ++i) inputs.push_back(all[static_cast<std::size_t>(below(int(all.size())))]);
      const Kind kind = inputs.size() == 1 ? Kind::unary : below(2) == 0 ? Kind::elementwise : Kind::product;
      note(graph.add_task(kind, name, inputs, 1 + below(4), worker()));
    }
    return graph;
  }

 private:
  std::mt19937 random_;
};

// Runs a plan step by step: what lies where, and what that adds up to. It follows the rules of the model by itself.
class Replay {
 public:
  Replay(const Graph& graph, const Cluster& cluster, const Plan& plan)
      : graph_(graph), cluster_(cluster), plan_(plan), memory_(nodes()), in_(nodes()), out_(nodes()) {
    for (const ObjectId id : graph.objects().ids()) {
      const Object& object = graph.objects()[id];
      if (object.home < 0) continue;
      held_[id].insert(object.home);
      memory_[node(object.home)] += object.elements * 1000;
    }
  }

  // `ahead`: copies may come from workers that get theirs later (the exact search).
  void check(bool ahead) {
    if (ahead) hold_all();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) step(s, ahead);
    for (const VertexId id : graph_.vertices().ids())
      EXPECT_TRUE(made_.count(graph_.vertices()[id].output)) << "vertex " << id << " is not run";
    const Loads loads = loads_of(graph_, cluster_, plan_);
    for (const NodeId id : loads.nodes.ids()) {
      const auto i = static_cast<std::size_t>(int{id});
      EXPECT_EQ(loads.nodes[id], (NodeLoad{memory_[i], in_[i], out_[i]})) << "node " << id;
    }
    EXPECT_EQ(loads.between, between);
    EXPECT_EQ(loads.within, within);
    EXPECT_EQ(loads.objective(), objective());
    if (ahead) check_trees();
  }

  [[nodiscard]] Load objective() const {
    const auto most = [](const std::vector<Load>& all) { return *std::max_element(all.begin(), all.end()); };
    return most(memory_) + most(in_) + most(out_);
  }
  std::int64_t between = 0, within = 0;

 private:
  [[nodiscard]] std::size_t nodes() const { return static_cast<std::size_t>(cluster_.nodes); }
  [[nodiscard]] std::size_t node(WorkerId worker) const { return static_cast<std::size_t>(worker / cluster_.workers); }
  [[nodiscard]] bool on_node(ObjectId object, std::size_t where) {
    const std::set<WorkerId>& workers = held_[object];
    return std::any_of(workers.begin(), workers.end(), [&](WorkerId worker) { return node(worker) == where; });
  }
  void hold_all() {
    will_ = held_;
    for (const Step& step : plan_.steps) will_[step.result].insert(step.worker);
    for (const Copy& copy : plan_.copies) will_[copy.object].insert(copy.to);
  }

  void step(std::size_t s, bool ahead) {
    const Step& one = plan_.steps[s];
    const Vertex& vertex = graph_.vertices()[one.vertex];
    std::vector<ObjectId> inputs = vertex.inputs;
    ObjectId result = vertex.output;
    bool is_last = true;
    if (vertex.kind == Kind::sum) {
      inputs = {one.left, one.right};
      if (left_.count(one.vertex) == 0) left_[one.vertex] = {vertex.inputs.begin(), vertex.inputs.end()};
      std::set<ObjectId>& left = left_[one.vertex];
      for (const ObjectId input : inputs) EXPECT_EQ(left.erase(input), 1U) << "an addition of what is no term";
      is_last = left.empty();
      if (!is_last) result = one.result;
      left.insert(result);
    }
    EXPECT_EQ(one.result, result);
    EXPECT_TRUE(made_.insert(result).second) << "made twice";
    if (vertex.pinned && is_last) {
      EXPECT_EQ(one.worker, vertex.owner);
    }
    const std::span<const Copy> copies = plan_.copies_of(s);
    std::size_t next = 0;
    for (const ObjectId input : inputs) {
      EXPECT_TRUE(made_.count(input) || graph_.objects()[input].home >= 0) << "an input is not made";
      const bool has = cluster_.shared ? on_node(input, node(one.worker)) : held_[input].count(one.worker) > 0;
      if (has) continue;
      ASSERT_LT(next, copies.size());
      EXPECT_EQ(copies[next].object, input);
      EXPECT_EQ(copies[next].to, one.worker);
      copy(copies[next++], ahead);
    }
    EXPECT_EQ(next, copies.size()) << "a copy too many";
    held_[result].insert(one.worker);
    memory_[node(one.worker)] += graph_.elements(result) * 1000;
  }

  void copy(const Copy& copy, bool ahead) {
    const std::size_t from = node(copy.from), to = node(copy.to);
    EXPECT_TRUE((ahead ? will_ : held_)[copy.object].count(copy.from)) << "a copy of what is not there";
    if (on_node(copy.object, to)) {
      EXPECT_EQ(from, to) << "the node has it";
    } else if (!ahead) {
      for (const WorkerId worker : held_[copy.object]) {
        const auto other = node(worker);
        EXPECT_TRUE(out_[from] < out_[other] || (out_[from] == out_[other] && from <= other)) << "another sent less";
      }
    }
    const std::int64_t elements = graph_.elements(copy.object);
    const Load load = elements * (from == to ? cluster_.intra : 1000);
    (from == to ? within : between) += elements;
    in_[to] += load;
    out_[from] += load;
    memory_[to] += elements * 1000;
    EXPECT_TRUE(held_[copy.object].insert(copy.to).second);
  }

  // Each copy leads back to where the block is made, without a circle.
  void check_trees() {
    std::map<std::pair<ObjectId, WorkerId>, WorkerId> from;
    for (const Copy& copy : plan_.copies) EXPECT_TRUE(from.emplace(std::pair(copy.object, copy.to), copy.from).second);
    for (const Copy& copy : plan_.copies) {
      WorkerId at = copy.to;
      std::size_t steps = 0;
      while (from.count({copy.object, at}) > 0 && steps++ <= plan_.copies.size()) at = from.at({copy.object, at});
      EXPECT_LE(steps, plan_.copies.size()) << "copies in a circle";
    }
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Plan& plan_;
  std::map<ObjectId, std::set<WorkerId>> held_, will_;
  std::set<ObjectId> made_;
  std::map<VertexId, std::set<ObjectId>> left_;
  std::vector<Load> memory_, in_, out_;
};

inline Load checked_objective(const Graph& graph, const Cluster& cluster, const Plan& plan, bool ahead = false) {
  Replay replay(graph, cluster, plan);
  replay.check(ahead);
  return replay.objective();
}

// Of arrays' operators by a search; its plan is checked, and not below the bound.
inline Loads placed(const Arrays& arrays, const std::string& search, const SearchOptions& options = {}) {
  const Graph& graph = arrays.graph();
  const Cluster& cluster = arrays.layout().cluster;
  const Proven proven = find_placement(search, graph, cluster, options);
  EXPECT_EQ(checked_objective(graph, cluster, proven.plan, search == "exact"), proven.objective) << search;
  EXPECT_GE(proven.objective, lower_bound(graph, cluster).objective()) << search;
  return loads_of(graph, cluster, proven.plan);
}

}  // namespace kasen::spread
