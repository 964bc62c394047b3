// Assignments that grow by one decision after the other.
#pragma once

#include "libopt/tiling/graph.h"

namespace kasen::tiling {

inline constexpr std::size_t open_choice = std::numeric_limits<std::size_t>::max();

class Partial {
 public:
  Partial(const Graph& graph, double budget);

  [[nodiscard]] bool is_open(VariableId id) const { return choices_[id] == open_choice; }
  [[nodiscard]] const Assignment& choices() const { return choices_; }
  // Returns true if the choice leaves enough of the budget for the least of each open variable.
  [[nodiscard]] bool fits(VariableId id, std::size_t choice) const { return extra(id, choice) <= left_; }
  // Returns the least cost of a factor over the choices of its open variables that fit.
  [[nodiscard]] double least(const Factor& factor) const;

  void decide(VariableId id, std::size_t choice);
  void reopen(VariableId id);

 private:
  [[nodiscard]] double extra(VariableId id, std::size_t choice) const {
    return graph_[id].choices[choice].memory - least_memory_[id];
  }

  const Graph& graph_;
  IdMap<VariableId, double> least_memory_;
  double left_;  // of the budget, beyond the least memory of all variables
  Assignment choices_;
};

}  // namespace kasen::tiling
