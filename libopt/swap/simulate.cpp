#include "libopt/swap/simulate.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <queue>

#include "libcore/base/error.h"

namespace kasen::swap {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

using Ready = std::priority_queue<int, std::vector<int>, std::greater<>>;  // the first planned on top

struct Transfer {
  int move = -1;
  double left = 0;  // bytes
};

class Simulator {
 public:
  Simulator(const TaskGraph& graph, const SwapPlan& plan, const Links& links)
      : graph_(graph),
        plan_(plan),
        links_(links),
        waits_(plan.moves.size(), 0),
        behind_moves_(plan.moves.size()),
        behind_tasks_(plan.order.size()),
        awaited_(plan.order.size(), 0),
        waiting_tasks_(plan.moves.size()) {
    made_.tasks.resize(plan.order.size());
    made_.moves.resize(plan.moves.size());
    for (std::size_t m = 0; m < plan.moves.size(); ++m) {
      const Move& move = plan.moves[m];
      wait_for(move.after_task, behind_tasks_, m);
      wait_for(move.after_move, behind_moves_, m);
      if (move.content != move.after_move) wait_for(move.content, behind_moves_, m);
      if (waits_[m] == 0) ready(static_cast<int>(m));
    }
    for (std::size_t at = 0; at < plan.awaited.size(); ++at) {
      awaited_[at] = plan.awaited[at].size();
      for (const int move : plan.awaited[at]) waiting_tasks_[static_cast<std::size_t>(move)].push_back(at);
    }
  }

  Timeline run() {
    const std::size_t all = plan_.order.size() + plan_.moves.size();
    for (std::size_t ended = 0; ended < all;) {
      start();
      const double step = next_end();
      if (step == never) throw InternalError("a swap plan waits for itself");
      pass(step);
      ended += end();
    }
    made_.seconds = now_;
    return std::move(made_);
  }

 private:
  void wait_for(int what, std::vector<std::vector<int>>& behind, std::size_t move) {
    if (what < 0) return;
    behind[static_cast<std::size_t>(what)].push_back(static_cast<int>(move));
    ++waits_[move];
  }
  void ready(int move) { (plan_.moves[static_cast<std::size_t>(move)].in ? ready_in_ : ready_out_).push(move); }

  void start() {
    start(ready_in_, in_);
    start(ready_out_, out_);
    if (task_end_ != never || at_ == plan_.order.size() || awaited_[at_] > 0) return;
    made_.tasks[at_].begin = now_;
    const double seconds = graph_.tasks()[plan_.order[at_]].seconds;
    task_end_ = now_ + seconds;
    made_.computing += seconds;
  }
  void start(Ready& ready, Transfer& transfer) {
    if (transfer.move >= 0 || ready.empty()) return;
    transfer.move = ready.top();
    ready.pop();
    const auto m = static_cast<std::size_t>(transfer.move);
    transfer.left = static_cast<double>(graph_.tensors()[plan_.moves[m].tensor].bytes);
    made_.moves[m].begin = now_;
  }

  // Of both ways, as they are busy now.
  [[nodiscard]] double slower() const {
    if (in_.move < 0 || out_.move < 0) return 1;
    return std::min(1.0, links_.both / (links_.in + links_.out));
  }
  [[nodiscard]] double seconds_of(const Transfer& transfer, double speed) const {
    return transfer.move < 0 ? never : transfer.left / (speed * slower());
  }
  [[nodiscard]] double next_end() const {
    return std::min({task_end_ - now_, seconds_of(in_, links_.in), seconds_of(out_, links_.out)});
  }

  // What ends first ends exactly now, whatever the rounding.
  void pass(double step) {
    const double share = slower();
    const bool in_ends = seconds_of(in_, links_.in) <= step, out_ends = seconds_of(out_, links_.out) <= step;
    const bool task_ends = task_end_ - now_ <= step;
    in_.left = in_ends ? 0 : in_.left - step * links_.in * share;
    out_.left = out_ends ? 0 : out_.left - step * links_.out * share;
    now_ = task_ends ? task_end_ : now_ + step;
    task_ends_ = task_ends;
  }

  std::size_t end() {
    std::size_t ended = end(in_) + end(out_);
    if (!task_ends_) return ended;
    made_.tasks[at_].end = now_;
    task_end_ = never;
    for (const int move : behind_tasks_[at_]) arrived(move);
    ++at_;
    return ended + 1;
  }
  std::size_t end(Transfer& transfer) {
    if (transfer.move < 0 || transfer.left > 0) return 0;
    const auto m = static_cast<std::size_t>(transfer.move);
    made_.moves[m].end = now_;
    transfer.move = -1;
    for (const int move : behind_moves_[m]) arrived(move);
    for (const std::size_t at : waiting_tasks_[m]) --awaited_[at];
    return 1;
  }
  void arrived(int move) {
    if (--waits_[static_cast<std::size_t>(move)] == 0) ready(move);
  }

  const TaskGraph& graph_;
  const SwapPlan& plan_;
  const Links& links_;
  Timeline made_;
  std::vector<int> waits_;                      // by move: what has not ended
  std::vector<std::vector<int>> behind_moves_;  // moves that wait for a move,
  std::vector<std::vector<int>> behind_tasks_;  // and for a task
  std::vector<std::size_t> awaited_;            // by position: moves that have not ended
  std::vector<std::vector<std::size_t>> waiting_tasks_;
  Ready ready_in_, ready_out_;
  Transfer in_, out_;
  std::size_t at_ = 0;
  double now_ = 0, task_end_ = never;
  bool task_ends_ = false;
};

}  // namespace

Timeline simulate(const TaskGraph& graph, const SwapPlan& plan, const Links& links) {
  return Simulator(graph, plan, links).run();
}

std::vector<Held> held(const TaskGraph& graph, const SwapPlan& plan, const Timeline& timeline) {
  std::map<double, std::int64_t> changes;
  for (const Stay& stay : plan.stays) {
    const std::int64_t bytes = graph.tensors()[stay.tensor].bytes;
    const auto task = [&](int position) { return timeline.tasks[static_cast<std::size_t>(position)]; };
    const auto move = [&](int m) { return timeline.moves[static_cast<std::size_t>(m)]; };
    const double begin = stay.in >= 0 ? move(stay.in).begin : stay.first < 0 ? 0 : task(stay.first).begin;
    changes[begin] += bytes;
    if (!stay.to_end) changes[stay.out >= 0 ? move(stay.out).end : task(stay.last).end] -= bytes;
  }
  std::vector<Held> all;
  std::int64_t bytes = 0;
  for (const auto& [seconds, change] : changes) all.push_back({seconds, bytes += change});
  return all;
}

}  // namespace kasen::swap
