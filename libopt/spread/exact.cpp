#include "libopt/spread/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "libcore/base/error.h"
#include "libopt/spread/bound.h"
#include "libopt/spread/senders.h"

namespace kasen::spread {
namespace {

constexpr Load no_load = std::numeric_limits<Load>::max();

// A cluster as far as operators are placed. `out` has what is sure: the first copy that leaves a node, and copies in
// it.
struct Partial {
  IdMap<ObjectId, std::uint64_t> holders;  // workers
  IdMap<ObjectId, WorkerId> made_at;
  IdMap<NodeId, NodeLoad> nodes;
  NodeLoad most;
  Load sent = 0;    // by all nodes together
  Load memory = 0;  // of all
};

class Search {
 public:
  Search(const Graph& graph, const Cluster& cluster, const SearchOptions& options)
      : graph_(graph), cluster_(cluster), steps_left_(options.exact_nodes), least_(lower_bound(graph, cluster)) {
    left_.assign(graph.vertices().size() + 1, 0);
    for (VertexId id = graph.vertices().end_id(); id > VertexId(0);) {
      --id;
      const Vertex& vertex = graph.vertices()[id];
      const auto operators = vertex.kind == Kind::sum ? vertex.inputs.size() - 1 : 1;
      left_[id] =
          left_[VertexId(int{id} + 1)] + static_cast<Load>(operators) * graph.elements(vertex.output) * element_load;
    }
  }

  Proven run(Plan start) {
    found_.objective = loads_of(graph_, cluster_, start).objective();
    found_.plan = std::move(start);
    const std::int64_t steps = steps_left_;
    visit(VertexId(0), first());
    found_.nodes = steps - std::max<std::int64_t>(steps_left_, 0);
    found_.bound = std::min(found_.objective, std::max(open_, least_.objective()));
    found_.plan.search = "exact";
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::uint64_t bit(WorkerId worker) const { return std::uint64_t{1} << int{worker}; }
  [[nodiscard]] std::uint64_t workers_of(NodeId node) const {
    const std::uint64_t all = cluster_.workers == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << cluster_.workers) - 1;
    return all << (node * cluster_.workers);
  }

  [[nodiscard]] Partial first() const {
    Partial state;
    state.holders.resize(graph_.objects_and_partials());
    state.made_at.resize(graph_.objects_and_partials());
    state.nodes = first_loads(graph_, cluster_).nodes;
    for (const ObjectId object : graph_.objects().ids()) {
      const WorkerId home = graph_.objects()[object].home;
      if (home < 0) continue;
      state.holders[object] = bit(home);
      state.made_at[object] = home;
    }
    for (const NodeLoad& node : state.nodes) {
      state.most.memory = std::max(state.most.memory, node.memory);
      state.memory += node.memory;
    }
    return state;
  }

  // Objectives of all placements that go on from here are at least that.
  [[nodiscard]] Load bound(const Partial& state, Load left) const {
    const auto spread = [&](Load load) { return (load + cluster_.nodes - 1) / cluster_.nodes; };
    const Load memory = std::max({state.most.memory, spread(state.memory + left), least_.memory});
    const Load in = std::max(state.most.in, least_.in);
    return memory + in + std::max({state.most.out, spread(state.sent), least_.out});
  }

  void receive(Partial& state, ObjectId object, WorkerId worker) const {
    const NodeId node = cluster_.node_of(worker), home = cluster_.node_of(state.made_at[object]);
    const bool near = (state.holders[object] & workers_of(node)) != 0;
    if (near && cluster_.shared) return;
    const Load load = graph_.elements(object) * (near ? cluster_.intra : element_load);
    state.most.in = std::max(state.most.in, state.nodes[node].in += load);
    state.sent += load;
    if (near)
      state.most.out = std::max(state.most.out, state.nodes[node].out += load);
    else if ((state.holders[object] & ~workers_of(home)) == 0)
      state.most.out = std::max(state.most.out, state.nodes[home].out += load);
    state.nodes[node].memory += graph_.elements(object) * element_load;
    state.memory += graph_.elements(object) * element_load;
    state.holders[object] |= bit(worker);
  }

  void place(Partial& state, std::span<const ObjectId> inputs, ObjectId result, WorkerId worker) const {
    for (const ObjectId input : inputs)
      if ((state.holders[input] & bit(worker)) == 0) receive(state, input, worker);
    const Load made = graph_.elements(result) * element_load;
    Load& memory = state.nodes[cluster_.node_of(worker)].memory;
    state.most.memory = std::max(state.most.memory, memory += made);
    state.memory += made;
    state.holders[result] |= bit(worker);
    state.made_at[result] = worker;
  }

  struct Child {
    Load bound = 0;
    Step step;
    Partial state;
  };

  // All workers, those with the least bound first.
  std::vector<Child> children(const Partial& state, const Step& step, std::span<const ObjectId> inputs, WorkerId only,
                              Load left) const {
    std::vector<Child> all;
    const int begin = only >= 0 ? int{only} : 0, end = only >= 0 ? only + 1 : cluster_.size();
    for (int worker = begin; worker < end; ++worker) {
      Child child{0, step, state};
      child.step.worker = WorkerId(worker);
      place(child.state, inputs, step.result, child.step.worker);
      child.bound = bound(child.state, left);
      all.push_back(std::move(child));
    }
    std::stable_sort(all.begin(), all.end(), [](const Child& a, const Child& b) { return a.bound < b.bound; });
    return all;
  }

