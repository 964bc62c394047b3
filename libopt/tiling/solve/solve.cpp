#include "libopt/tiling/solve/solve.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libopt/tiling/solve/core.h"
#include "libopt/tiling/solve/local.h"
#include "libopt/tiling/solve/pareto.h"
#include "libopt/tiling/solve/priced.h"
#include "libopt/tiling/solve/tabu.h"
#include "libopt/tiling/solve/wide.h"

namespace kasen::tiling {
namespace {

// In times of Limits::table_entries.
constexpr double exact_work = 128, bound_work = 16, tabu_work = 4, wide_work = 16;
constexpr std::size_t wide_entries = 1 << 12;
constexpr std::uint64_t front_sums = 8;

class Solver {
 public:
  Solver(const Problem& problem, const Limits& limits, const Start& start)
      : problem_(problem), limits_(limits), start_(start), unit_(unit_of(problem)) {}

  Outcome run() {
    if (problem_.budget < 0 || problem_.constant == forbidden) return nothing(forbidden);
    Outcome outcome = problem_.is_budgeted() ? within_budget() : by_parts();
    outcome.cost += problem_.constant;
    outcome.bound += problem_.constant;
    return outcome;
  }

 private:
  [[nodiscard]] Outcome nothing(double bound) const { return {Choices(problem_.size(), 0), forbidden, bound}; }

  Outcome by_parts() {
    Outcome all = nothing(0);
    all.cost = 0;
    for (const Part& part : parts_of(problem_)) {
      const Outcome one = best_of(part);
      for (const std::size_t v : part.variables) all.at[v] = one.at[v];
      all.cost += one.cost;
      all.bound += one.bound;
    }
    return all;
  }

  Outcome best_of(const Part& part) {
    const std::vector<std::size_t> order = elimination_order(problem_, part);
    const Plan plan = plan_of(problem_, part, order, limits_.table_entries);
    return is_affordable(plan) ? eliminated(plan) : best_of_core(Core(problem_, part, order, unit_));
  }

  // The core may fall into parts, and some of them may be small.
  Outcome best_of_core(const Core& core) {
    const Problem& problem = core.problem();
    const Choices start = start_ ? core.positions(started()) : Choices(problem.size(), 0);
    Outcome best{start, problem.constant, problem.constant};
    for (const Part& part : parts_of(problem)) {
      const Outcome one = searched(problem, part, start);
      for (const std::size_t v : part.variables) best.at[v] = one.at[v];
      best.cost += one.cost;
      best.bound += one.bound;
    }
    Outcome outcome = nothing(best.bound);
    outcome.cost = best.cost;
    core.complete(best.at, outcome.at);
    return outcome;
  }

  Outcome searched(const Problem& problem, const Part& part, Choices at) const {
    const double unit = unit_of(problem);
    const std::vector<std::size_t> order = elimination_order(problem, part);
    const Plan plan = affordable_plan(problem, part, order, limits_, bound_work);
    Outcome first;
    first.at = std::move(at);
    if (!plan.is_exact()) {
      const auto table_entries = static_cast<double>(limits_.table_entries);
      improve(problem, first.at);
      improve_by_tabu(problem, part, first.at, tabu_work * table_entries);
      improve_widely(problem, part, first.at, std::min(wide_entries, limits_.table_entries), wide_work * table_entries);
    }
    first.cost = problem.cost_of(part.tables, first.at);
    const Elimination elimination(problem, plan, unit);
    return branch_and_bound(problem, {part, plan, elimination}, std::move(first), unit, limits_.nodes);
  }

  [[nodiscard]] bool is_affordable(const Plan& plan) const {
    return plan.is_exact() && plan.takes_at_most(exact_work * static_cast<double>(limits_.table_entries));
  }

  [[nodiscard]] Outcome eliminated(const Plan& plan) const {
    const Elimination elimination(problem_, plan, unit_);
    Outcome outcome = nothing(elimination.bound());
    outcome.cost = outcome.bound;
    if (outcome.cost < forbidden) elimination.complete(plan.buckets.size(), outcome.at);
    return outcome;
  }

  const Choices& started() {
    if (!started_) started_ = start_();
    return *started_;
  }

  // The solution with which branch and bound begins.
  Outcome first(const Part& part) {
    Outcome outcome = nothing(0);
    if (!start_) return outcome;
    outcome.at = started();
    if (problem_.memory_of(outcome.at) > problem_.budget) return outcome;
    outcome.cost = problem_.cost_of(part.tables, outcome.at);
    return outcome;
  }

  // The cheapest assignment without a budget often needs none.
  Outcome within_budget() {
    const Part all = whole(problem_);
    const std::vector<std::size_t> order = elimination_order(problem_, all);
    const Plan plan = plan_of(problem_, all, order, limits_.table_entries);
    if (is_affordable(plan)) {
      const Outcome free = eliminated(plan);
      if (free.cost == forbidden || problem_.memory_of(free.at) <= problem_.budget) return free;
      const FrontResult result =
          cheapest_within(problem_, plan, {limits_.table_entries, front_sums * limits_.table_entries});
      if (result.is_complete && !result.at) return nothing(forbidden);
      if (result.is_complete) {
        const double cost = problem_.cost(*result.at) - problem_.constant;
        return {*result.at, cost, cost};
      }
    }
    return priced_search(problem_, limits_, first(all), unit_);
  }

  const Problem& problem_;
  const Limits& limits_;
  const Start& start_;
  const double unit_;
  std::optional<Choices> started_;
};

}  // namespace

Outcome solve(const Problem& problem, const Limits& limits, const Start& start) {
  return Solver(problem, limits, start).run();
}

}  // namespace kasen::tiling
