#include "libopt/tiling/graph.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "libcore/base/error.h"

namespace kasen::tiling {
namespace {

// Returns false for NaN, too.
bool is_cost(double number) { return number >= 0; }

}  // namespace

VariableId Graph::add(Variable variable) {
  if (variable.choices.empty()) throw InternalError("a variable of a tiling graph without choices");
  for (const Choice& choice : variable.choices) {
    if (!is_cost(choice.memory) || choice.memory == forbidden) {
      throw InternalError("a choice of a tiling graph that takes no number of elements");
    }
  }
  factors_of_.push_back({});
  return variables_.push_back(std::move(variable));
}

void Graph::add(Factor factor) {
  std::uint64_t entries = 1;
  for (auto id = factor.variables.begin(); id != factor.variables.end(); ++id) {
    if (!variables_.contains(*id)) throw InternalError("a factor of a tiling graph before its variable");
    if (std::find(factor.variables.begin(), id, *id) != id) {
      throw InternalError("a factor of a tiling graph with one variable twice");
    }
    if (__builtin_mul_overflow(entries, variables_[*id].choices.size(), &entries)) {
      throw InternalError("a factor of a tiling graph with too many variables");
    }
  }
  if (factor.costs.size() != entries) throw InternalError("a factor of a tiling graph with a wrong number of costs");
  if (!std::all_of(factor.costs.begin(), factor.costs.end(), is_cost)) {
    throw InternalError("a factor of a tiling graph with a cost below 0");
  }
  if (factor.is_view && factor.variables.size() != 2) {
    throw InternalError("a view of a tiling graph that does not join two variables");
  }
  for (const VariableId id : factor.variables) factors_of_[id].push_back(factors_.size());
  factors_.push_back(std::move(factor));
}

double Graph::cost(const Factor& factor, const Assignment& choices) const {
  std::size_t at = 0;
  for (const VariableId id : factor.variables) at = at * variables_[id].choices.size() + choices[id];
  return factor.costs[at];
}

double Graph::cost(const Assignment& choices) const {
  double sum = 0;
  for (const Factor& factor : factors_) sum += cost(factor, choices);
  return sum;
}

double Graph::memory(const Assignment& choices) const {
  double sum = 0;
  for (const VariableId id : ids()) sum += variables_[id].choices[choices[id]].memory;
  return sum;
}

}  // namespace kasen::tiling
