#include "libopt/swap/plan.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <set>
#include <utility>

namespace kasen::swap {
namespace {

constexpr int no_use = std::numeric_limits<int>::max();

// The positions that use each tensor, ascending, in one list.
class Uses {
 public:
  Uses(const TaskGraph& graph, const Order& order) : first_(graph.tensors().size() + 1, 0) {
    for (const TaskId task : order)
      for (const TensorId tensor : graph.touched(task)) ++first_[static_cast<std::size_t>(tensor) + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    positions_.resize(first_.back());
    next_.assign(first_.begin(), first_.end() - 1);
    for (std::size_t at = 0; at < order.size(); ++at)
      for (const TensorId tensor : graph.touched(order[at]))
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
  std::vector<std::size_t> first_, next_;
  std::vector<int> positions_;
};

struct Here {              // a tensor's state
  int stay = -1;           // in SwapPlan::stays; -1: it is not in the faster memory
  int last = -1;           // the position that used it last
  int stored = -1;         // the move that brought its content to the slower memory
  bool dirty = false;      // the slower memory lacks its content
  bool untouched = false;  // a resident from the beginning that no task has used yet
};

struct Place {  // an object without a tensor, and what has to end before it has another one
  int object = 0, after_task = -1, after_move = -1;
};

class Planner {
 public:
  Planner(const TaskGraph& graph, const Sizes& sizes, const PlanOptions& options, SwapPlan& plan)
      : graph_(graph), sizes_(sizes), options_(options), plan_(plan), uses_(graph, plan.order) {}

  // With these residents in the beginning; some of them may turn out not to be worth their places.
  [[nodiscard]] bool run(const std::vector<TensorId>& residents) {
    begin(residents);
    for (int at = 0; at < static_cast<int>(plan_.order.size()); ++at)
      if (!reach(at)) return false;
    for (const Here& here : here_)
      if (here.stay >= 0) plan_.stays[static_cast<std::size_t>(here.stay)].to_end = true;
    if (!options_.once) end();
    return true;
  }

  // Parameters that lie in the faster memory when the iteration ends.
  [[nodiscard]] std::vector<TensorId> parameters_here() const {
    std::vector<TensorId> all;
    for (const TensorId tensor : here_.ids())
      if (here_[tensor].stay >= 0 && graph_.tensors()[tensor].kind == TensorKind::parameter) all.push_back(tensor);
    return all;
  }

 private:
  // What is chosen first of those that may leave; within a class, ascending.
  struct Candidate {
    int rank;
    bool dirty;
    TensorId tensor;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  [[nodiscard]] std::size_t class_of(TensorId tensor) const {
    return static_cast<std::size_t>(plan_.allocation.classes[sizes_.of(tensor)]);
  }

  void begin(const std::vector<TensorId>& residents) {
    const std::size_t classes = number_of(plan_.allocation.classes);
    free_.assign(classes, {});
    candidates_.assign(classes, {});
    for (std::size_t c = 0; c < classes; ++c)
      for (std::int64_t object = 0; object < plan_.allocation.counts[c]; ++object)
        free_[c].push_back({static_cast<int>(object), -1, -1});
    here_ = IdMap<TensorId, Here>(graph_.tensors().size());
    uses_.begin();
    plan_.moves.clear();
    plan_.stays.clear();
    plan_.awaited.assign(plan_.order.size(), {});
    plan_.residents = residents;
    for (const TensorId tensor : graph_.tensors().ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      here_[tensor].dirty = one.kind == TensorKind::made;
      if (one.resident && one.kind != TensorKind::parameter) lie(tensor, false);
    }
    for (const TensorId tensor : residents) lie(tensor, !options_.once && graph_.is_written(tensor));
  }

  void lie(TensorId tensor, bool dirty) {
    Here& here = here_[tensor];
    std::deque<Place>& free = free_[class_of(tensor)];
    if (free.empty()) return;  // the task that needs it brings it
    here.dirty = here.dirty || dirty;
    here.untouched = graph_.tensors()[tensor].kind == TensorKind::parameter;
    settle(tensor, free.front(), -1, -1);
    free.pop_front();
    list(tensor);
  }

  void settle(TensorId tensor, const Place& place, int at, int in) {
    here_[tensor].stay = static_cast<int>(plan_.stays.size());
    plan_.stays.push_back({tensor, place.object, at, -1, in, -1, false});
  }

  [[nodiscard]] Candidate candidate(TensorId tensor) const {
    const bool dirty = here_[tensor].dirty;
    const int sooner = dirty ? options_.reluctance : 0;
    return {options_.victims == Victims::belady ? sooner - uses_.next(tensor) : here_[tensor].last, dirty, tensor};
  }
  void list(TensorId tensor) { candidates_[class_of(tensor)].insert(candidate(tensor)); }
  void unlist(TensorId tensor) { candidates_[class_of(tensor)].erase(candidate(tensor)); }

  // The task at this position: all that it touches comes into the faster memory.
  [[nodiscard]] bool reach(int at) {
    const TaskId task = plan_.order[static_cast<std::size_t>(at)];
    const std::vector<TensorId>& touched = graph_.touched(task);
    for (const TensorId tensor : touched)
      if (here_[tensor].stay >= 0) unlist(tensor);  // what is in use does not leave
    for (const TensorId tensor : touched)
      if (here_[tensor].stay < 0 && !come(tensor, at)) return false;
    for (const TensorId tensor : touched) use(tensor, at);
    for (const TensorId tensor : graph_.tasks()[task].writes) {
      here_[tensor].dirty = true;
      here_[tensor].stored = -1;
    }
    for (const TensorId tensor : touched) leave_or_list(tensor, at);
    return true;
  }

  void use(TensorId tensor, int at) {
    Here& here = here_[tensor];
    here.last = at;
    here.untouched = false;
    plan_.stays[static_cast<std::size_t>(here.stay)].last = at;
    uses_.used(tensor);
  }

  // What no later task uses, and nobody wants, leaves without a copy.
  void leave_or_list(TensorId tensor, int at) {
    const Tensor& one = graph_.tensors()[tensor];
    const bool wanted = one.kind == TensorKind::parameter || one.kept || uses_.next(tensor) != no_use;
    if (wanted) return list(tensor);
    const Stay& stay = plan_.stays[static_cast<std::size_t>(here_[tensor].stay)];
    free_[class_of(tensor)].push_back({stay.object, at, -1});
    here_[tensor].stay = -1;
  }

  // A place for the tensor; its content, if it has any, comes from the slower memory.
  [[nodiscard]] bool come(TensorId tensor, int at) {
    Place place;
    if (!find_place(class_of(tensor), at, place)) return false;
    std::vector<int>& awaited = plan_.awaited[static_cast<std::size_t>(at)];
    int in = -1;
    if (!here_[tensor].dirty) {
      in = static_cast<int>(plan_.moves.size());
      const int after = std::max(place.after_task, here_[tensor].last);  // a tensor lies in one place at a time
      plan_.moves.push_back({tensor, true, after, place.after_move, here_[tensor].stored, at});
      awaited.push_back(in);
    } else if (place.after_move >= 0) {
      awaited.push_back(place.after_move);
    }
    settle(tensor, place, at, in);
    return true;
  }

  [[nodiscard]] bool find_place(std::size_t c, int at, Place& place) {
    if (!free_[c].empty()) {
      place = free_[c].front();
      free_[c].pop_front();
      return true;
    }
    if (candidates_[c].empty()) return false;
    place = evict(victim(c, at), at);
    return true;
  }

  // The first candidate that was used long enough ago; if there is none, the first.
  [[nodiscard]] TensorId victim(std::size_t c, int at) const {
    const auto rested = [&](const Candidate& one) { return here_[one.tensor].last <= at - options_.threshold; };
    const std::set<Candidate>& all = candidates_[c];
    const auto found = std::find_if(all.begin(), all.end(), rested);
    return (found == all.end() ? all.begin() : found)->tensor;
  }

  Place evict(TensorId tensor, int at) {
    unlist(tensor);
    Here& here = here_[tensor];
    Stay& stay = plan_.stays[static_cast<std::size_t>(here.stay)];
    Place place{stay.object, here.last, -1};
    if (here.untouched) {  // it was not worth its place: another one has it from the beginning on
      plan_.residents.erase(std::lower_bound(plan_.residents.begin(), plan_.residents.end(), tensor));
      here.dirty = false;
    }
    const bool copied = here.dirty || (options_.copies_clean && !here.untouched);
    if (copied) {
      stay.out = static_cast<int>(plan_.moves.size());
      plan_.moves.push_back({tensor, false, here.last, -1, -1, at});
      place.after_move = stay.out;
      here.stored = stay.out;
      here.dirty = false;
    }
    here.stay = -1;
    here.untouched = false;
    return place;
  }

  // What changed and lives on goes to the slower memory, unless the next iteration finds it here.
  void end() {
    const std::vector<TensorId>& residents = plan_.residents;
    for (const TensorId tensor : here_.ids()) {
      Here& here = here_[tensor];
      const Tensor& one = graph_.tensors()[tensor];
      if (here.stay < 0 || !here.dirty) continue;
      const bool stays = std::binary_search(residents.begin(), residents.end(), tensor);
      if (stays || (one.kind != TensorKind::parameter && !one.kept)) continue;
      Stay& stay = plan_.stays[static_cast<std::size_t>(here.stay)];
      stay.out = static_cast<int>(plan_.moves.size());
      stay.to_end = false;
      plan_.moves.push_back({tensor, false, here.last, -1, -1, -1});
    }
  }

  const TaskGraph& graph_;
  const Sizes& sizes_;
  const PlanOptions& options_;
  SwapPlan& plan_;
  Uses uses_;
  IdMap<TensorId, Here> here_;
  std::vector<std::deque<Place>> free_;          // by class, by the time that they became free
  std::vector<std::set<Candidate>> candidates_;  // by class: what may leave
};

void count_bytes(const TaskGraph& graph, SwapPlan& plan) {
  plan.bytes_in = plan.bytes_out = 0;
  for (const Move& move : plan.moves) (move.in ? plan.bytes_in : plan.bytes_out) += graph.tensors()[move.tensor].bytes;
}

}  // namespace

bool make_plan(const TaskGraph& graph, const Sizes& sizes, const Order& order, const Allocation& allocation,
               const PlanOptions& options, SwapPlan& plan) {
  plan.order = order;
  plan.allocation = allocation;
  Planner planner(graph, sizes, options, plan);
  std::vector<TensorId> residents;
  if (!planner.run(residents)) return false;
  // The second pass begins with what the first one ended with. It ends with fewer of them where it needs their places;
  // so do the passes behind it, until an iteration ends as it begins.
  std::vector<TensorId> ended = options.once ? residents : planner.parameters_here();
  while (ended != residents) {
    residents = std::move(ended);
    if (!planner.run(residents)) return false;
    const std::vector<TensorId> here = planner.parameters_here();
    ended.clear();
    std::set_intersection(plan.residents.begin(), plan.residents.end(), here.begin(), here.end(),
                          std::back_inserter(ended));
  }
  count_bytes(graph, plan);
  return true;
}

}  // namespace kasen::swap
