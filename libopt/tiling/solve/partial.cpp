#include "libopt/tiling/solve/partial.h"

#include <algorithm>

namespace kasen::tiling {

Partial::Partial(const Graph& graph, double budget)
    : graph_(graph), left_(budget), choices_(graph.size(), open_choice) {
  for (const VariableId id : graph.ids()) {
    double least = forbidden;
    for (const Choice& choice : graph[id].choices) least = std::min(least, choice.memory);
    least_memory_.push_back(least);
    left_ -= least;
  }
}

double Partial::least(const Factor& factor) const {
  double least = forbidden;
  for (std::size_t entry = 0; entry < factor.costs.size(); ++entry) {
    if (factor.costs[entry] >= least) continue;
    bool agrees = true;
    std::size_t rest = entry;
    for (auto id = factor.variables.rbegin(); agrees && id != factor.variables.rend(); ++id) {
      const std::size_t choice = rest % graph_[*id].choices.size();
      rest /= graph_[*id].choices.size();
      agrees = is_open(*id) ? fits(*id, choice) : choices_[*id] == choice;
    }
    if (agrees) least = factor.costs[entry];
  }
  return least;
}

void Partial::decide(VariableId id, std::size_t choice) {
  choices_[id] = choice;
  if (left_ < forbidden) left_ -= extra(id, choice);
}

void Partial::reopen(VariableId id) {
  if (left_ < forbidden) left_ += extra(id, choices_[id]);
  choices_[id] = open_choice;
}

}  // namespace kasen::tiling
