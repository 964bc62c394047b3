// What is left of a sum: the terms and partial sums that additions have yet to join (NumS, section 4: Reduce).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "libopt/spread/state.h"

namespace kasen::spread {

enum class Pairing {
  local,     // the first two on one worker, whose sum is its first one then; else two on one node, else any two: the
             // search chooses
  in_order,  // the first two; their sum is the first one then
};

struct Pair {
  ObjectId left, right;
};

class Terms {
 public:
  // All of its terms are made.
  Terms(const State& state, VertexId sum, Pairing pairing);

  [[nodiscard]] std::size_t left() const { return first_.size(); }
  [[nodiscard]] bool is_last() const { return left() == 2; }
  [[nodiscard]] ObjectId result() const { return state_->graph().partial(sum_, additions_); }  // of the next addition
  // The pairs among which the next addition is chosen. On different nodes only so many terms that stand first are
  // paired, so that sums over many nodes take no longer than others.
  [[nodiscard]] std::vector<Pair> pairs(std::size_t most_paired) const;
  void join(const Pair& pair);  // the addition was placed

 private:
  struct OnNode {
    std::map<WorkerId, std::vector<ObjectId>> workers;  // none is empty
  };
  enum class Side : std::uint8_t { first, last };
  void add(ObjectId term, std::ptrdiff_t place, Side side);  // of the worker's terms
  void remove(ObjectId term);
  void note(WorkerId worker);

  const State* state_;
  VertexId sum_;
  Pairing pairing_;
  std::size_t additions_ = 0;
  std::ptrdiff_t next_ = 0, front_ = -1;      // places of terms that come behind all, and before all
  std::map<std::ptrdiff_t, ObjectId> first_;  // by place
  std::map<ObjectId, std::ptrdiff_t> place_;
  std::map<NodeId, OnNode> nodes_;
  std::set<WorkerId> pairs_on_worker_;  // workers with two or more
  std::set<NodeId> pairs_on_node_;      // nodes with two or more workers
};

}  // namespace kasen::spread
