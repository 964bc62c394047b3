// A plan in the making: the simulated cluster, the vertices that are ready, and where the next operator of one can run.
#pragma once

#include <map>
#include <vector>

#include "libopt/spread/plan.h"
#include "libopt/spread/state.h"
#include "libopt/spread/terms.h"

namespace kasen::spread {

enum class Options {
  operands,  // workers that hold operands (NumS, section 4)
  all,       // every worker (Algorithm 1)
};

// The next operator of a vertex at a worker: a task, or one addition.
struct Move {
  VertexId vertex;
  WorkerId worker;
  Pair pair;  // of an addition
  State::Cost cost;
};

class Placement {
 public:
  Placement(const Graph& graph, const Cluster& cluster, Pairing pairing, std::size_t most_paired = 24);
  Placement(const Placement&) = delete;  // what is left of sums refers to its state
  Placement& operator=(const Placement&) = delete;

  // Vertices whose inputs are made. It changes with each commit; searches may swap items.
  [[nodiscard]] std::vector<VertexId>& ready() { return ready_; }
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const Graph& graph() const { return graph_; }

  // Of a ready vertex. Of workers of a node that hold the same inputs, all cost the same, and the first one stands for
  // them. Pairs in their order, workers ascending.
  [[nodiscard]] std::vector<Move> moves(VertexId vertex, Options options);
  // The first of the least objective; of equal ones the first that moves least, if asked for.
  [[nodiscard]] Move best(VertexId vertex, Options options, bool least_moved);

  [[nodiscard]] std::vector<Pair> pairs(VertexId sum);
  [[nodiscard]] bool is_sum(VertexId vertex) const { return graph_.vertices()[vertex].kind == Kind::sum; }
  [[nodiscard]] bool is_fixed(VertexId vertex);  // its next operator runs at its owner

  void try_move(const Move& move);  // in the state alone, for undo()
  void undo() { state_.undo(); }
  void commit(const Move& move);

  [[nodiscard]] Plan take(std::string search);

 private:
  Terms& terms(VertexId sum);
  [[nodiscard]] ObjectId result(VertexId vertex);
  [[nodiscard]] std::vector<WorkerId> candidates(VertexId vertex, std::span<const ObjectId> inputs, Options options);
  [[nodiscard]] std::vector<WorkerId> holders(std::span<const ObjectId> inputs) const;
  [[nodiscard]] std::vector<WorkerId> everywhere() const;
  void keep_different(std::span<const ObjectId> inputs, std::vector<WorkerId>& workers) const;
  // A term that lies where its sum has to end does not leave that worker, or that node: then no node sends more than
  // one block for a sum.
  void keep_towards(WorkerId end, std::span<const ObjectId> terms, std::vector<WorkerId>& workers) const;
  void finish(VertexId vertex);

  const Graph& graph_;
  State state_;
  Pairing pairing_;
  std::size_t most_paired_;  // terms of a sum on different nodes
  Plan plan_;
  std::vector<VertexId> ready_;
  IdMap<VertexId, std::size_t> missing_;  // inputs that are not made
  std::map<VertexId, Terms> terms_;       // of sums that have begun
};

}  // namespace kasen::spread
