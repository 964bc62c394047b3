#include "libopt/spread/state.h"

#include <algorithm>
#include <array>

#include "libcore/base/error.h"

namespace kasen::spread {

State::State(const Graph& graph, const Cluster& cluster)
    : graph_(graph), cluster_(cluster), loads_(first_loads(graph, cluster)) {
  require_cluster(cluster);
  const std::size_t objects = graph.objects_and_partials();
  workers_.resize(objects * static_cast<std::size_t>(cluster.size()));
  nodes_.resize(objects);
  made_at_.resize(objects);
  for (const ObjectId object : graph.objects().ids()) {
    const WorkerId home = graph.objects()[object].home;
    if (home < 0) continue;
    if (home >= cluster.size()) throw InternalError("a block on a worker that the cluster lacks");
    hold(object, home);
    made_at_[object] = home;
  }
  most_ = {loads_.memory(), 0, 0};
}

bool State::holds(ObjectId object, WorkerId worker) const { return workers_[worker_bit(object, worker)]; }
bool State::holds(ObjectId object, NodeId node) const {
  return std::binary_search(nodes_[object].begin(), nodes_[object].end(), node);
}

void State::hold(ObjectId object, WorkerId worker) {
  workers_[worker_bit(object, worker)] = true;
  const NodeId node = cluster_.node_of(worker);
  std::vector<NodeId>& nodes = nodes_[object];
  const auto place = std::lower_bound(nodes.begin(), nodes.end(), node);
  if (place == nodes.end() || *place != node) nodes.insert(place, node);
}

void State::leave(ObjectId object, NodeId node) {
  std::vector<NodeId>& nodes = nodes_[object];
  nodes.erase(std::lower_bound(nodes.begin(), nodes.end(), node));
}

NodeId State::sender(ObjectId object) const {
  NodeId best;
  for (const NodeId node : nodes_[object])
    if (best < 0 || loads_.nodes[node].out < loads_.nodes[best].out) best = node;
  if (best < 0) throw InternalError("an input that no worker holds");
  return best;
}

WorkerId State::first_holder(ObjectId object, NodeId node) const {
  WorkerId worker = cluster_.first_of(node);
  while (!holds(object, worker)) ++worker;
  return worker;
}

void State::send(NodeId from, NodeId to, Load moved) {
  most_.in = std::max(most_.in, loads_.nodes[to].in += moved);
  most_.out = std::max(most_.out, loads_.nodes[from].out += moved);
}

// Loads change as they would, and change back: the sender of one input depends on what was sent of those before it.
State::Cost State::cost(std::span<const ObjectId> inputs, ObjectId result, WorkerId worker) {
  const NodeId node = cluster_.node_of(worker);
  const NodeLoad most = most_;
  Load memory = graph_.elements(result) * element_load, moved = 0;
  struct Sent {
    NodeId from;
    Load load;
  };
  std::array<Sent, 8> few;
  std::vector<Sent> many;
  std::size_t sent = 0;
  for (const ObjectId input : inputs) {
    if (has(input, worker)) continue;
    const bool near = holds(input, node);
    const NodeId from = near ? node : sender(input);
    const Load load = graph_.elements(input) * (near ? cluster_.intra : element_load);
    send(from, node, load);
    memory += graph_.elements(input) * element_load;
    moved += load;
    if (sent < few.size())
      few[sent++] = {from, load};
    else
      many.push_back({from, load});
  }
  most_.memory = std::max(most_.memory, loads_.nodes[node].memory + memory);
  const Cost result_cost{objective(), moved};
  const auto take_back = [&](const Sent& one) {
    loads_.nodes[node].in -= one.load;
    loads_.nodes[one.from].out -= one.load;
  };
  for (std::size_t i = 0; i < sent; ++i) take_back(few[i]);
  for (const Sent& one : many) take_back(one);
  most_ = most;
  return result_cost;
}

void State::receive(ObjectId object, WorkerId worker) {
  const NodeId node = cluster_.node_of(worker);
  const bool near = holds(object, node);
  const NodeId from = near ? node : sender(object);
  const std::int64_t elements = graph_.elements(object);
  send(from, node, elements * (near ? cluster_.intra : element_load));
  loads_.nodes[node].memory += elements * element_load;
  (near ? loads_.within : loads_.between) += elements;
  copies_.push_back({{object, first_holder(object, from), worker}, !near});
  hold(object, worker);
}

void State::place(std::span<const ObjectId> inputs, ObjectId result, WorkerId worker, std::vector<Copy>* copies) {
  if (made_at_[result] >= 0) throw InternalError("a block is made twice");
  placed_.push_back({result, worker, most_, copies_.size()});
  for (const ObjectId input : inputs) {
    if (has(input, worker)) continue;
    receive(input, worker);
    if (copies != nullptr) copies->push_back(copies_.back().copy);
  }
  Load& memory = loads_.nodes[cluster_.node_of(worker)].memory;
  memory += graph_.elements(result) * element_load;
  most_.memory = std::max(most_.memory, memory);
  hold(result, worker);
  made_at_[result] = worker;
}

void State::undo() {
  const Placed last = placed_.back();
  placed_.pop_back();
  const NodeId node = cluster_.node_of(last.worker);
  made_at_[last.result] = {};
  workers_[worker_bit(last.result, last.worker)] = false;
  leave(last.result, node);
  loads_.nodes[node].memory -= graph_.elements(last.result) * element_load;
  for (; copies_.size() > last.copies; copies_.pop_back()) {
    const Moved& moved = copies_.back();
    const std::int64_t elements = graph_.elements(moved.copy.object);
    const Load load = elements * (moved.fresh_node ? element_load : cluster_.intra);
    workers_[worker_bit(moved.copy.object, last.worker)] = false;
    if (moved.fresh_node) leave(moved.copy.object, node);
    loads_.nodes[node].memory -= elements * element_load;
    loads_.nodes[node].in -= load;
    loads_.nodes[cluster_.node_of(moved.copy.from)].out -= load;
    (moved.fresh_node ? loads_.between : loads_.within) -= elements;
  }
  most_ = last.most;
}

}  // namespace kasen::spread
