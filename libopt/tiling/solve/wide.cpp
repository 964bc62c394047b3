#include "libopt/tiling/solve/wide.h"

#include <algorithm>
#include <random>
#include <utility>

namespace kasen::tiling {
namespace {

constexpr int most_rounds = 200;

// Returns the table that is left once the variables that are not free stay as they are.
Table with_fixed(const Problem& problem, const Table& table, const std::vector<bool>& is_free, Choices& at) {
  std::vector<std::size_t> scope;
  for (const std::size_t v : table.scope) {
    if (is_free[v]) scope.push_back(v);
  }
  Table left = table_over(problem, std::move(scope));
  const Choices before = at;
  for (const std::size_t v : left.scope) at[v] = 0;
  for (double& value : left.values) {
    value = table.at(at);
    for (auto v = left.scope.rbegin(); v != left.scope.rend(); ++v) {
      if (++at[*v] < problem.choices[*v].size()) break;
      at[*v] = 0;
    }
  }
  at = before;
  return left;
}

class WideSearch {
 public:
  WideSearch(const Problem& problem, const Part& part, Choices& at) : problem_(problem), part_(part), at_(at) {
    free_.choices = problem.choices;
    free_.memory = problem.memory;
  }

  void run(double work, std::uint64_t most) {
    for (int round = 0; round < most_rounds && work > 0; ++round) {
      const std::vector<std::size_t> order = narrow_order(problem_, part_, most, random_);
      fix_all_but(order);
      const Part part{order, whole(free_).tables};
      const Plan plan = plan_of(free_, part, order, std::numeric_limits<std::uint64_t>::max());
      const Elimination elimination(free_, plan, 0);
      if (elimination.bound() < forbidden) elimination.complete(order.size(), at_);
      work -= plan.work + 1;
    }
  }

 private:
  void fix_all_but(const std::vector<std::size_t>& free) {
    std::vector<bool> is_free(problem_.size(), false);
    for (const std::size_t v : free) is_free[v] = true;
    free_.tables.clear();
    for (const std::size_t t : part_.tables) {
      Table left = with_fixed(problem_, problem_.tables[t], is_free, at_);
      if (!left.scope.empty()) free_.tables.push_back(std::move(left));
    }
  }

  const Problem& problem_;
  const Part& part_;
  Choices& at_;
  Problem free_;  // of the variables that are chosen anew
  std::mt19937 random_{1};
};

}  // namespace

void improve_widely(const Problem& problem, const Part& part, Choices& at, std::uint64_t most_entries, double work) {
  WideSearch(problem, part, at).run(work, most_entries);
}

}  // namespace kasen::tiling
