#include "libopt/tiling/solve/core.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace kasen::tiling {
namespace {

constexpr std::uint64_t small_table = 256;

}  // namespace

Core::Core(const Problem& whole, const Part& part, const std::vector<std::size_t>& order, double unit)
    : whole_(whole),
      plan_(prefix(part, order)),
      elimination_(whole, plan_, unit),
      variables_(order.begin() + static_cast<std::ptrdiff_t>(plan_.buckets.size()), order.end()) {
  problem_.choices.assign(whole.size(), {0});
  problem_.instead.assign(whole.size(), {});
  problem_.memory.assign(whole.size(), {0});
  for (std::size_t v = 0; v < whole.size(); ++v) problem_.instead[v].assign(whole.choices[v].size(), 0);
  for (const std::size_t v : variables_) {
    problem_.choices[v].resize(whole.choices[v].size());
    std::iota(problem_.choices[v].begin(), problem_.choices[v].end(), std::size_t{0});
    problem_.instead[v] = problem_.choices[v];
    problem_.memory[v] = whole.memory[v];
  }
  problem_.constant = elimination_.bound();
  add_tables_left();
  drop_dominated(problem_);
}

Choices Core::positions(const Choices& whole) const {
  Choices at;
  for (std::size_t v = 0; v < whole.size(); ++v) at.push_back(problem_.instead[v][whole[v]]);
  return at;
}

void Core::complete(const Choices& at, Choices& whole) const {
  for (const std::size_t v : variables_) whole[v] = problem_.choices[v][at[v]];
  elimination_.complete(plan_.buckets.size(), whole);
}

Plan Core::prefix(const Part& part, const std::vector<std::size_t>& order) const {
  Plan plan = plan_of(whole_, part, order, small_table);
  plan.buckets.resize(plan.exact);
  return plan;
}

// The tables that no bucket has taken.
void Core::add_tables_left() {
  std::vector<bool> taken(elimination_.count(), false);
  for (const Bucket& bucket : plan_.buckets) {
    for (const std::size_t number : bucket.tables) taken[number] = true;
  }
  std::map<std::vector<std::size_t>, std::size_t> known;
  for (std::size_t number = 0; number < taken.size(); ++number) {
    const Table& table = elimination_.table(number);
    if (taken[number] || table.scope.empty()) continue;
    const auto [entry, is_new] = known.try_emplace(table.scope, problem_.tables.size());
    if (is_new) {
      problem_.tables.push_back(table);
      continue;
    }
    std::vector<double>& sums = problem_.tables[entry->second].values;
    std::transform(sums.begin(), sums.end(), table.values.begin(), sums.begin(), std::plus<>());
  }
}

}  // namespace kasen::tiling
