#include "libopt/spread/bound.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kasen::spread {
namespace {

class Bounds {
 public:
  Bounds(const Graph& graph, const Cluster& cluster)
      : graph_(graph), cluster_(cluster), nodes_(first_loads(graph, cluster).nodes) {
    for (const NodeLoad& node : nodes_) memory_ += node.memory;
  }

  Bound run() {
    for (const Vertex& vertex : graph_.vertices()) {
      note_made(vertex);
      if (vertex.kind == Kind::sum)
        note_sum(vertex);
      else if (vertex.pinned)
        for (const ObjectId input : vertex.inputs) readers_[input].insert(vertex.owner);
      else
        note_free(vertex);
    }
    for (const auto& one : readers_) note_pinned_readers(one.first, one.second);
    Bound bound;
    for (const NodeLoad& node : nodes_) {
      bound.memory = std::max(bound.memory, node.memory);
      bound.in = std::max(bound.in, node.in);
      bound.out = std::max(bound.out, node.out);
    }
    bound.memory = std::max(bound.memory, shared_out(memory_));
    bound.in = std::max(bound.in, shared_out(moved_));
    bound.out = std::max(bound.out, shared_out(moved_));
    return bound;
  }

 private:
  [[nodiscard]] Load shared_out(Load load) const { return (load + cluster_.nodes - 1) / cluster_.nodes; }
  [[nodiscard]] Load load(ObjectId object) const { return graph_.elements(object) * element_load; }

  // Where it is made or lies, in every placement; none: that is not known.
  [[nodiscard]] WorkerId place(ObjectId id) const {
    const Object& object = graph_.objects()[id];
    if (object.maker < 0) return object.home;
    const Vertex& maker = graph_.vertices()[object.maker];
    return maker.pinned ? maker.owner : WorkerId();
  }
  // Its copies serve this vertex alone, and come from a known node.
  [[nodiscard]] NodeId only_here(ObjectId object) const {
    const WorkerId worker = place(object);
    return worker >= 0 && graph_.readers(object).size() == 1 ? cluster_.node_of(worker) : NodeId();
  }

  void note_made(const Vertex& vertex) {
    const auto operators = vertex.kind == Kind::sum ? static_cast<Load>(vertex.inputs.size()) - 1 : Load{1};
    memory_ += operators * load(vertex.output);
    if (vertex.pinned) nodes_[cluster_.node_of(vertex.owner)].memory += load(vertex.output);
  }

  void note_free(const Vertex& vertex) {
    std::map<NodeId, Load> by_node;
    Load all = 0, most = 0;
    for (const ObjectId input : vertex.inputs) {
      const NodeId node = only_here(input);
      if (node < 0) continue;
      all += load(input);
      most = std::max(most, by_node[node] += load(input));
    }
    memory_ += all - most;
    moved_ += all - most;
  }

  // The last addition runs at its owner, so that two blocks come to a node where no term lies.
  void note_sum(const Vertex& vertex) {
    const NodeId last = vertex.pinned ? cluster_.node_of(vertex.owner) : NodeId();
    std::set<NodeId> nodes;
    bool all_known = true;
    for (const ObjectId term : vertex.inputs) {
      const NodeId node = only_here(term);
      all_known = all_known && node >= 0;
      if (node >= 0) nodes.insert(node);
    }
    const bool all_away = last >= 0 && all_known && nodes.count(last) == 0;
    nodes.erase(last);
    if (nodes.empty()) return;
    const Load one = load(vertex.output);
    const auto senders = static_cast<Load>(nodes.size());
    const Load moves = last < 0 ? senders - 1 : std::max<Load>(senders, all_away ? 2 : 1);
    memory_ += moves * one;
    moved_ += moves * one;
    if (last < 0) return;
    const Load arrive = all_away ? 2 * one : one;
    for (const NodeId node : nodes) nodes_[node].out += one;
    nodes_[last].in += arrive;
    nodes_[last].memory += arrive;
  }

  // Each of these workers needs it: of those of another node, one gets it from there, and the others from this one.
  void note_pinned_readers(ObjectId object, const std::set<WorkerId>& workers) {
    const WorkerId from = place(object);
    if (from < 0) return;
    std::map<NodeId, Load> copies;
    for (const WorkerId worker : workers)
      if (worker != from) ++copies[cluster_.node_of(worker)];
    const NodeId home = cluster_.node_of(from);
    bool leaves = false;
    for (const auto& one : copies) {
      const bool away = one.first != home;
      leaves = leaves || away;
      const Load near = cluster_.shared ? 0 : one.second - (away ? 1 : 0);
      const Load elements = graph_.elements(object), within = near * elements * cluster_.intra;
      const Load held = (near + (away ? 1 : 0)) * load(object);
      NodeLoad& node = nodes_[one.first];
      node.in += within + (away ? load(object) : 0);
      node.out += within;
      node.memory += held;
      memory_ += held;
      if (away) moved_ += load(object);
    }
    if (leaves) nodes_[home].out += load(object);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  IdMap<NodeId, NodeLoad> nodes_;  // what is sure of each
  Load memory_ = 0, moved_ = 0;    // of all together; between nodes
  std::map<ObjectId, std::set<WorkerId>> readers_;
};

}  // namespace

Bound lower_bound(const Graph& graph, const Cluster& cluster) { return Bounds(graph, cluster).run(); }

}  // namespace kasen::spread
