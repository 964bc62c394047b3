#include "libopt/swap/simulate.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "libcore/base/error.h"

namespace kasen::swap {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Transfer {
  int move = -1;
  double left = 0;  // bytes
};

}  // namespace

// Moves that can begin: the first planned on top.
class Simulator::Ready {
 public:
  void clear() { all_.clear(); }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  void add(int move) {
    all_.push_back(move);
    std::push_heap(all_.begin(), all_.end(), std::greater<>());
  }
  int take() {
    std::pop_heap(all_.begin(), all_.end(), std::greater<>());
    const int move = all_.back();
    all_.pop_back();
    return move;
  }

 private:
  std::vector<int> all_;
};

// Lists of numbers, one for each of many things, in one vector.
class Simulator::Lists {
 public:
  // for_each calls what it is given with a thing and a number, for all of them; it is run twice.
  template <class ForEach>
  void fill(std::size_t things, ForEach for_each) {
    begins_.assign(things + 2, 0);
    for_each([&](std::size_t thing, int) { ++begins_[thing + 2]; });
    for (std::size_t i = 2; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    numbers_.resize(begins_.back());
    for_each([&](std::size_t thing, int number) { numbers_[begins_[thing + 1]++] = number; });
  }
  [[nodiscard]] std::span<const int> of(std::size_t thing) const {
    return std::span(numbers_).subspan(begins_[thing], begins_[thing + 1] - begins_[thing]);
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<int> numbers_;
};

class Simulator::Run {
 public:
  Run(const TaskGraph& graph, const Links& links) : graph_(graph), links_(links) {}

  // Infinite: it takes longer than the limit.
  double run(const SwapPlan& plan, double limit) {
    begin(plan);
    const std::size_t all = plan.order.size() + plan.moves.size();
    for (std::size_t ended = 0; ended < all;) {
      start();
      const double step = next_end();
      if (step == never) throw InternalError("a swap plan waits for itself");
      pass(step);
      ended += end();
      if (task_ends_ && now_ + left_ > limit) return never;
    }
    return made_.seconds = now_;
  }
  [[nodiscard]] const Timeline& timeline() const { return made_; }

 private:
  void begin(const SwapPlan& plan) {
    plan_ = &plan;
    made_.tasks.resize(plan.order.size());
    made_.moves.resize(plan.moves.size());
    made_.computing = now_ = left_ = 0;
    task_end_ = never;
    at_ = 0;
    in_ = out_ = {};
    ready_in_.clear();
    ready_out_.clear();
    for (const TaskId task : plan.order) left_ += graph_.tasks()[task].seconds;
    left_ *= 1 - 1e-12;  // sums of other orders are rounded differently
    wait();
  }

  // Who waits for what.
  void wait() {
    const std::vector<Move>& moves = plan_->moves;
    waits_.assign(moves.size(), 0);
    behind_tasks_.fill(plan_->order.size(), [&](auto visit) {
      for (std::size_t m = 0; m < moves.size(); ++m)
        if (moves[m].after_task >= 0) visit(static_cast<std::size_t>(moves[m].after_task), static_cast<int>(m));
    });
    behind_moves_.fill(moves.size(), [&](auto visit) {
      for (std::size_t m = 0; m < moves.size(); ++m) {
        const Move& move = moves[m];
        if (move.after_move >= 0) visit(static_cast<std::size_t>(move.after_move), static_cast<int>(m));
        if (move.content >= 0 && move.content != move.after_move)
          visit(static_cast<std::size_t>(move.content), static_cast<int>(m));
      }
    });
    waiting_tasks_.fill(moves.size(), [&](auto visit) {
      for (std::size_t at = 0; at < plan_->awaited.size(); ++at)
        for (const int move : plan_->awaited[at]) visit(static_cast<std::size_t>(move), static_cast<int>(at));
    });
    for (std::size_t m = 0; m < moves.size(); ++m) {
      const Move& move = moves[m];
      waits_[m] = (move.after_task >= 0 ? 1 : 0) + (move.after_move >= 0 ? 1 : 0) +
                  (move.content >= 0 && move.content != move.after_move ? 1 : 0);
      if (waits_[m] == 0) ready(static_cast<int>(m));
    }
    awaited_.assign(plan_->order.size(), 0);
    for (std::size_t at = 0; at < plan_->awaited.size(); ++at) awaited_[at] = plan_->awaited[at].size();
  }
  void ready(int move) { (plan_->moves[static_cast<std::size_t>(move)].in ? ready_in_ : ready_out_).add(move); }

  void start() {
    start(ready_in_, in_);
    start(ready_out_, out_);
    if (task_end_ != never || at_ == plan_->order.size() || awaited_[at_] > 0) return;
    made_.tasks[at_].begin = now_;
    const double seconds = graph_.tasks()[plan_->order[at_]].seconds;
    task_end_ = now_ + seconds;
    made_.computing += seconds;
  }
  void start(Ready& ready, Transfer& transfer) {
    if (transfer.move >= 0 || ready.empty()) return;
    transfer.move = ready.take();
    const auto m = static_cast<std::size_t>(transfer.move);
    transfer.left = static_cast<double>(graph_.tensors()[plan_->moves[m].tensor].bytes);
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
    left_ -= graph_.tasks()[plan_->order[at_]].seconds;
    for (const int move : behind_tasks_.of(at_)) arrived(move);
    ++at_;
    return ended + 1;
  }
  std::size_t end(Transfer& transfer) {
    if (transfer.move < 0 || transfer.left > 0) return 0;
    const auto m = static_cast<std::size_t>(transfer.move);
    made_.moves[m].end = now_;
    transfer.move = -1;
    for (const int move : behind_moves_.of(m)) arrived(move);
    for (const int at : waiting_tasks_.of(m)) --awaited_[static_cast<std::size_t>(at)];
    return 1;
  }
  void arrived(int move) {
    if (--waits_[static_cast<std::size_t>(move)] == 0) ready(move);
  }

  const TaskGraph& graph_;
  const Links links_;
  const SwapPlan* plan_ = nullptr;
  Timeline made_;
  std::vector<int> waits_;            // by move: what has not ended
  Lists behind_moves_;                // moves that wait for a move,
  Lists behind_tasks_;                // and for a task
  std::vector<std::size_t> awaited_;  // by position: moves that have not ended
  Lists waiting_tasks_;               // positions that wait for a move
  Ready ready_in_, ready_out_;
  Transfer in_, out_;
  std::size_t at_ = 0;
  double now_ = 0, task_end_ = never;
  double left_ = 0;  // seconds of the tasks that have not ended, or a little less
  bool task_ends_ = false;
};

Simulator::Simulator(const TaskGraph& graph, const Links& links) : run_(std::make_unique<Run>(graph, links)) {}
Simulator::~Simulator() = default;

double Simulator::seconds(const SwapPlan& plan, double limit) { return run_->run(plan, limit); }

const Timeline& Simulator::timeline() const { return run_->timeline(); }

Timeline simulate(const TaskGraph& graph, const SwapPlan& plan, const Links& links) {
  Simulator simulator(graph, links);
  (void)simulator.seconds(plan);
  return simulator.timeline();
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
