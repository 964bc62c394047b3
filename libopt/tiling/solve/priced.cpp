#include "libopt/tiling/solve/priced.h"

#include <algorithm>
#include <utility>

#include "libopt/tiling/solve/local.h"
#include "libopt/tiling/solve/tabu.h"
#include "libopt/tiling/solve/wide.h"

namespace kasen::tiling {
namespace {

// Of one price, in times of Limits::table_entries.
constexpr double price_bound_work = 4, price_tabu_work = 0.5, price_wide_work = 1;
constexpr std::size_t price_wide_entries = 1 << 10;
constexpr int most_prices = 8;

class PricedSearch {
 public:
  PricedSearch(const Problem& problem, const Limits& limits, Outcome first, double unit)
      : problem_(problem),
        limits_(limits),
        unit_(unit),
        part_(whole(problem)),
        priced_(problem),
        best_(std::move(first)) {
    for (std::size_t v = 0; v < problem.size(); ++v) priced_.tables.push_back(table_over(problem, {v}));
    priced_part_ = whole(priced_);
    plan_ = affordable_plan(priced_, priced_part_, elimination_order(priced_, priced_part_), limits, price_bound_work);
  }

  Outcome run() {
    set_price(best_price());
    const Elimination elimination(priced_, plan_, unit_);
    return branch_and_bound(problem_, {part_, plan_, elimination, price_}, std::move(best_), unit_, limits_.nodes);
  }

 private:
  struct Point {
    double cost = 0, memory = 0;
  };

  // The next price is the one at which the last assignments on both sides of the budget are equally dear.
  double best_price() {
    double best = 0, bound = -forbidden;
    Point within{best_.cost, problem_.memory_of(best_.at)}, beyond;
    for (int i = 0; i < most_prices; ++i) {
      const Elimination elimination(priced_, plan_, unit_);
      const double now = elimination.bound() - price_ * problem_.budget;
      if (now > bound) {
        bound = now;
        best = price_;
      }
      const Point point = consider(elimination);
      if (point.cost == forbidden) break;
      (point.memory <= problem_.budget ? within : beyond) = point;
      if (within.cost == forbidden) within = {best_.cost, problem_.memory_of(best_.at)};
      const double next = (within.cost - beyond.cost) / (beyond.memory - within.memory);
      if (!(next > 0) || next == forbidden || next == price_) break;
      set_price(next);
    }
    return best;
  }

  // Looks for the cheapest assignment at the price. Fitted to the budget, it may be the best one.
  Point consider(const Elimination& elimination) {
    if (elimination.bound() == forbidden) return {forbidden, 0};
    Choices at(problem_.size(), 0);
    elimination.complete(plan_.buckets.size(), at);
    if (!plan_.is_exact()) {
      const auto entries = static_cast<double>(limits_.table_entries);
      improve_by_tabu(priced_, priced_part_, at, price_tabu_work * entries);
      improve_widely(priced_, priced_part_, at, std::min(price_wide_entries, limits_.table_entries),
                     price_wide_work * entries);
    }
    const Point point{problem_.cost(at) - problem_.constant, problem_.memory_of(at)};
    improve(problem_, at);
    const double cost = problem_.cost(at) - problem_.constant;
    if (problem_.memory_of(at) <= problem_.budget && cost < best_.cost) {
      best_.at = std::move(at);
      best_.cost = cost;
    }
    return point;
  }

  void set_price(double price) {
    price_ = price;
    for (std::size_t v = 0; v < problem_.size(); ++v) {
      std::vector<double>& values = priced_.tables[problem_.tables.size() + v].values;
      for (std::size_t choice = 0; choice < values.size(); ++choice)
        values[choice] = price * problem_.memory[v][choice];
    }
  }

  const Problem& problem_;
  const Limits& limits_;
  const double unit_;
  const Part part_;
  Part priced_part_;
  Problem priced_;  // with a table for the price of each variable's memory
  Plan plan_;
  Outcome best_;
  double price_ = 0;
};

}  // namespace

Outcome priced_search(const Problem& problem, const Limits& limits, Outcome first, double unit) {
  return PricedSearch(problem, limits, std::move(first), unit).run();
}

}  // namespace kasen::tiling
