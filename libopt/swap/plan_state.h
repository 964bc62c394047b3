// What a planner of swaps knows while it follows an order: where tensors are used, which places are free, and which
// tensors may leave. Planners make many plans, one after another: their memory is used again.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "libopt/swap/orders.h"
#include "libopt/swap/tasks.h"

namespace kasen::swap {

inline constexpr int no_use = std::numeric_limits<int>::max();

// The positions that use each tensor, ascending, in one list.
class Uses {
 public:
  explicit Uses(const TaskGraph& graph) : graph_(graph), first_(graph.tensors().size() + 1, 0) {
    for (const TaskId task : graph.tasks().ids())
      for (const TensorId tensor : graph.touched(task)) ++first_[static_cast<std::size_t>(tensor) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    positions_.resize(first_.back());
  }

  void begin(const Order& order) {
    begin();
    for (std::size_t at = 0; at < order.size(); ++at)
      for (const TensorId tensor : graph_.touched(order[at]))
        positions_[next_[static_cast<std::size_t>(tensor)]++] = static_cast<int>(at);
    begin();
  }
  void begin() { next_.assign(first_.begin(), first_.end() - 1); }

  [[nodiscard]] int next(TensorId tensor) const {  // `no_use`: there is none
    const auto t = static_cast<std::size_t>(tensor);
    return next_[t] < first_[t + 1] ? positions_[next_[t]] : no_use;
  }
  void used(TensorId tensor) { ++next_[static_cast<std::size_t>(tensor)]; }

 private:
  const TaskGraph& graph_;
  std::vector<std::size_t> first_, next_;
  std::vector<int> positions_;
};

struct Here {              // a tensor's state
  int stay = -1;           // in SwapPlan::stays; -1: it is not in the faster memory
  int last = -1;           // the position that used it last
  int stored = -1;         // the move that brought its content to the slower memory
  int copy = -1;           // the move that copies it while it stays, since it was used last
  bool dirty = false;      // the slower memory lacks its content
  bool untouched = false;  // a resident from the beginning that no task has used yet
  bool may_leave = false;  // it is in the faster memory, and the task that is reached does not use it
};

struct Place {  // an object without a tensor, and what has to end before it has another one
  int object = 0, after_task = -1, after_move = -1;
};

// The free places of a class, by the time that they became free.
class Places {
 public:
  void begin(std::int64_t objects) {
    all_.clear();
    first_ = 0;
    for (std::int64_t object = 0; object < objects; ++object) all_.push_back({static_cast<int>(object), -1, -1});
  }
  [[nodiscard]] bool empty() const { return first_ == all_.size(); }
  void add(const Place& place) { all_.push_back(place); }
  Place take_first() { return all_[first_++]; }
  Place take_last() {
    const Place place = all_.back();
    all_.pop_back();
    return place;
  }

 private:
  std::vector<Place> all_;
  std::size_t first_ = 0;
};

// What may leave a class: the least leaves first. Only where a candidate comes up is it seen whether it still is one.
struct Candidate {
  int rank;
  bool dirty;
  TensorId tensor;
  friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

class Candidates {
 public:
  void begin() { all_.clear(); }
  void add(const Candidate& one) {
    all_.push_back(one);
    std::push_heap(all_.begin(), all_.end(), std::greater<>());
  }

  // The first that `is_one` and that is `rested`, behind so many others; if there are too few, the first that is one.
  // No id: there is none.
  template <class IsOne, class Rested>
  [[nodiscard]] TensorId first(IsOne is_one, Rested rested, int others) {
    aside_.clear();
    TensorId found;
    while (!all_.empty() && found < 0) {
      const Candidate one = all_.front();
      const bool is = is_one(one);
      if (is && rested(one) && others-- == 0) {
        found = one.tensor;
        break;
      }
      std::pop_heap(all_.begin(), all_.end(), std::greater<>());
      all_.pop_back();
      if (is) aside_.push_back(one);
    }
    for (const Candidate& one : aside_) add(one);
    return found < 0 && !aside_.empty() ? aside_.front().tensor : found;
  }

 private:
  std::vector<Candidate> all_, aside_;  // a heap; what is put back
};

}  // namespace kasen::swap
