#include "libopt/swap/plan.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "libopt/swap/plan_state.h"

namespace kasen::swap {

class PlanMaker::Planner {
 public:
  Planner(const TaskGraph& graph, const Sizes& sizes) : graph_(graph), sizes_(sizes), uses_(graph) {}

  void begin(const PlanOptions& options, SwapPlan& plan) {
    options_ = &options;
    plan_ = &plan;
    uses_.begin(plan.order);
    class_of_.resize(graph_.tensors().size());
    for (const TensorId tensor : graph_.tensors().ids())
      class_of_[tensor] = static_cast<std::size_t>(plan.allocation.classes[sizes_.of(tensor)]);
  }

  // With these residents in the beginning; some of them may turn out not to be worth their places.
  [[nodiscard]] bool run(const std::vector<TensorId>& residents) {
    clear(residents);
    for (int at = 0; at < static_cast<int>(plan_->order.size()); ++at)
      if (!reach(at)) return false;
    for (const Here& here : here_)
      if (here.stay >= 0) plan_->stays[static_cast<std::size_t>(here.stay)].to_end = true;
    if (!options_->once) end();
    return true;
  }

  // Parameters that lie in the faster memory when the iteration ends.
  void parameters_here(std::vector<TensorId>& all) const {
    all.clear();
    for (const TensorId tensor : here_.ids())
      if (here_[tensor].stay >= 0 && graph_.tensors()[tensor].kind == TensorKind::parameter) all.push_back(tensor);
  }

 private:
  void clear(const std::vector<TensorId>& residents) {
    const std::size_t classes = plan_->allocation.counts.size();
    if (places_.size() < classes) places_.resize(classes);
    if (candidates_.size() < classes) candidates_.resize(classes);
    for (std::size_t c = 0; c < classes; ++c) {
      places_[c].begin(plan_->allocation.counts[c]);
      candidates_[c].begin();
    }
    here_.assign(graph_.tensors().size(), {});
    uses_.begin();
    plan_->moves.clear();
    plan_->stays.clear();
    plan_->awaited.resize(plan_->order.size());
    for (std::vector<int>& awaited : plan_->awaited) awaited.clear();
    plan_->residents = residents;
    for (const TensorId tensor : graph_.tensors().ids()) {
      const Tensor& one = graph_.tensors()[tensor];
      here_[tensor].dirty = one.kind == TensorKind::made;
      if (one.resident && one.kind != TensorKind::parameter) lie(tensor, false);
    }
    for (const TensorId tensor : residents) lie(tensor, !options_->once && graph_.is_written(tensor));
  }

  void lie(TensorId tensor, bool dirty) {
    Here& here = here_[tensor];
    Places& free = places_[class_of_[tensor]];
    if (free.empty()) {  // the task that needs it brings it
      std::erase(plan_->residents, tensor);
      return;
    }
    here.dirty = here.dirty || dirty;
    here.untouched = graph_.tensors()[tensor].kind == TensorKind::parameter;
    settle(tensor, free.take_first(), -1, -1);
    may_leave(tensor);
  }

  void settle(TensorId tensor, const Place& place, int at, int in) {
    here_[tensor].stay = static_cast<int>(plan_->stays.size());
    plan_->stays.push_back({tensor, place.object, at, -1, in, -1, false});
  }

  [[nodiscard]] Candidate candidate(TensorId tensor) const {
    const bool dirty = here_[tensor].dirty;
    const int sooner = dirty ? options_->reluctance : 0;
    return {options_->victims == Victims::belady ? sooner - uses_.next(tensor) : here_[tensor].last, dirty, tensor};
  }
  void may_leave(TensorId tensor) {
    here_[tensor].may_leave = true;
    candidates_[class_of_[tensor]].add(candidate(tensor));
  }

