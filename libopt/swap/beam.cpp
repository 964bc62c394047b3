#include "libopt/swap/beam.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libcore/base/sorted.h"
#include "libopt/swap/evaluate.h"

namespace kasen::swap {
namespace {

constexpr std::size_t most_heads = 8;  // ready tasks that an order goes on with, at most

// An order whose first tasks are decided. The others stand as they would run, so that the planner's time for all of it
// tells how good the decided ones are.
struct Followed {
  Individual one;
  std::uint64_t done = 0;  // the set of decided tasks: the sum of their marks
};

// A number that looks random (splitmix64): sums of them tell sets of tasks apart.
std::uint64_t mark_of(TaskId task) {
  std::uint64_t mark = (static_cast<std::uint64_t>(task) + 1) * 0x9e3779b97f4a7c15U;
  mark = (mark ^ (mark >> 30)) * 0xbf58476d1ce4e5b9U;
  mark = (mark ^ (mark >> 27)) * 0x94d049bb133111ebU;
  return mark ^ (mark >> 31);
}

// The first tasks of an order are done; what can run next.
class Front {
 public:
  Front(const TaskGraph& graph, const Order& order, std::size_t depth)
      : graph_(graph), order_(order), depth_(depth), left_(graph.tasks().size()) {
    for (const TaskId task : graph.tasks().ids()) left_[task] = graph.before(task).size();
    for (std::size_t at = 0; at < depth; ++at)
      for (const TaskId later : graph.behind(order[at])) --left_[later];
  }

  // As they stand in the order.
  [[nodiscard]] std::vector<TaskId> ready(std::size_t most) const {
    std::vector<TaskId> all;
    for (std::size_t at = depth_; at < order_.size() && all.size() < most; ++at)
      if (left_[order_[at]] == 0) all.push_back(order_[at]);
    return all;
  }

  // Goes on with `head` and what it makes ready, along branches, for so many tasks; then as before.
  [[nodiscard]] Order led_by(TaskId head, std::size_t tasks) const {
    IdMap<TaskId, std::size_t> left = left_;
    Order front(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(depth_));
    std::vector<TaskId> stack{head};
    while (!stack.empty() && front.size() < depth_ + tasks) {
      const TaskId task = stack.back();
      stack.pop_back();
      front.push_back(task);
      const std::vector<TaskId>& behind = graph_.behind(task);
      for (std::size_t i = behind.size(); i-- > 0;)
        if (--left[behind[i]] == 0) stack.push_back(behind[i]);
    }
    return crossed(front, order_, front.size());
  }

 private:
  const TaskGraph& graph_;
  const Order& order_;
  std::size_t depth_;
  IdMap<TaskId, std::size_t> left_;
};

class Beam {
 public:
  Beam(const TaskGraph& graph, const SearchOptions& options, const BeamOptions& beam)
      : graph_(graph),
        sizes_(graph),
        options_(options),
        beam_(beam),
        width_(static_cast<std::size_t>(std::max(beam.width, 1))),
        pool_(options.threads, ThreadPool::Shortage::accept),
        evaluators_(graph, sizes_, options, pool_) {}

  Found run() {
    require_room(graph_, sizes_, options_.capacity);
    begin();
    // Later passes decide from the beginning again, and look at what the orders found so far leave open.
    double before = 0;
    do {
      before = best().seconds;
      refine();
      pass();
    } while (best().seconds < before && left() > 0);
    Found found = found_of(graph_, sizes_, best(), options_, std::move(course_));
    found.turns = "steps";
    for (const Followed& one : followed_) found.best.push_back(one.one);
    return found;
  }

 private:
  [[nodiscard]] const Individual& best() const { return followed_.front().one; }
  [[nodiscard]] std::int64_t left() const { return beam_.evaluations - evaluated_; }

  void begin() {
    known_ = {program_order(graph_), depth_first(graph_), least_live(graph_), breadth_first(graph_)};
    if (!options_.orders) known_.resize(1);
    std::vector<Followed> all;
    for (const Order& order : known_) {
      for (Allocation& allocation : first_allocations(graph_, sizes_, order, options_.capacity)) {
        all.push_back({{order, std::move(allocation), options_.plan, 0}});
        if (!options_.allocations) break;
      }
    }
    evaluate(all);
    keep(std::move(all));
  }

  // From the first task to the last, so many at a time that what is left of the evaluations lasts.
  void pass() {
    if (!options_.orders) return;
    for (Followed& one : followed_) one.done = 0;
    const std::size_t all = graph_.tasks().size();
    const std::size_t a_step = width_ * (most_heads + known_.size());
    const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(left(), 1)) / a_step + 1;
    const std::size_t tasks = (all + steps - 1) / steps;
    for (std::size_t depth = 0; depth < all && left() > 0; depth += tasks) step(depth, std::min(tasks, all - depth));
  }

  void step(std::size_t depth, std::size_t tasks) {
    std::vector<Followed> next;
    for (const Followed& from : followed_) extend(from, depth, tasks, next);
    shorten(next, left());
    evaluate(next);
    next.insert(next.end(), std::make_move_iterator(followed_.begin()), std::make_move_iterator(followed_.end()));
    for (Followed& one : next)
      for (std::size_t at = depth; at < depth + tasks; ++at) one.done += mark_of(one.one.order[at]);
    keep(std::move(next));
  }

