#include "libopt/swap/improve.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "libopt/swap/evaluate.h"

namespace kasen::swap {
namespace {

constexpr std::array some_tasks{0, 1, 2, 4, 8, 16};  // thresholds and reluctances

// One walk, from one plan.
class Walk {
 public:
  Walk(const TaskGraph& graph, const Sizes& sizes, const SearchOptions& options, Individual from, std::uint64_t number)
      : graph_(graph), sizes_(sizes), options_(options), now_(std::move(from)), best_(now_) {
    std::seed_seq seeds{options.seed & 0xffffffffU, options.seed >> 32, number, std::uint64_t{0x1a4c}};
    random_.seed(seeds);
    users_.resize(graph.tensors().size());
    for (const TaskId task : graph.tasks().ids())
      for (const TensorId tensor : graph.touched(task)) users_[tensor].push_back(task);
  }

  // Makes so many plans.
  void run(Evaluator& evaluator, std::int64_t evaluations) {
    if (requests_.empty() && evaluator.seconds(now_) == now_.seconds) {
      note(evaluator.plan(), evaluator.timeline());
      keep_better(bytes_of(evaluator.plan()));
    }
    if (requests_.empty()) return;  // there is nothing to move
    for (; evaluations > 0; --evaluations) {
      Individual next = now_;
      if (!change(next)) continue;
      double& before = late_[static_cast<std::size_t>(turn_++ % std::ssize(late_))];
      if (before == 0) before = now_.seconds;
      const double limit = std::max(before, now_.seconds);
      next.seconds = evaluator.seconds(next, limit);
      if (next.seconds <= limit) {
        now_ = std::move(next);
        now_.plan.residents = evaluator.plan().residents;  // so that the next plan needs fewer passes
        note(evaluator.plan(), evaluator.timeline());
        keep_better(bytes_of(evaluator.plan()));
      }
      before = std::min(before, now_.seconds);
    }
  }

  // Takes departures from the rules back that do not help.
  void tidy(Evaluator& evaluator, std::int64_t evaluations) {
    now_ = best_;
    now_.plan.residents.clear();
    try_now(evaluator);
    take_back(evaluator, evaluations, &PlanOptions::choices);
    take_back(evaluator, evaluations, &PlanOptions::copies);
  }

  [[nodiscard]] const Individual& best() const { return best_; }
  [[nodiscard]] std::int64_t best_bytes() const { return best_bytes_; }

 private:
  static std::int64_t bytes_of(const SwapPlan& plan) { return plan.bytes_in + plan.bytes_out; }

  // Of equally good plans, one that moves less.
  void keep_better(std::int64_t bytes) {
    if (std::tuple(now_.seconds, bytes) >= std::tuple(best_.seconds, best_bytes_)) return;
    best_ = now_;
    best_bytes_ = bytes;
  }

  template <class Departures>
  void take_back(Evaluator& evaluator, std::int64_t& evaluations, Departures PlanOptions::*which) {
    now_ = best_;
    for (std::size_t i = (best_.plan.*which).size(); i-- > 0 && evaluations-- > 0;) {
      now_.plan.*which = best_.plan.*which;
      (now_.plan.*which).erase((now_.plan.*which).begin() + static_cast<std::ptrdiff_t>(i));
      try_now(evaluator);
    }
  }
  void try_now(Evaluator& evaluator) {
    now_.seconds = evaluator.seconds(now_, best_.seconds);
    if (now_.seconds > best_.seconds) return;
    const std::int64_t bytes = bytes_of(evaluator.plan());
    if (now_.seconds == best_.seconds && bytes > best_bytes_) return;
    best_ = now_;
    best_bytes_ = bytes;
  }

  struct Request {
    int at;  // position
    TaskId task;
    int number;
  };

  // Places that tasks ask for: those of stays that begin with them, in this order. Tensors that leave. How long tasks
  // wait.
  void note(const SwapPlan& plan, const Timeline& timeline) {
    waited_.clear();
    double before = 0, sum = 0;
    for (const Span& task : timeline.tasks) {
      waited_.push_back(sum += task.begin - before);
      before = task.end;
    }
    requests_.clear();
    leaving_.clear();
    for (const Move& move : plan.moves)
      if (!move.in) leaving_.push_back(move.tensor);
    int last = -1, number = 0;
    for (const Stay& stay : plan.stays) {
      if (stay.first < 0 && stay.in < 0) continue;
      const int at = stay.in < 0 ? stay.first : plan.moves[static_cast<std::size_t>(stay.in)].before_task;
      number = at == last ? number + 1 : 0;
      last = at;
      requests_.push_back({at, plan.order[static_cast<std::size_t>(at)], number});
    }
  }

