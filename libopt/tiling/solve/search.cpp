#include "libopt/tiling/solve/search.h"

#include <utility>

#include "libcore/base/error.h"
#include "libopt/tiling/solve/heuristics.h"
#include "libopt/tiling/solve/local.h"
#include "libopt/tiling/solve/solve.h"

namespace kasen::tiling {
namespace {

Solution solution_of(const Graph& graph, Assignment choices, const Limits& limits) {
  Solution solution;
  solution.memory = graph.memory(choices);
  if (solution.memory <= limits.memory) solution.cost = graph.cost(choices);
  solution.choices = std::move(choices);
  return solution;
}

// Returns the allowed assignment that differs from a forbidden one in the fewest variables; if none is found, the
// forbidden one.
Assignment repaired(const Graph& graph, Assignment choices, const Limits& limits) {
  if (solution_of(graph, choices, limits).cost < forbidden) return choices;
  Problem problem = problem_of(graph, limits);
  for (Table& table : problem.tables) {
    for (double& value : table.values) value = value < forbidden ? 0 : forbidden;
  }
  problem.constant = 0;
  for (const VariableId id : graph.ids()) {
    Table changes = table_over(problem, {static_cast<std::size_t>(id)});
    for (std::size_t c = 0; c < changes.values.size(); ++c) changes.values[c] = c == choices[id] ? 0 : 1;
    problem.tables.push_back(std::move(changes));
  }
  drop_dominated(problem);
  const Outcome outcome = solve(problem, limits, {});
  return outcome.cost < forbidden ? problem.assignment(outcome.at) : choices;
}

// Returns the better one of the fast assignments, after local search.
Choices start_of(const Graph& graph, const Problem& problem, const Limits& limits) {
  Choices best;
  for (const auto heuristic : {most_connected_first, one_by_one}) {
    Choices at = problem.positions(repaired(graph, heuristic(graph, limits.memory), limits));
    improve(problem, at);
    if (best.empty() || problem.cost(at) < problem.cost(best)) best = std::move(at);
  }
  return best;
}

}  // namespace

Solution exact(const Graph& graph, const Limits& limits) {
  Problem problem = problem_of(graph, limits);
  drop_dominated(problem);
  const Outcome outcome = solve(problem, limits, [&] { return start_of(graph, problem, limits); });
  Solution solution = solution_of(graph, problem.assignment(outcome.at), limits);
  solution.bound = outcome.bound >= outcome.cost ? solution.cost : outcome.bound;
  return solution;
}

Solution greedy(const Graph& graph, const Limits& limits) {
  return solution_of(graph, repaired(graph, most_connected_first(graph, limits.memory), limits), limits);
}

Solution in_order(const Graph& graph, const Limits& limits) {
  return solution_of(graph, repaired(graph, one_by_one(graph, limits.memory), limits), limits);
}

Solution worst(const Graph& graph, const Limits& limits) {
  Problem problem = problem_of(graph, limits, Aim::dearest);
  drop_dominated(problem);
  const Outcome outcome = solve(problem, limits, [&] { return start_of(graph, problem, limits); });
  return solution_of(graph, problem.assignment(outcome.at), limits);
}

Solution improved(const Graph& graph, Solution from, const Limits& limits) {
  if (from.choices.size() != graph.size()) throw InternalError("an assignment for another tiling graph");
  const Problem problem = problem_of(graph, limits);
  Choices at = problem.positions(from.choices);
  improve(problem, at);
  Solution solution = solution_of(graph, problem.assignment(at), limits);
  solution.bound = from.bound;
  return solution;
}

}  // namespace kasen::tiling