  // The task at this position: all that it touches comes into the faster memory. What moves there has the places that
  // were free the longest, so that it comes early; what the task makes has others.
  [[nodiscard]] bool reach(int at) {
    const TaskId task = plan_->order[static_cast<std::size_t>(at)];
    const std::vector<TensorId>& touched = graph_.touched(task);
    for (const TensorId tensor : touched) here_[tensor].may_leave = false;
    request_ = 0;
    for (const bool made : {false, true})
      for (const TensorId tensor : touched)
        if (here_[tensor].stay < 0 && here_[tensor].dirty == made && !come(tensor, at)) return false;
    for (const TensorId tensor : touched) use(tensor, at);
    for (const TensorId tensor : graph_.tasks()[task].writes) {
      here_[tensor].dirty = true;
      here_[tensor].stored = -1;
    }
    for (const TensorId tensor : touched) leave_or_stay(tensor, at);
    return true;
  }

  void use(TensorId tensor, int at) {
    Here& here = here_[tensor];
    if (here.copy >= 0) {  // what is used does not move
      plan_->awaited[static_cast<std::size_t>(at)].push_back(here.copy);
      plan_->moves[static_cast<std::size_t>(here.copy)].before_task = at;
      here.copy = -1;
    }
    here.last = at;
    here.untouched = false;
    plan_->stays[static_cast<std::size_t>(here.stay)].last = at;
    uses_.used(tensor);
  }

  // What no later task uses, and nobody wants, leaves without a copy.
  void leave_or_stay(TensorId tensor, int at) {
    const Tensor& one = graph_.tensors()[tensor];
    const bool wanted = one.kind == TensorKind::parameter || one.kept || uses_.next(tensor) != no_use;
    if (wanted) {
      copy(tensor, at);
      return may_leave(tensor);
    }
    const Stay& stay = plan_->stays[static_cast<std::size_t>(here_[tensor].stay)];
    places_[class_of_[tensor]].add({stay.object, at, -1});
    here_[tensor].stay = -1;
  }

  void copy(TensorId tensor, int at) {
    const std::vector<Copy>& all = options_->copies;
    Here& here = here_[tensor];
    if (all.empty() || !here.dirty) return;
    if (!std::binary_search(all.begin(), all.end(), Copy{plan_->order[static_cast<std::size_t>(at)], tensor})) return;
    here.copy = here.stored = static_cast<int>(plan_->moves.size());
    plan_->moves.push_back({tensor, false, at, -1, -1, -1, true});
    here.dirty = false;
  }

  // A place for the tensor; its content, if it has any, comes from the slower memory.
  [[nodiscard]] bool come(TensorId tensor, int at) {
    Place place;
    if (!find_place(class_of_[tensor], at, here_[tensor].dirty, place)) return false;
    ++request_;
    std::vector<int>& awaited = plan_->awaited[static_cast<std::size_t>(at)];
    int in = -1;
    if (!here_[tensor].dirty) {
      in = static_cast<int>(plan_->moves.size());
      const int after = std::max(place.after_task, here_[tensor].last);  // a tensor lies in one place at a time
      plan_->moves.push_back({tensor, true, after, place.after_move, here_[tensor].stored, at});
      awaited.push_back(in);
    } else if (place.after_move >= 0) {
      awaited.push_back(place.after_move);
    }
    settle(tensor, place, at, in);
    return true;
  }

  // What is chosen for this request.
  [[nodiscard]] int chosen(int at) const {
    if (options_->choices.empty()) return 0;
    const TaskId task = plan_->order[static_cast<std::size_t>(at)];
    const auto found = std::lower_bound(options_->choices.begin(), options_->choices.end(), Choice{task, request_, 0});
    return found != options_->choices.end() && found->task == task && found->request == request_ ? found->value : 0;
  }

  [[nodiscard]] bool find_place(std::size_t c, int at, bool made, Place& place) {
    Places& free = places_[c];
    const int value = chosen(at);
    TensorId leaving;
    if (free.empty() || value > 1) leaving = victim(c, at, free.empty() ? value : value - 2);
    if (leaving >= 0)
      place = evict(leaving, at);
    else if (!free.empty())
      place = made == (value != 1) ? free.take_last() : free.take_first();
    else
      return false;
    return true;
  }

  // The first candidate that was used long enough ago, behind so many others; if there is none, the first.
  [[nodiscard]] TensorId victim(std::size_t c, int at, int others) {
    return candidates_[c].first(
        [&](const Candidate& one) { return here_[one.tensor].may_leave && one == candidate(one.tensor); },
        [&](const Candidate& one) { return here_[one.tensor].last <= at - options_->threshold; }, others);
  }

