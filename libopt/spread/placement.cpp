#include "libopt/spread/placement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "libcore/base/error.h"

namespace kasen::spread {

Placement::Placement(const Graph& graph, const Cluster& cluster, Pairing pairing, std::size_t most_paired)
    : graph_(graph),
      state_(graph, cluster),
      pairing_(pairing),
      most_paired_(most_paired),
      missing_(graph.vertices().size()) {
  for (const VertexId vertex : graph.vertices().ids()) {
    for (const ObjectId input : graph.vertices()[vertex].inputs)
      if (graph.objects()[input].maker >= 0) ++missing_[vertex];
    if (missing_[vertex] == 0) ready_.push_back(vertex);
  }
}

Terms& Placement::terms(VertexId sum) {
  const auto known = terms_.find(sum);
  return known != terms_.end() ? known->second : terms_.emplace(sum, Terms(state_, sum, pairing_)).first->second;
}

std::vector<Pair> Placement::pairs(VertexId sum) { return terms(sum).pairs(most_paired_); }

bool Placement::is_fixed(VertexId vertex) {
  return graph_.vertices()[vertex].pinned && (!is_sum(vertex) || terms(vertex).is_last());
}

ObjectId Placement::result(VertexId vertex) {
  return is_sum(vertex) ? terms(vertex).result() : graph_.vertices()[vertex].output;
}

std::vector<WorkerId> Placement::everywhere() const {
  std::vector<WorkerId> workers;
  for (int worker = 0; worker < state_.cluster().size(); ++worker) workers.emplace_back(worker);
  return workers;
}

std::vector<WorkerId> Placement::holders(std::span<const ObjectId> inputs) const {
  std::vector<WorkerId> workers;
  for (const ObjectId input : inputs)
    state_.for_each_holder(input, [&](WorkerId worker) { workers.push_back(worker); });
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  return workers;
}

void Placement::keep_different(std::span<const ObjectId> inputs, std::vector<WorkerId>& workers) const {
  if (inputs.size() > 64) return;
  NodeId node;
  std::vector<std::uint64_t> seen;
  const auto is_like_another = [&](WorkerId worker) {
    if (const NodeId here = state_.cluster().node_of(worker); here != node) {
      node = here;
      seen.clear();
    }
    std::uint64_t held = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (state_.has(inputs[i], worker)) held |= std::uint64_t{1} << i;
    if (std::find(seen.begin(), seen.end(), held) != seen.end()) return true;
    seen.push_back(held);
    return false;
  };
  workers.erase(std::remove_if(workers.begin(), workers.end(), is_like_another), workers.end());
}

void Placement::keep_towards(WorkerId end, std::span<const ObjectId> terms, std::vector<WorkerId>& workers) const {
  const NodeId node = state_.cluster().node_of(end);
  const auto keep = [&](const auto& is_there) {
    workers.erase(std::remove_if(workers.begin(), workers.end(), [&](WorkerId worker) { return !is_there(worker); }),
                  workers.end());
  };
  const auto any = [&](const auto& is_there) {
    return std::any_of(terms.begin(), terms.end(), [&](ObjectId term) { return is_there(state_.made_at(term)); });
  };
  const auto on_worker = [&](WorkerId worker) { return worker == end; };
  const auto on_node = [&](WorkerId worker) { return state_.cluster().node_of(worker) == node; };
  if (any(on_worker)) return keep(on_worker);
  if (any(on_node)) keep(on_node);
}

std::vector<WorkerId> Placement::candidates(VertexId vertex, std::span<const ObjectId> inputs, Options options) {
  const Vertex& one = graph_.vertices()[vertex];
  if (is_fixed(vertex) || (inputs.empty() && one.owner >= 0)) return {one.owner};
  std::vector<WorkerId> workers;
  if (options == Options::all || inputs.empty()) {
    workers = everywhere();
  } else if (one.kind == Kind::unary) {
    return {state_.made_at(inputs.front())};
  } else {
    workers = holders(inputs);
  }
  if (one.kind == Kind::sum && one.pinned && pairing_ == Pairing::local) keep_towards(one.owner, inputs, workers);
  keep_different(inputs, workers);
  if (options == Options::all || one.kind != Kind::elementwise) return workers;
  // Operands that lie together leave one choice.
  for (const WorkerId worker : workers)
    if (std::all_of(inputs.begin(), inputs.end(), [&](ObjectId input) { return state_.has(input, worker); }))
      return {worker};
  return workers;
}

std::vector<Move> Placement::moves(VertexId vertex, Options options) {
  std::vector<Move> all;
  const ObjectId made = result(vertex);
  const auto add = [&](std::span<const ObjectId> inputs, const Pair& pair) {
    for (const WorkerId worker : candidates(vertex, inputs, options))
      all.push_back({vertex, worker, pair, state_.cost(inputs, made, worker)});
  };
  if (!is_sum(vertex)) {
    add(graph_.vertices()[vertex].inputs, {});
  } else {
    for (const Pair& pair : pairs(vertex)) add(std::array{pair.left, pair.right}, pair);
  }
  return all;
}

Move Placement::best(VertexId vertex, Options options, bool least_moved) {
  const auto key = [&](const Move& move) { return std::pair(move.cost.objective, least_moved ? move.cost.moved : 0); };
  const std::vector<Move> all = moves(vertex, options);
  const auto first =
      std::min_element(all.begin(), all.end(), [&](const Move& a, const Move& b) { return key(a) < key(b); });
  if (first == all.end()) throw InternalError("an operator without a worker");
  return *first;
}

void Placement::try_move(const Move& move) {
  const ObjectId made = result(move.vertex);
  if (is_sum(move.vertex))
    state_.place(std::array{move.pair.left, move.pair.right}, made, move.worker);
  else
    state_.place(graph_.vertices()[move.vertex].inputs, made, move.worker);
}

void Placement::commit(const Move& move) {
  const Vertex& vertex = graph_.vertices()[move.vertex];
  const ObjectId made = result(move.vertex);
  plan_.steps.push_back({move.vertex, move.worker, move.pair.left, move.pair.right, made, plan_.copies.size()});
  if (!is_sum(move.vertex)) {
    state_.place(vertex.inputs, made, move.worker, &plan_.copies);
    return finish(move.vertex);
  }
  state_.place(std::array{move.pair.left, move.pair.right}, made, move.worker, &plan_.copies);
  Terms& left = terms(move.vertex);
  left.join(move.pair);
  if (left.left() > 1) return;
  terms_.erase(move.vertex);
  finish(move.vertex);
}

void Placement::finish(VertexId vertex) {
  const auto here = std::find(ready_.begin(), ready_.end(), vertex);
  *here = ready_.back();
  ready_.pop_back();
  for (const VertexId reader : graph_.readers(graph_.vertices()[vertex].output))
    if (--missing_[reader] == 0) ready_.push_back(reader);
}

Plan Placement::take(std::string search) {
  if (!ready_.empty()) throw InternalError("a vertex is not placed");
  plan_.search = std::move(search);
  return std::move(plan_);
}

}  // namespace kasen::spread
