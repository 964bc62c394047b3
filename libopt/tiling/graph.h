// A tiling graph (Huang et al., Spartan, USENIX ATC 2015, section 3.3): a variable for the layout of each array, and
// factors that price the layouts of arrays that meet in an operator. It knows nothing of arrays, layouts or operators:
// a choice is a number and a name. from_module.h makes such a graph of a module; tests build theirs directly.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "libcore/base/id.h"

namespace kasen::tiling {

using VariableId = Id<struct VariableTag>;  // index in Graph::variables

inline constexpr double forbidden = std::numeric_limits<double>::infinity();

struct Choice {
  std::string name;   // how it is printed
  double memory = 0;  // what it takes of the budget: elements of copies beyond the array itself
};

struct Variable {
  std::string name;
  std::vector<Choice> choices;  // at least one; of equal cost, the first is taken
};

// The elements that move for each combination of the choices of some variables, times how often they do. Costs are at
// least 0, or `forbidden`.
struct Factor {
  std::vector<VariableId> variables;  // each once
  std::vector<double> costs;          // the last variable's choice runs fastest
  bool is_view = false;               // one of two variables decides the other (swapaxis): greedy looks through it
};

using Assignment = IdMap<VariableId, std::size_t>;  // the choice of each variable

class Graph {
 public:
  VariableId add(Variable variable);
  void add(Factor factor);

  [[nodiscard]] std::size_t size() const { return variables_.size(); }
  [[nodiscard]] IdSequence<VariableId> ids() const { return variables_.ids(); }
  [[nodiscard]] const Variable& operator[](VariableId id) const { return variables_[id]; }
  [[nodiscard]] const std::vector<Factor>& factors() const { return factors_; }
  // The factors of a variable, ascending.
  [[nodiscard]] const std::vector<std::size_t>& factors_of(VariableId id) const { return factors_of_[id]; }
  [[nodiscard]] double cost(const Factor& factor, const Assignment& choices) const;
  [[nodiscard]] double cost(const Assignment& choices) const;
  [[nodiscard]] double memory(const Assignment& choices) const;

 private:
  IdMap<VariableId, Variable> variables_;
  IdMap<VariableId, std::vector<std::size_t>> factors_of_;
  std::vector<Factor> factors_;
};

// A solution with its certificate: no assignment within the budget costs less than `bound`.
struct Solution {
  Assignment choices;
  double cost = forbidden;  // forbidden: none was found within the budget
  double memory = 0;
  double bound = 0;  // certified if equal to the cost
  [[nodiscard]] bool is_certified() const { return bound >= cost; }
};

}  // namespace kasen::tiling
