#include "libopt/swap/on_demand.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "libcore/base/error.h"

namespace kasen::swap {
namespace {

class OnDemand {
 public:
  OnDemand(const TaskGraph& graph, std::int64_t capacity)
      : graph_(graph), capacity_(capacity), states_(graph.tensors().size()), uses_(graph.tensors().size(), 0) {
    for (const TaskId task : graph.tasks().ids())
      for (const TensorId tensor : graph.touched(task)) ++uses_[tensor];
  }

  SwapPlan run(const Order& order) {
    plan_.order = order;
    plan_.awaited.resize(plan_.order.size());
    for (const TensorId tensor : graph_.tensors().ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      states_[tensor].dirty = one.kind == TensorKind::made;
      if (one.resident) hold(tensor);
    }
    for (int at = 0; at < static_cast<int>(plan_.order.size()); ++at) reach(at);
    end();
    for (const Move& move : plan_.moves)
      (move.in ? plan_.bytes_in : plan_.bytes_out) += graph_.tensors()[move.tensor].bytes;
    return std::move(plan_);
  }

 private:
  struct State {
    bool here = false, dirty = false;  // dirty: the slower memory lacks its content
    int last = -1, stored = -1;        // the position that used it last; the move that took it out
  };

  [[nodiscard]] std::int64_t room_of(TensorId tensor) const {
    const auto bytes = static_cast<std::uint64_t>(graph_.tensors()[tensor].bytes);
    return bytes > (std::uint64_t{1} << 62) ? graph_.tensors()[tensor].bytes
                                            : static_cast<std::int64_t>(std::bit_ceil(bytes));
  }
  void hold(TensorId tensor) {
    states_[tensor].here = true;
    held_ += room_of(tensor);
    oldest_.emplace(states_[tensor].last, tensor);
  }
  void release(TensorId tensor) {
    states_[tensor].here = false;
    held_ -= room_of(tensor);
    oldest_.erase({states_[tensor].last, tensor});
  }

  void reach(int at) {
    const TaskId task = plan_.order[static_cast<std::size_t>(at)];
    const std::vector<TensorId>& touched = graph_.touched(task);
    for (const TensorId tensor : touched)
      if (!states_[tensor].here) come(tensor, at, touched);
    for (const TensorId tensor : touched) {
      oldest_.erase({states_[tensor].last, tensor});
      states_[tensor].last = at;
      oldest_.emplace(at, tensor);
      --uses_[tensor];
    }
    for (const TensorId tensor : graph_.tasks()[task].writes) states_[tensor].dirty = true;
    for (const TensorId tensor : touched) {
      const Tensor& one = graph_.tensors()[tensor];
      if (uses_[tensor] == 0 && one.kind != TensorKind::parameter && !one.kept) release(tensor);
    }
  }

  void come(TensorId tensor, int at, const std::vector<TensorId>& touched) {
    State& state = states_[tensor];
    const int room = make_room(room_of(tensor), at, touched);
    std::vector<int>& awaited = plan_.awaited[static_cast<std::size_t>(at)];
    if (!state.dirty) {
      awaited.push_back(static_cast<int>(plan_.moves.size()));
      plan_.moves.push_back({tensor, true, at - 2, room, state.stored, at});
    } else if (room >= 0) {
      awaited.push_back(room);
    }
    hold(tensor);
  }

  // Returns the last move out that makes room, or -1. Moves out follow each other, so it ends behind the others.
  int make_room(std::int64_t bytes, int at, const std::vector<TensorId>& touched) {
    int room = -1;
    while (held_ + bytes > capacity_) {
      const auto victim = std::find_if(oldest_.begin(), oldest_.end(), [&](const auto& one) {
        return !std::binary_search(touched.begin(), touched.end(), one.second);
      });
      if (victim == oldest_.end()) refuse(at);
      const TensorId tensor = victim->second;
      release(tensor);
      if (!states_[tensor].dirty) continue;
      room = take_out(tensor, at);
    }
    return room;
  }
  int take_out(TensorId tensor, int at) {
    State& state = states_[tensor];
    state.dirty = false;
    state.stored = static_cast<int>(plan_.moves.size());
    plan_.moves.push_back({tensor, false, std::max(state.last, at - 2), last_out_, -1, at});
    return last_out_ = state.stored;
  }

  // What changed and lives on goes out.
  void end() {
    const int last = static_cast<int>(plan_.order.size()) - 1;
    for (const TensorId tensor : states_.ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      const bool lives_on = one.kind == TensorKind::parameter || one.kept;
      if (states_[tensor].here && states_[tensor].dirty && lives_on) take_out(tensor, last);
    }
  }

  [[noreturn]] void refuse(int at) const {
    const Task& task = graph_.tasks()[plan_.order[static_cast<std::size_t>(at)]];
    fail(ExitStatus::limit, fmt::format("operator '{}' does not run in {} bytes", task.name, capacity_),
         "with sizes rounded up to powers of two it touches more");
  }

  const TaskGraph& graph_;
  std::int64_t capacity_, held_ = 0;
  IdMap<TensorId, State> states_;
  IdMap<TensorId, int> uses_;
  std::set<std::pair<int, TensorId>> oldest_;  // what is here, by its last use
  int last_out_ = -1;
  SwapPlan plan_;
};

}  // namespace

SwapPlan on_demand(const TaskGraph& graph, const Order& order, std::int64_t capacity) {
  return OnDemand(graph, capacity).run(order);
}

}  // namespace kasen::swap
