#include "libopt/swap/orders.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>

namespace kasen::swap {
namespace {

// How many tasks before each task have not run.
class Waiting {
 public:
  explicit Waiting(const TaskGraph& graph) : graph_(graph), left_(graph.tasks().size()) {
    for (const TaskId task : graph.tasks().ids()) left_[task] = graph.before(task).size();
  }

  template <class Visit>
  void for_ready(Visit visit) const {
    for (const TaskId task : left_.ids())
      if (left_[task] == 0) visit(task);
  }
  // Calls visit with each task that becomes ready.
  template <class Visit>
  void ran(TaskId task, Visit visit) {
    for (const TaskId later : graph_.behind(task))
      if (--left_[later] == 0) visit(later);
  }

 private:
  const TaskGraph& graph_;
  IdMap<TaskId, std::size_t> left_;
};

// Bytes that live behind the tasks that ran: of tensors that a later task reads, or that outlive the iteration.
class LiveBytes {
 public:
  explicit LiveBytes(const TaskGraph& graph) : graph_(graph), uses_(graph.tensors().size(), 0) {
    for (const TaskId task : graph.tasks().ids())
      for (const TensorId tensor : graph.touched(task)) ++uses_[tensor];
    made_.resize(graph.tensors().size(), false);
  }

  // What the bytes grow by when the task runs.
  [[nodiscard]] std::int64_t growth(TaskId task) const {
    std::int64_t sum = 0;
    for (const TensorId tensor : graph_.touched(task)) {
      const Tensor& one = graph_.tensors()[tensor];
      if (one.kind != TensorKind::made) continue;
      const bool lives_on = one.kept || uses_[tensor] > 1;
      const bool lived = one.resident || made_[static_cast<std::size_t>(tensor)];
      sum += lives_on && !lived ? one.bytes : 0;
      sum -= !lives_on && lived ? one.bytes : 0;
    }
    return sum;
  }
  void ran(TaskId task) {
    for (const TensorId tensor : graph_.touched(task)) {
      --uses_[tensor];
      made_[static_cast<std::size_t>(tensor)] = true;
    }
  }

 private:
  const TaskGraph& graph_;
  IdMap<TensorId, std::int64_t> uses_;
  std::vector<bool> made_;
};

}  // namespace

bool is_order(const TaskGraph& graph, const Order& order) {
  IdMap<TaskId, bool> ran(graph.tasks().size(), false);
  for (const TaskId task : order) {
    if (!graph.tasks().contains(task) || ran[task]) return false;
    for (const TaskId earlier : graph.before(task))
      if (!ran[earlier]) return false;
    ran[task] = true;
  }
  return order.size() == graph.tasks().size();
}

Order program_order(const TaskGraph& graph) {
  Order order;
  for (const TaskId task : graph.tasks().ids()) order.push_back(task);
  return order;
}

Order depth_first(const TaskGraph& graph) {
  Waiting waiting(graph);
  std::vector<TaskId> ready;
  waiting.for_ready([&](TaskId task) { ready.push_back(task); });
  std::reverse(ready.begin(), ready.end());
  Order order;
  std::vector<TaskId> fresh;
  while (!ready.empty()) {
    const TaskId task = ready.back();
    ready.pop_back();
    order.push_back(task);
    fresh.clear();
    waiting.ran(task, [&](TaskId later) { fresh.push_back(later); });
    ready.insert(ready.end(), fresh.rbegin(), fresh.rend());
  }
  return order;
}

Order breadth_first(const TaskGraph& graph) {
  Waiting waiting(graph);
  Order order;
  waiting.for_ready([&](TaskId task) { order.push_back(task); });
  for (std::size_t at = 0; at < order.size(); ++at)
    waiting.ran(order[at], [&](TaskId later) { order.push_back(later); });
  return order;
}

Order least_live(const TaskGraph& graph) {
  Waiting waiting(graph);
  LiveBytes live(graph);
  std::vector<TaskId> ready;
  waiting.for_ready([&](TaskId task) { ready.push_back(task); });
  Order order;
  while (!ready.empty()) {
    const auto least = std::min_element(ready.begin(), ready.end(), [&](TaskId a, TaskId b) {
      return std::tuple(live.growth(a), int{a}) < std::tuple(live.growth(b), int{b});
    });
    const TaskId task = *least;
    ready.erase(least);
    order.push_back(task);
    live.ran(task);
    waiting.ran(task, [&](TaskId later) { ready.push_back(later); });
  }
  return order;
}

Order crossed(const Order& first, const Order& rest, std::size_t cut) {
  Order order(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(cut));
  IdMap<TaskId, bool> taken(rest.size(), false);
  for (const TaskId task : order) taken[task] = true;
  std::copy_if(rest.begin(), rest.end(), std::back_inserter(order), [&](TaskId task) { return !taken[task]; });
  return order;
}

Order mutated(const TaskGraph& graph, const Order& order, double probability, Random& random) {
  IdMap<TaskId, std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  Waiting waiting(graph);
  std::set<std::size_t> ready;  // by place in the order
  waiting.for_ready([&](TaskId task) { ready.insert(place[task]); });
  Order made;
  made.reserve(order.size());
  while (!ready.empty()) {
    auto next = ready.begin();
    if (draws(random, probability)) std::advance(next, draw(random, ready.size()));
    const TaskId task = order[*next];
    ready.erase(next);
    made.push_back(task);
    waiting.ran(task, [&](TaskId later) { ready.insert(place[later]); });
  }
  return made;
}

}  // namespace kasen::swap