  // False: nothing changed.
  bool change(Individual& one) {
    const std::size_t kind = draw(random_, 20);
    if (kind < 8) return options_.orders && move_task(one.order);
    if (kind < 12) return choose(one.plan.choices);
    if (kind < 15) return copy(one.plan.copies);
    if (kind < 16) return draws(random_, 0.7) ? change_rules(one.plan) : change_residents(one.plan.residents);
    return options_.allocations && change_allocation(one);
  }

  // Any position, or one of the last before a task that waits: those that wait longer are likelier.
  std::size_t position() {
    const std::size_t all = now_.order.size();
    if (waited_.empty() || waited_.back() <= 0 || draws(random_, 0.5)) return draw(random_, all);
    const double drawn = static_cast<double>(random_() >> 11) * 0x1p-53 * waited_.back();
    const auto found = std::upper_bound(waited_.begin(), waited_.end(), drawn);
    const auto at = std::min(static_cast<std::size_t>(found - waited_.begin()), all - 1);
    return at - std::min(at, draw(random_, reach()));
  }
  // Small numbers are likelier than large ones.
  std::size_t reach() {
    std::size_t made = 1;
    while (made < now_.order.size() && draws(random_, 0.6)) made *= 2;
    return made;
  }

  // A task runs at another position, between those that it waits for and those that wait for it. Near ones are
  // likelier.
  bool move_task(Order& order) {
    const std::size_t at = position(), most = reach();
    const TaskId task = order[at];
    std::size_t first = at, last = at;
    const auto waits = [&](TaskId a, TaskId b) {
      const std::vector<TaskId>& before = graph_.before(b);
      return std::binary_search(before.begin(), before.end(), a);
    };
    while (first > 0 && at - first < most && !waits(order[first - 1], task)) --first;
    while (last + 1 < order.size() && last - at < most && !waits(task, order[last + 1])) ++last;
    if (first == last) return false;
    std::size_t to = first + draw(random_, last - first);
    if (to >= at) ++to;
    const auto begin = order.begin();
    const auto place = [&](std::size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
    if (to < at)
      std::rotate(place(to), place(at), place(at + 1));
    else
      std::rotate(place(at), place(at + 1), place(to + 1));
    return true;
  }

  // One place is asked for in another way, or as usual again.
  bool choose(std::vector<Choice>& choices) {
    if (!choices.empty() && draws(random_, 0.3)) {
      choices.erase(choices.begin() + static_cast<std::ptrdiff_t>(draw(random_, choices.size())));
      return true;
    }
    if (requests_.empty()) return false;
    const auto at = static_cast<int>(position());
    auto found = std::lower_bound(requests_.begin(), requests_.end(), at,
                                  [](const Request& one, int position) { return one.at < position; });
    if (found == requests_.end()) --found;
    const auto same_task =
        std::find_if(found, requests_.end(), [&](const Request& one) { return one.at != found->at; });
    const Request& request =
        *(found + static_cast<std::ptrdiff_t>(draw(random_, static_cast<std::size_t>(same_task - found))));
    const Choice made{request.task, request.number, static_cast<int>(1 + draw(random_, 4))};
    const auto same = [&](const Choice& one) { return one.task == made.task && one.request == made.request; };
    std::erase_if(choices, same);
    choices.insert(std::lower_bound(choices.begin(), choices.end(), made), made);
    return true;
  }

  // A tensor that leaves is copied behind a task that uses it before, or not any more.
  bool copy(std::vector<Copy>& copies) {
    if (!copies.empty() && draws(random_, 0.3)) {
      copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(draw(random_, copies.size())));
      return true;
    }
    if (leaving_.empty()) return false;
    const TensorId tensor = leaving_[draw(random_, leaving_.size())];
    const std::vector<TaskId>& users = users_[tensor];
    const Copy made{users[draw(random_, users.size())], tensor};
    const auto place = std::lower_bound(copies.begin(), copies.end(), made);
    if (place != copies.end() && *place == made) return false;
    copies.insert(place, made);
    return true;
  }

  bool change_rules(PlanOptions& plan) {
    int& rule = draws(random_, 0.5) ? plan.threshold : plan.reluctance;
    const int value = some_tasks[draw(random_, some_tasks.size())];
    return std::exchange(rule, value) != value;
  }

  // They are found anew, or one of them is not there any more when an iteration begins.
  bool change_residents(std::vector<TensorId>& residents) {
    if (residents.empty()) return false;
    if (draws(random_, 0.3))
      residents.clear();
    else
      residents.erase(residents.begin() + static_cast<std::ptrdiff_t>(draw(random_, residents.size())));
    return true;
  }