  // Each ready task first, and what is left as it stands or as a known order has it; or all that is left as a known
  // order has it. Where many tasks are decided at once, evaluations are few: what is left stands as it is. A place with
  // one ready task is no choice.
  void extend(const Followed& from, std::size_t depth, std::size_t tasks, std::vector<Followed>& next) const {
    const Order& order = from.one.order;
    const Front front(graph_, order, depth);
    const std::vector<TaskId> heads = front.ready(most_heads);
    std::vector<Order> orders;
    for (const TaskId head : heads) {
      if (heads.size() == 1 && tasks == 1) break;
      const Order led = front.led_by(head, tasks);
      orders.push_back(led);
      if (tasks > 1) continue;
      for (const Order& known : known_) orders.push_back(crossed(led, known, depth + 1));
    }
    for (const Order& known : known_) orders.push_back(crossed(order, known, depth));
    sort_unique(orders);
    for (Order& made : orders) {
      if (made == order) continue;
      next.push_back(from);
      next.back().one.order = std::move(made);
    }
  }

  static void shorten(std::vector<Followed>& all, std::int64_t most) {
    if (std::ssize(all) > most) all.resize(static_cast<std::size_t>(std::max<std::int64_t>(most, 0)));
  }
  void evaluate(std::vector<Followed>& all) {
    share_out(pool_, std::ssize(all), [&](int thread, std::int64_t piece) {
      Individual& one = all[static_cast<std::size_t>(piece)].one;
      one.seconds = evaluators_.of(thread).seconds(one);
    });
    evaluated_ += std::ssize(all);
  }

  // The best one of each set of decided tasks, as what follows does not know how it was reached; where there is room,
  // the best of the others.
  void keep(std::vector<Followed> all) {
    const auto sooner = [](const Followed& a, const Followed& b) { return a.one.seconds < b.one.seconds; };
    std::stable_sort(all.begin(), all.end(), sooner);
    followed_.clear();
    std::set<std::uint64_t> sets;
    std::vector<Followed> others;
    for (Followed& one : all) {
      if (followed_.size() == width_) break;
      (sets.insert(one.done).second ? followed_ : others).push_back(std::move(one));
    }
    for (Followed& one : others) {
      if (followed_.size() == width_) break;
      const auto equal = [&](const Followed& kept) { return kept.one == one.one; };
      if (std::none_of(followed_.begin(), followed_.end(), equal)) followed_.push_back(std::move(one));
    }
    std::stable_sort(followed_.begin(), followed_.end(), sooner);
    note();
  }

  // Other allocations and choices of what leaves, for the orders found so far, while each makes the best one better.
  // They take a quarter of what is left at most.
  void refine() {
    const std::int64_t until = evaluated_ + left() / 4;
    for (std::size_t at = 0; at < followed_.size() && evaluated_ < until; ++at) {
      for (double before = -1; before != followed_[at].one.seconds && evaluated_ < until;) {
        before = followed_[at].one.seconds;
        std::vector<Followed> all;
        for (Individual& one : others(followed_[at].one)) all.push_back({std::move(one), followed_[at].done});
        shorten(all, until - evaluated_);
        evaluate(all);
        for (Followed& one : all)
          if (one.one.seconds < followed_[at].one.seconds) followed_[at] = std::move(one);
        if (at == 0) note();
      }
    }
    keep(std::move(followed_));
  }

  // One change each: what leaves, where classes begin, and which class has more objects, at the cost of the others.
  [[nodiscard]] std::vector<Individual> others(const Individual& from) const {
    std::vector<Individual> all;
    for (const int tasks : {0, 1, 2, 4, 8, 16}) {
      all.push_back(from);
      all.back().plan.threshold = tasks;
      all.push_back(from);
      all.back().plan.reluctance = tasks;
    }
    if (!options_.allocations) return all;
    for (std::size_t c = 0; c < from.allocation.counts.size(); ++c) {
      Allocation made = from.allocation;
      made.counts[c] += 1 + made.counts[c] / 8;
      add(from, std::move(made), all);
    }
    for (std::size_t size = 1; size < sizes_.count(); ++size) {
      Allocation made = from.allocation;
      const int change = made.classes[size] == made.classes[size - 1] ? 1 : -1;
      for (std::size_t i = size; i < sizes_.count(); ++i) made.classes[i] += change;
      made.counts = crossed(from.allocation, from.allocation, 0, made.classes);
      add(from, std::move(made), all);
    }
    return all;
  }
  void add(const Individual& from, Allocation made, std::vector<Individual>& all) const {
    if (!settle(graph_, sizes_, from.order, options_.capacity, made) || made == from.allocation) return;
    all.push_back(from);
    all.back().allocation = std::move(made);
  }

  void note() {
    Generation made{evaluated_, best().seconds, 0, followed_.back().one.seconds};
    for (const Followed& one : followed_) made.mean += one.one.seconds / static_cast<double>(followed_.size());
    course_.push_back(made);
    if (options_.watch) options_.watch(static_cast<int>(course_.size()) - 1, made);
  }

  const TaskGraph& graph_;
  Sizes sizes_;
  const SearchOptions& options_;
  const BeamOptions& beam_;
  std::size_t width_;
  ThreadPool pool_;
  Evaluators evaluators_;
  std::vector<Order> known_;
  std::vector<Followed> followed_;  // the best first
  std::int64_t evaluated_ = 0;
  std::vector<Generation> course_;
};

}  // namespace

Found beam(const TaskGraph& graph, const SearchOptions& options, const BeamOptions& beam) {
  return Beam(graph, options, beam).run();
}

}  // namespace kasen::swap
