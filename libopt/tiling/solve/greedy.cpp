#include <algorithm>
#include <numeric>

#include "libopt/tiling/solve/heuristics.h"
#include "libopt/tiling/solve/partial.h"

namespace kasen::tiling {
namespace {

// Figure 8 of the paper. Groups are variables. A view is a factor of two variables where one choice leaves the other
// variable only one.
class MostConnectedFirst {
 public:
  MostConnectedFirst(const Graph& graph, double budget) : graph_(graph), partial_(graph, budget) {}

  Assignment run() {
    for (const VariableId id : by_connectivity()) {
      if (!partial_.is_open(id)) continue;
      decide(id, best_choice(id));
      decided_.clear();
    }
    return partial_.choices();
  }

 private:
  static constexpr std::size_t no_factor = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] std::vector<VariableId> by_connectivity() const {
    std::vector<VariableId> order;
    IdMap<VariableId, std::size_t> neighbours;
    for (const VariableId id : graph_.ids()) {
      order.push_back(id);
      neighbours.push_back(count_neighbours(id));
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](VariableId a, VariableId b) { return neighbours[a] > neighbours[b]; });
    return order;
  }

  [[nodiscard]] std::size_t count_neighbours(VariableId id) const {
    std::vector<VariableId> all{id};
    for (const std::size_t f : graph_.factors_of(id)) {
      const Factor& factor = graph_.factors()[f];
      all.insert(all.end(), factor.variables.begin(), factor.variables.end());
    }
    std::sort(all.begin(), all.end());
    return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin()) - 1;
  }

  // Returns the first choice of the least cost; where all are forbidden, the first one that fits.
  std::size_t best_choice(VariableId id) {
    std::size_t best = open_choice;
    double least = forbidden;
    for (std::size_t choice = 0; choice < graph_[id].choices.size(); ++choice) {
      if (!partial_.fits(id, choice)) continue;
      const double cost = find_cost(id, choice, no_factor);
      undo();
      if (best != open_choice && cost >= least) continue;
      best = choice;
      least = cost;
    }
    return best == open_choice ? 0 : best;
  }

  // The paper's FindCost. Variables that views decide stay decided, so that each factor is counted once.
  double find_cost(VariableId id, std::size_t choice, std::size_t from) {
    if (!partial_.fits(id, choice)) return forbidden;
    note(id, choice);
    double sum = 0;
    for (const std::size_t f : graph_.factors_of(id)) {
      if (f == from) continue;
      sum += partial_.least(graph_.factors()[f]);
      const auto [other, only] = decided_by_view(id, f);
      if (only != open_choice) sum += find_cost(other, only, f);
    }
    return sum;
  }

  void decide(VariableId id, std::size_t choice) {
    note(id, choice);
    for (const std::size_t f : graph_.factors_of(id)) {
      const auto [other, only] = decided_by_view(id, f);
      if (only != open_choice && partial_.fits(other, only)) decide(other, only);
    }
  }

  // Returns the open variable at the other end of a view, and the only choice that this end leaves it, or open_choice.
  [[nodiscard]] std::pair<VariableId, std::size_t> decided_by_view(VariableId id, std::size_t f) const {
    const Factor& factor = graph_.factors()[f];
    if (!factor.is_view) return {id, open_choice};
    const bool is_first = factor.variables[0] == id;
    const VariableId other = factor.variables[is_first ? 1 : 0];
    if (!partial_.is_open(other)) return {id, open_choice};
    const std::size_t own = partial_.choices()[id], columns = graph_[factor.variables[1]].choices.size();
    std::size_t only = open_choice;
    for (std::size_t choice = 0; choice < graph_[other].choices.size(); ++choice) {
      if (factor.costs[is_first ? own * columns + choice : choice * columns + own] == forbidden) continue;
      if (only != open_choice) return {id, open_choice};
      only = choice;
    }
    return {other, only};
  }

  void note(VariableId id, std::size_t choice) {
    partial_.decide(id, choice);
    decided_.push_back(id);
  }

  void undo() {
    for (const VariableId id : decided_) partial_.reopen(id);
    decided_.clear();
  }

  const Graph& graph_;
  Partial partial_;
  std::vector<VariableId> decided_;  // since the last decision
};

}  // namespace

Assignment most_connected_first(const Graph& graph, double budget) { return MostConnectedFirst(graph, budget).run(); }

Assignment one_by_one(const Graph& graph, double budget) {
  Partial partial(graph, budget);
  for (const VariableId id : graph.ids()) {
    std::size_t best = open_choice;
    double least = forbidden;
    for (std::size_t choice = 0; choice < graph[id].choices.size(); ++choice) {
      if (!partial.fits(id, choice)) continue;
      partial.decide(id, choice);
      double cost = 0;
      for (const std::size_t f : graph.factors_of(id)) cost += partial.least(graph.factors()[f]);
      partial.reopen(id);
      if (best != open_choice && cost >= least) continue;
      best = choice;
      least = cost;
    }
    partial.decide(id, best == open_choice ? 0 : best);
  }
  return partial.choices();
}

}  // namespace kasen::tiling