  bool change_allocation(Individual& one) {
    Allocation made = one.allocation;
    if (draws(random_, 0.7))
      move_objects(made, one.order);
    else
      move_border(made);
    if (!settle(graph_, sizes_, one.order, options_.capacity, made) || made == one.allocation) return false;
    one.allocation = std::move(made);
    return true;
  }

  // One class gives objects, and another one takes the memory, as far as it can use it.
  void move_objects(Allocation& made, const Order& order) {
    const std::size_t gives = draw(random_, made.counts.size()), takes = draw(random_, made.counts.size());
    const std::vector<std::int64_t> bytes = object_bytes(sizes_, made.classes);
    const std::int64_t most = most_counts(graph_, sizes_, made.classes, order)[takes] - made.counts[takes];
    const auto step = static_cast<std::size_t>(1 + made.counts[takes] / 4);
    const std::int64_t wanted = std::min(most, 1 + static_cast<std::int64_t>(draw(random_, step)));
    if (wanted <= 0) return;
    made.counts[takes] += wanted;
    if (gives != takes)  // else all others give
      made.counts[gives] -= std::min(made.counts[gives], (wanted * bytes[takes] + bytes[gives] - 1) / bytes[gives]);
  }

  // A size begins a class, joins the one before, or goes over to a neighbour.
  void move_border(Allocation& made) {
    if (sizes_.count() < 2) return;
    const Allocation old = made;
    const std::size_t size = 1 + draw(random_, sizes_.count() - 1);
    const bool begins = made.classes[size] != made.classes[size - 1];
    const auto shift = [&](std::size_t from, int change) {
      for (std::size_t i = from; i < sizes_.count(); ++i) made.classes[i] += change;
    };
    shift(size, begins ? -1 : 1);
    if (begins && draws(random_, 0.6)) {  // the border goes to a neighbour
      const bool up = draws(random_, 0.5);
      const std::size_t next = up ? size + 1 : size - 1;
      if (next > 0 && next < sizes_.count() && made.classes[next] == made.classes[next - 1]) shift(next, 1);
    }
    made.counts = crossed(old, old, 0, made.classes);
  }

  const TaskGraph& graph_;
  const Sizes& sizes_;
  const SearchOptions& options_;
  Random random_;
  Individual now_, best_;
  std::int64_t best_bytes_ = std::numeric_limits<std::int64_t>::max();
  std::vector<double> waited_;     // seconds that the tasks up to each position have waited
  std::vector<Request> requests_;  // of the plan of `now_`,
  std::vector<TensorId> leaving_;  // as these
  IdMap<TensorId, std::vector<TaskId>> users_;
  std::array<double, 50> late_{};  // seconds of some changes ago
  std::int64_t turn_ = 0;
};

Generation summary(const std::vector<Walk>& walks, std::int64_t evaluated) {
  Generation made{evaluated, walks.front().best().seconds, 0, 0};
  for (const Walk& walk : walks) {
    made.best = std::min(made.best, walk.best().seconds);
    made.worst = std::max(made.worst, walk.best().seconds);
    made.mean += walk.best().seconds / static_cast<double>(walks.size());
  }
  return made;
}

}  // namespace

Found improve(const TaskGraph& graph, const SearchOptions& options, const std::vector<Individual>& from,
              const ImproveOptions& steps) {
  const Sizes sizes(graph);
  ThreadPool pool(options.threads, ThreadPool::Shortage::accept);
  const Evaluators evaluators(graph, sizes, options, pool);
  std::vector<Walk> walks;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(steps.walks, 1)); ++i)
    walks.emplace_back(graph, sizes, options, from[i % from.size()], i);
  std::vector<Generation> course;
  // In the last round they tidy up.
  constexpr std::int64_t rounds = 16;
  const std::int64_t each = steps.evaluations / rounds / std::ssize(walks);
  for (std::int64_t round = 0; round <= rounds; ++round) {
    share_out(pool, std::ssize(walks), [&](int thread, std::int64_t piece) {
      Walk& walk = walks[static_cast<std::size_t>(piece)];
      if (round == rounds)
        walk.tidy(evaluators.of(thread), each);
      else if (round > 0)
        walk.run(evaluators.of(thread), each);
    });
    course.push_back(summary(walks, round * each * std::ssize(walks)));
    if (options.watch) options.watch(static_cast<int>(course.size()) - 1, course.back());
  }
  const auto best = std::min_element(walks.begin(), walks.end(), [](const Walk& a, const Walk& b) {
    return std::tuple(a.best().seconds, a.best_bytes()) < std::tuple(b.best().seconds, b.best_bytes());
  });
  Found found = found_of(graph, sizes, best->best(), options, std::move(course));
  found.turns = "rounds";
  return found;
}

}  // namespace kasen::swap
