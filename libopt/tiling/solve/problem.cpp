#include "libopt/tiling/solve/problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace kasen::tiling {
namespace {

std::size_t place(VariableId id) { return static_cast<std::size_t>(id); }

// Adds the costs of a factor to the table of its scope. The factor's variables may be in any order.
void add_costs(const Graph& graph, const Factor& factor, Aim aim, Table& table) {
  Choices at(graph.size(), 0);
  for (const double cost : factor.costs) {
    table.values[table.place(at)] += aim == Aim::dearest && cost < forbidden ? -cost : cost;
    for (auto id = factor.variables.rbegin(); id != factor.variables.rend(); ++id) {
      if (++at[place(*id)] < graph[*id].choices.size()) break;
      at[place(*id)] = 0;
    }
  }
}

void add_factors(const Graph& graph, Aim aim, Problem& problem) {
  std::map<std::vector<std::size_t>, std::size_t> known;
  for (const Factor& factor : graph.factors()) {
    if (factor.variables.empty()) {
      problem.constant += aim == Aim::dearest && factor.costs[0] < forbidden ? -factor.costs[0] : factor.costs[0];
      continue;
    }
    std::vector<std::size_t> scope;
    for (const VariableId id : factor.variables) scope.push_back(place(id));
    std::sort(scope.begin(), scope.end());
    const auto [entry, is_new] = known.try_emplace(scope, problem.tables.size());
    if (is_new) problem.tables.push_back(table_over(problem, scope));
    add_costs(graph, factor, aim, problem.tables[entry->second]);
  }
}

// Memory that each choice of a variable takes leaves the budget at once: what is left then fits a choice by itself.
void add_memory(const Variable& variable, Problem& problem) {
  std::vector<double> memory;
  for (const Choice& choice : variable.choices) memory.push_back(choice.memory);
  const double least = *std::min_element(memory.begin(), memory.end());
  for (double& elements : memory) elements -= least;
  problem.budget -= least;
  problem.memory.push_back(std::move(memory));
}

}  // namespace

std::size_t Table::stride(std::size_t variable) const {
  const auto at = std::lower_bound(scope.begin(), scope.end(), variable);
  return at == scope.end() || *at != variable ? 0 : strides[static_cast<std::size_t>(at - scope.begin())];
}

double Problem::cost(const Choices& at) const {
  double sum = constant;
  for (const Table& table : tables) sum += table.at(at);
  return sum;
}

double Problem::cost_of(const std::vector<std::size_t>& some_tables, const Choices& at) const {
  double sum = 0;
  for (const std::size_t t : some_tables) sum += tables[t].at(at);
  return sum;
}

double Problem::memory_of(const Choices& at) const {
  double sum = 0;
  for (std::size_t v = 0; v < size(); ++v) sum += memory[v][at[v]];
  return sum;
}

Choices Problem::positions(const Assignment& assignment) const {
  Choices at;
  for (const VariableId id : assignment.ids()) at.push_back(instead[place(id)][assignment[id]]);
  return at;
}

Assignment Problem::assignment(const Choices& at) const {
  Assignment assignment;
  for (std::size_t v = 0; v < size(); ++v) assignment.push_back(choices[v][at[v]]);
  return assignment;
}

Problem problem_of(const Graph& graph, const Limits& limits, Aim aim) {
  Problem problem;
  problem.budget = limits.memory;
  for (const VariableId id : graph.ids()) {
    std::vector<std::size_t> all(graph[id].choices.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    problem.choices.push_back(all);
    problem.instead.push_back(std::move(all));
    add_memory(graph[id], problem);
  }
  add_factors(graph, aim, problem);
  return problem;
}

std::uint64_t entries_of(const Problem& problem, const std::vector<std::size_t>& scope) {
  std::uint64_t entries = 1;
  for (const std::size_t v : scope) {
    if (__builtin_mul_overflow(entries, problem.choices[v].size(), &entries)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return entries;
}

Table table_over(const Problem& problem, std::vector<std::size_t> scope) {
  Table table;
  table.values.assign(entries_of(problem, scope), 0);
  table.strides.resize(scope.size());
  std::size_t stride = 1;
  for (std::size_t i = scope.size(); i-- > 0;) {
    table.strides[i] = stride;
    stride *= problem.choices[scope[i]].size();
  }
  table.scope = std::move(scope);
  return table;
}

std::vector<std::vector<std::size_t>> tables_by_variable(const Problem& problem) {
  std::vector<std::vector<std::size_t>> of(problem.size());
  for (std::size_t t = 0; t < problem.tables.size(); ++t) {
    for (const std::size_t v : problem.tables[t].scope) of[v].push_back(t);
  }
  return of;
}

double unit_of(const Problem& problem) {
  constexpr double most = 1e15;  // up to here, doubles are exact to a sixteenth
  std::int64_t unit = 0;
  for (const Table& table : problem.tables) {
    for (const double value : table.values) {
      if (value == forbidden) continue;
      if (std::abs(value) > most || value != std::floor(value)) return 0;
      unit = std::gcd(unit, static_cast<std::int64_t>(value));
    }
  }
  return static_cast<double>(unit);
}

Part whole(const Problem& problem) {
  Part part{std::vector<std::size_t>(problem.size()), std::vector<std::size_t>(problem.tables.size())};
  std::iota(part.variables.begin(), part.variables.end(), std::size_t{0});
  std::iota(part.tables.begin(), part.tables.end(), std::size_t{0});
  return part;
}

std::vector<Part> parts_of(const Problem& problem) {
  std::vector<std::size_t> up(problem.size());  // towards the least variable of the part
  std::iota(up.begin(), up.end(), std::size_t{0});
  const auto root = [&](std::size_t v) {
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
  };
  for (const Table& table : problem.tables) {
    for (const std::size_t v : table.scope) {
      const auto [least, most] = std::minmax({root(v), root(table.scope[0])});
      up[most] = least;
    }
  }
  std::vector<Part> parts;
  std::vector<std::size_t> number(problem.size());
  for (std::size_t v = 0; v < problem.size(); ++v) {
    if (root(v) == v) {
      number[v] = parts.size();
      parts.emplace_back();
    }
    parts[number[root(v)]].variables.push_back(v);
  }
  for (std::size_t t = 0; t < problem.tables.size(); ++t) {
    parts[number[root(problem.tables[t].scope[0])]].tables.push_back(t);
  }
  return parts;
}

}  // namespace kasen::tiling
