#include "libopt/swap/exact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>
#include <vector>

namespace kasen::swap {
namespace {

using Mask = std::uint64_t;  // of tasks or tensors

constexpr double no_event = std::numeric_limits<double>::infinity();

Mask bit(int id) { return Mask{1} << id; }

template <class Visit>
void for_each(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

struct State {
  Mask done = 0;           // tasks
  Mask here = 0, far = 0;  // tensors with a place in the faster memory; with their content in the slower one
  int running = -1, in = -1, out = -1;
  double running_left = 0, in_left = 0, out_left = 0;  // seconds; bytes; bytes

  friend bool operator==(const State&, const State&) = default;
};

struct Hash {
  std::size_t operator()(const State& state) const {
    std::uint64_t sum = 0;
    const auto add = [&](std::uint64_t word) {
      sum = (sum ^ word) * 0x9E3779B97F4A7C15U;
      sum ^= sum >> 29;
    };
    for (const Mask mask : {state.done, state.here, state.far}) add(mask);
    for (const int id : {state.running, state.in, state.out}) add(static_cast<std::uint64_t>(id + 1));
    for (const double left : {state.running_left, state.in_left, state.out_left})
      add(std::bit_cast<std::uint64_t>(left));
    return sum;
  }
};

class Exact {
 public:
  Exact(const TaskGraph& graph, const Sizes& sizes, const Allocation& allocation, const ExactOptions& options)
      : graph_(graph), options_(options), counts_(allocation.counts) {
    classes_.resize(counts_.size(), 0);
    for (const TensorId tensor : graph.tensors().ids()) {
      const auto c = static_cast<std::size_t>(allocation.classes[sizes.of(tensor)]);
      class_of_.push_back(c);
      classes_[c] |= bit(tensor);
    }
    for (const TaskId task : graph.tasks().ids()) {
      const Task& one = graph.tasks()[task];
      reads_.push_back(mask_of(one.reads));
      writes_.push_back(mask_of(one.writes));
      Mask before = 0;
      for (const TaskId earlier : graph.before(task)) before |= bit(earlier);
      before_.push_back(before);
    }
  }

  std::optional<double> run() {
    State first;
    for (const TensorId tensor : graph_.tensors().ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      if (one.kind != TensorKind::made) first.far |= bit(tensor);
      if (one.resident) first.here |= bit(tensor);
    }
    add(first, 0);
    while (!open_.empty() && best_.size() < options_.states) {
      const Entry entry = open_.top();
      open_.pop();
      if (entry.seconds > best_.at(entry.state)) continue;
      if (entry.state.done == all_tasks()) return entry.seconds;
      expand(entry.state, entry.seconds);
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    double bound, seconds;
    State state;
    friend bool operator<(const Entry& a, const Entry& b) { return a.bound > b.bound; }  // the least on top
  };

  template <class Ids>
  static Mask mask_of(const Ids& ids) {
    Mask mask = 0;
    for (const auto id : ids) mask |= bit(id);
    return mask;
  }
  [[nodiscard]] Mask all_tasks() const { return bit(static_cast<int>(graph_.tasks().size())) - 1; }
  [[nodiscard]] Mask touched(int task) const {
    const auto t = static_cast<std::size_t>(task);
    return task < 0 ? 0 : reads_[t] | writes_[t];
  }
  [[nodiscard]] double bytes(int tensor) const { return static_cast<double>(graph_.tensors()[TensorId(tensor)].bytes); }

  // What tasks that have not ended touch; a running one has not.
  [[nodiscard]] Mask needed(const State& state) const {
    Mask mask = 0;
    for_each(all_tasks() & ~state.done, [&](int task) { mask |= touched(task); });
    return mask;
  }

  // Both the tasks that are left and what they have yet to bring in take their time, side by side.
  [[nodiscard]] double bound(const State& state) const {
    double computing = state.running_left, bringing = state.in_left;
    Mask wanted = 0;
    for_each(all_tasks() & ~state.done, [&](int task) {
      if (task == state.running) return;
      computing += graph_.tasks()[TaskId(task)].seconds;
      wanted |= touched(task);
    });
    for_each(wanted & state.far & ~state.here, [&](int tensor) { bringing += bytes(tensor); });
    return std::max(computing, bringing / options_.links.in);
  }

  void add(State state, double seconds) {
    forget(state);
    const auto [known, fresh] = best_.emplace(state, seconds);
    if (!fresh && known->second <= seconds) return;
    known->second = seconds;
    open_.push({seconds + bound(state), seconds, state});
  }

  // What nobody needs any more leaves at once, and without cost.
  void forget(State& state) const {
    const Mask wanted = needed(state);
    for_each(state.here & ~wanted, [&](int tensor) {
      const Tensor& one = graph_.tensors()[TensorId(tensor)];
      const bool keeps = (one.kept || one.kind == TensorKind::parameter) && (state.far & bit(tensor)) == 0;
      if (!keeps && tensor != state.in && tensor != state.out) state.here &= ~bit(tensor);
    });
  }

  [[nodiscard]] bool has_room(const State& state, std::size_t c, int more) const {
    return std::popcount(state.here & classes_[c]) + more <= counts_[c];
  }

  void expand(const State& state, double seconds) {
    drop(state, seconds);
    if (state.running < 0) start_tasks(state, seconds);
    if (state.in < 0) start_in(state, seconds);
    if (state.out < 0) start_out(state, seconds);
    advance(state, seconds);
  }

  // Where a class is full, what the slower memory also has can make room.
  void drop(const State& state, double seconds) {
    const Mask moving = (state.in < 0 ? 0 : bit(state.in)) | (state.out < 0 ? 0 : bit(state.out));
    const Mask may = state.here & state.far & ~touched(state.running) & ~moving;
    for_each(may, [&](int tensor) {
      if (has_room(state, class_of_[static_cast<std::size_t>(tensor)], 1)) return;
      State next = state;
      next.here &= ~bit(tensor);
      add(next, seconds);
    });
  }

  void start_tasks(const State& state, double seconds) {
    for_each(all_tasks() & ~state.done, [&](int task) {
      if ((before_[static_cast<std::size_t>(task)] & ~state.done) == 0 && is_next(state, task))
        start(state, task, seconds);
    });
  }
  [[nodiscard]] bool is_next(const State& state, int task) const {
    const auto ran = static_cast<std::size_t>(std::popcount(state.done));
    return options_.order == nullptr || (*options_.order)[ran] == task;
  }
  void start(const State& state, int task, double seconds) {
    const Mask moving = (state.in < 0 ? 0 : bit(state.in)) | (state.out < 0 ? 0 : bit(state.out));
    const Mask fresh = touched(task) & ~state.here;
    // Only what it makes anew may be missing.
    const Mask had = state.far | reads_[static_cast<std::size_t>(task)];
    if ((fresh & had) != 0 || (touched(task) & moving) != 0) return;
    for (std::size_t c = 0; c < classes_.size(); ++c)
      if (!has_room(state, c, std::popcount(fresh & classes_[c]))) return;
    State next = state;
    next.here |= fresh;
    next.running = task;
    next.running_left = graph_.tasks()[TaskId(task)].seconds;
    add(next, seconds);
  }

  void start_in(const State& state, double seconds) {
    for_each(needed(state) & state.far & ~state.here, [&](int tensor) {
      if (!has_room(state, class_of_[static_cast<std::size_t>(tensor)], 1)) return;
      State next = state;
      next.here |= bit(tensor);
      next.in = tensor;
      next.in_left = bytes(tensor);
      add(next, seconds);
    });
  }

  void start_out(const State& state, double seconds) {
    const Mask still = state.here & ~state.far & ~touched(state.running);
    for_each(still, [&](int tensor) {
      State next = state;
      next.out = tensor;
      next.out_left = bytes(tensor);
      add(next, seconds);
    });
  }

  // Until the first of what runs and moves ends.
  void advance(const State& state, double seconds) {
    const double share = state.in >= 0 && state.out >= 0
                             ? std::min(1.0, options_.links.both / (options_.links.in + options_.links.out))
                             : 1;
    const double in_speed = options_.links.in * share, out_speed = options_.links.out * share;
    const double task_left = state.running < 0 ? no_event : state.running_left;
    const double in_left = state.in < 0 ? no_event : state.in_left / in_speed;
    const double out_left = state.out < 0 ? no_event : state.out_left / out_speed;
    const double step = std::min({task_left, in_left, out_left});
    if (step == no_event) return;
    State next = state;
    if (task_left <= step)
      end_task(next);
    else if (state.running >= 0)
      next.running_left -= step;
    if (in_left <= step)
      next.in = -1, next.in_left = 0;
    else if (state.in >= 0)
      next.in_left -= step * in_speed;
    if (out_left <= step)
      next.far |= bit(state.out), next.out = -1, next.out_left = 0;
    else if (state.out >= 0)
      next.out_left -= step * out_speed;
    add(next, seconds + step);
  }
  void end_task(State& state) const {
    state.done |= bit(state.running);
    state.far &= ~writes_[static_cast<std::size_t>(state.running)];
    state.running = -1;
    state.running_left = 0;
  }

  const TaskGraph& graph_;
  const ExactOptions& options_;
  Counts counts_;
  std::vector<Mask> classes_;  // the tensors of each
  std::vector<std::size_t> class_of_;
  std::vector<Mask> reads_, writes_, before_;
  std::unordered_map<State, double, Hash> best_;
  std::priority_queue<Entry> open_;
};

}  // namespace

std::optional<double> least_seconds(const TaskGraph& graph, const Sizes& sizes, const Allocation& allocation,
                                    const ExactOptions& options) {
  if (graph.tasks().size() >= most_exact_tasks || graph.tensors().size() > most_exact_tensors) return std::nullopt;
  return Exact(graph, sizes, allocation, options).run();
}

}  // namespace kasen::swap