  // True: nothing better is below. What is not looked at for want of steps is remembered.
  bool skips(Load bound) {
    if (bound >= found_.objective) return true;
    if (--steps_left_ > 0) return false;
    open_ = std::min(open_, bound);
    return true;
  }

  void visit(VertexId id, const Partial& state) {
    if (!graph_.vertices().contains(id)) return leaf(state);
    const Vertex& vertex = graph_.vertices()[id];
    if (vertex.kind == Kind::sum) return add(id, state, vertex.inputs, 0, {});
    const VertexId next(int{id} + 1);
    const Step step{id, {}, {}, {}, vertex.output, 0};
    for (const Child& child :
         children(state, step, vertex.inputs, vertex.pinned ? vertex.owner : WorkerId(), left_[next])) {
      if (skips(child.bound)) continue;
      path_.push_back(child.step);
      visit(next, child.state);
      path_.pop_back();
    }
  }

  // Additions that do not need each other stand in one order alone: an addition without the last one's result has its
  // left term behind that of the last one.
  void add(VertexId sum, const Partial& state, const std::vector<ObjectId>& terms, std::size_t additions,
           ObjectId last_left) {
    const Vertex& vertex = graph_.vertices()[sum];
    const VertexId next(int{sum} + 1);
    if (terms.size() == 1) return visit(next, state);
    const ObjectId result = graph_.partial(sum, additions);
    const Load left = left_[next] + static_cast<Load>(terms.size() - 2) * graph_.elements(result) * element_load;
    const WorkerId only = terms.size() == 2 && vertex.pinned ? vertex.owner : WorkerId();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      for (std::size_t j = i + 1; j < terms.size(); ++j) {
        const bool uses_last = additions > 0 && j + 1 == terms.size();
        if (additions > 0 && !uses_last && terms[i] < last_left) continue;
        std::vector<ObjectId> rest = terms;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        rest.push_back(result);
        const Step step{sum, {}, terms[i], terms[j], result, 0};
        for (const Child& child : children(state, step, std::array{terms[i], terms[j]}, only, left)) {
          if (skips(child.bound)) continue;
          path_.push_back(child.step);
          add(sum, child.state, rest, additions + 1, terms[i]);
          path_.pop_back();
        }
      }
    }
  }

  [[nodiscard]] std::vector<Spreading> spreadings(const Partial& state) const {
    std::vector<Spreading> all;
    for (const ObjectId object : state.holders.ids()) {
      const NodeId home = cluster_.node_of(state.made_at[object]);
      Spreading one{object, {home}, {}};
      for (const NodeId node : state.nodes.ids())
        if (node != home && (state.holders[object] & workers_of(node)) != 0) one.nodes.push_back(node);
      if (one.nodes.size() > 1) all.push_back(std::move(one));
    }
    return all;
  }

  void leaf(const Partial& state) {
    std::vector<Spreading> all = spreadings(state);
    IdMap<NodeId, Load> out;
    for (const NodeLoad& node : state.nodes) out.push_back(node.out);
    const Load rest = state.most.memory + state.most.in, limit = found_.objective - rest;
    const Load sent = least_sent(graph_, out, limit, steps_left_, all);
    if (sent < 0) open_ = std::min(open_, bound(state, 0));
    if (sent < 0 || sent >= limit) return;
    found_.objective = rest + sent;
    found_.plan.steps = path_;
    write_copies(graph_, cluster_, all, found_.plan);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  std::int64_t steps_left_;
  Bound least_;
  IdMap<VertexId, Load> left_;  // what this vertex and those behind it make
  std::vector<Step> path_;
  Proven found_;
  Load open_ = no_load;  // the least bound of what was not looked at
};

}  // namespace

bool is_small(const Graph& graph, const Cluster& cluster) {
  return graph.operators() <= most_exact_operators && cluster.size() <= most_exact_workers;
}

Proven exact(const Graph& graph, const Cluster& cluster, const SearchOptions& options) {
  require_cluster(cluster);
  if (!is_small(graph, cluster)) {
    fail(ExitStatus::limit,
         fmt::format("the exact search of {} block operators on {} workers", graph.operators(), cluster.size()),
         fmt::format("it takes at most {} on {}", most_exact_operators, most_exact_workers),
         "choose another search, or cut the arrays in fewer blocks");
  }
  SearchOptions other = options;
  other.ahead = 2;
  other.options = Options::all;
  std::vector<Plan> plans{lshs(graph, cluster, options), lshs(graph, cluster, other), look_ahead(graph, cluster, other),
                          heft(graph, cluster, options), place_at_owners(graph, cluster)};
  const auto best = std::min_element(plans.begin(), plans.end(), [&](const Plan& a, const Plan& b) {
    return loads_of(graph, cluster, a).objective() < loads_of(graph, cluster, b).objective();
  });
  return Search(graph, cluster, options).run(std::move(*best));
}

}  // namespace kasen::spread