  Place evict(TensorId tensor, int at) {
    Here& here = here_[tensor];
    Stay& stay = plan_->stays[static_cast<std::size_t>(here.stay)];
    Place place{stay.object, here.last, -1};
    if (here.untouched) {  // it was not worth its place: another one has it from the beginning on
      plan_->residents.erase(std::lower_bound(plan_->residents.begin(), plan_->residents.end(), tensor));
      here.dirty = false;
    }
    if (here.copy >= 0) {  // the copy that was begun makes the place free
      Move& move = plan_->moves[static_cast<std::size_t>(here.copy)];
      move.stays = false;
      move.before_task = at;
      stay.out = place.after_move = here.copy;
      here.copy = -1;
    }
    const bool copied = here.dirty || (options_->copies_clean && !here.untouched && place.after_move < 0);
    if (copied) {
      stay.out = static_cast<int>(plan_->moves.size());
      plan_->moves.push_back({tensor, false, here.last, -1, -1, at});
      place.after_move = stay.out;
      here.stored = stay.out;
      here.dirty = false;
    }
    here.stay = -1;
    here.untouched = here.may_leave = false;
    return place;
  }

  // What changed and lives on goes to the slower memory, unless the next iteration finds it here.
  void end() {
    const std::vector<TensorId>& residents = plan_->residents;
    for (const TensorId tensor : here_.ids()) {
      Here& here = here_[tensor];
      const Tensor& one = graph_.tensors()[tensor];
      if (here.stay < 0 || !here.dirty) continue;
      const bool stays = std::binary_search(residents.begin(), residents.end(), tensor);
      if (stays || (one.kind != TensorKind::parameter && !one.kept)) continue;
      Stay& stay = plan_->stays[static_cast<std::size_t>(here.stay)];
      stay.out = static_cast<int>(plan_->moves.size());
      stay.to_end = false;
      plan_->moves.push_back({tensor, false, here.last, -1, -1, -1});
    }
  }

  const TaskGraph& graph_;
  const Sizes& sizes_;
  Uses uses_;
  const PlanOptions* options_ = nullptr;
  SwapPlan* plan_ = nullptr;
  int request_ = 0;  // places that the task has got
  IdMap<TensorId, std::size_t> class_of_;
  IdMap<TensorId, Here> here_;
  std::vector<Places> places_;          // by class
  std::vector<Candidates> candidates_;  // by class
};

PlanMaker::PlanMaker(const TaskGraph& graph, const Sizes& sizes)
    : graph_(graph), planner_(std::make_unique<Planner>(graph, sizes)) {}
PlanMaker::~PlanMaker() = default;

bool PlanMaker::make(const Order& order, const Allocation& allocation, const PlanOptions& options, SwapPlan& plan) {
  plan.order = order;
  plan.allocation = allocation;
  planner_->begin(options, plan);
  // The second pass begins with what the first one ended with. It ends with fewer of them where it needs their places;
  // so do the passes behind it, until an iteration ends as it begins.
  residents_ = options.residents;
  if (!planner_->run(residents_)) return false;
  for (bool first = residents_.empty(); !options.once; first = false) {
    planner_->parameters_here(here_);
    if (!first) {
      ended_.clear();
      std::set_intersection(plan.residents.begin(), plan.residents.end(), here_.begin(), here_.end(),
                            std::back_inserter(ended_));
      here_.swap(ended_);
    }
    if (here_ == residents_) break;
    residents_.swap(here_);
    if (!planner_->run(residents_)) return false;
  }
  plan.bytes_in = plan.bytes_out = 0;
  for (const Move& move : plan.moves) (move.in ? plan.bytes_in : plan.bytes_out) += graph_.tensors()[move.tensor].bytes;
  return true;
}

bool make_plan(const TaskGraph& graph, const Sizes& sizes, const Order& order, const Allocation& allocation,
               const PlanOptions& options, SwapPlan& plan) {
  return PlanMaker(graph, sizes).make(order, allocation, options, plan);
}

}  // namespace kasen::swap
