// The simulated cluster (NumS, section 5.1): which workers hold a copy of each object, and the loads of each node. A
// placement can be tried without being done, and undone. Work is in proportion to what moves, not to the cluster.
//
// A worker that lacks an input gets a copy: from a worker of its node if there is one, else from the node among the
// holders that has sent least, of equal ones from the first (SYSTEMS, item 18). Copies stay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libopt/spread/plan.h"

namespace kasen::spread {

class State {
 public:
  State(const Graph& graph, const Cluster& cluster);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] const Loads& loads() const { return loads_; }
  [[nodiscard]] Load objective() const { return most_.memory + most_.in + most_.out; }

  [[nodiscard]] bool holds(ObjectId object, WorkerId worker) const;
  [[nodiscard]] bool holds(ObjectId object, NodeId node) const;
  // No copy has to move to the worker: it holds the object, or shares memory with one that does.
  [[nodiscard]] bool has(ObjectId object, WorkerId worker) const {
    return cluster_.shared ? holds(object, cluster_.node_of(worker)) : holds(object, worker);
  }
  [[nodiscard]] WorkerId made_at(ObjectId object) const { return made_at_[object]; }
  // Calls visit(worker) for each that holds the object, ascending.
  template <class Visit>
  void for_each_holder(ObjectId object, Visit visit) const {
    for (const NodeId node : nodes_[object]) {
      for (int i = 0; i < cluster_.workers; ++i) {
        const auto worker = WorkerId(cluster_.first_of(node) + i);
        if (holds(object, worker)) visit(worker);
      }
    }
  }

  // The loads that count, if the operator ran there: the objective, and the elements that would move, weighted.
  struct Cost {
    Load objective = 0, moved = 0;
  };
  [[nodiscard]] Cost cost(std::span<const ObjectId> inputs, ObjectId result, WorkerId worker);

  // Runs an operator. Its copies are appended, if asked for.
  void place(std::span<const ObjectId> inputs, ObjectId result, WorkerId worker, std::vector<Copy>* copies = nullptr);
  void undo();  // the last one that was placed and is not undone

 private:
  struct Moved {
    Copy copy;
    bool fresh_node = false;  // the node had none before
  };
  struct Placed {
    ObjectId result;
    WorkerId worker;
    NodeLoad most;           // before
    std::size_t copies = 0;  // of copies_, that it begins with
  };

  [[nodiscard]] std::size_t worker_bit(ObjectId object, WorkerId worker) const {
    return static_cast<std::size_t>(int{object}) * static_cast<std::size_t>(cluster_.size()) +
           static_cast<std::size_t>(int{worker});
  }
  [[nodiscard]] NodeId sender(ObjectId object) const;
  [[nodiscard]] WorkerId first_holder(ObjectId object, NodeId node) const;
  void hold(ObjectId object, WorkerId worker);
  void leave(ObjectId object, NodeId node);
  void receive(ObjectId object, WorkerId worker);
  void send(NodeId from, NodeId to, Load moved);

  const Graph& graph_;
  Cluster cluster_;
  Loads loads_;
  NodeLoad most_;
  std::vector<bool> workers_;                   // holders of objects
  IdMap<ObjectId, std::vector<NodeId>> nodes_;  // the same; ascending
  IdMap<ObjectId, WorkerId> made_at_;
  std::vector<Moved> copies_;
  std::vector<Placed> placed_;
};

}  // namespace kasen::spread
