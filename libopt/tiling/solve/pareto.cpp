#include "libopt/tiling/solve/pareto.h"

#include <algorithm>

namespace kasen::tiling {
namespace {

struct Point {
  double cost = 0, memory = 0;
  std::size_t left = 0, right = 0;  // the points, or the choice, of which it is made
};
using Front = std::vector<Point>;  // memory ascending, cost descending

// Leaves the points beside which no other one is at most as dear and as large. Of equal ones, the first stays.
void prune(Front& points) {
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.memory != b.memory ? a.memory < b.memory : a.cost < b.cost;
  });
  double least = forbidden;
  std::erase_if(points, [&](const Point& point) {
    if (point.cost >= least) return true;
    least = point.cost;
    return false;
  });
}

// A message: where the front of each entry ends, and all fronts in a row.
struct FrontTable {
  Table shape;  // without values
  std::vector<std::size_t> ends;
  Front points;

  [[nodiscard]] Front at(std::size_t entry) const {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(entry == 0 ? 0 : ends[entry - 1]);
    return {begin, points.begin() + static_cast<std::ptrdiff_t>(ends[entry])};
  }
};

class FrontElimination {
 public:
  FrontElimination(const Problem& problem, const Plan& plan, const FrontLimits& limits)
      : problem_(problem), plan_(plan), limits_(limits), at_(problem.size(), 0) {}

  FrontResult run() {
    for (const Bucket& bucket : plan_.buckets) {
      if (!make(bucket)) return {};
    }
    std::vector<Front> steps = sums(Point{}, constants_);
    if (sums_ > limits_.sums) return {};
    if (steps.back().empty()) return {true, {}};
    chosen_.resize(made_.size());
    trace(steps, steps.back().size() - 1, constants_);  // the last one is the cheapest
    for (std::size_t b = plan_.buckets.size(); b-- > 0;) walk_back(plan_.buckets[b]);
    return {true, at_};
  }

 private:
  using Numbers = std::vector<std::size_t>;

  // The tables of a bucket: given ones, and messages by their place in made_.
  struct Parts {
    std::vector<const Table*> given;
    Numbers made;
  };
  [[nodiscard]] Parts parts_of(const Bucket& bucket) const {
    Parts parts;
    for (const std::size_t number : bucket.tables) {
      if (number < plan_.given.size()) {
        parts.given.push_back(&problem_.tables[plan_.given[number]]);
      } else {
        parts.made.push_back(number - plan_.given.size());
      }
    }
    return parts;
  }

  // Returns false beyond the limits.
  bool make(const Bucket& bucket) {
    const Parts parts = parts_of(bucket);
    FrontTable table{table_over(problem_, bucket.messages[0].scope), {}, {}};
    const std::size_t entries = table.shape.values.size();
    table.shape.values = {};
    for (std::size_t entry = 0; entry < entries; ++entry) {
      set(table.shape, entry);
      Front front;
      for (std::size_t choice = 0; choice < problem_.choices[bucket.variable].size(); ++choice) {
        const Front with = steps_of(bucket.variable, choice, parts).back();
        front.insert(front.end(), with.begin(), with.end());
      }
      prune(front);
      table.points.insert(table.points.end(), front.begin(), front.end());
      table.ends.push_back(table.points.size());
      if (sums_ > limits_.sums || points_ + table.points.size() > limits_.points) return false;
    }
    points_ += table.points.size();
    if (table.shape.scope.empty()) constants_.push_back(made_.size());
    made_.push_back(std::move(table));
    return true;
  }

  void set(const Table& shape, std::size_t entry) {
    for (std::size_t i = 0; i < shape.scope.size(); ++i) {
      at_[shape.scope[i]] = entry / shape.strides[i] % problem_.choices[shape.scope[i]].size();
    }
  }

  // Returns the fronts with this choice, one table after the other; the last one is that of all.
  std::vector<Front> steps_of(std::size_t variable, std::size_t choice, const Parts& parts) {
    ++sums_;
    at_[variable] = choice;
    Point start{0, problem_.memory[variable][choice], 0, 0};
    for (const Table* table : parts.given) start.cost += table->at(at_);
    return sums(start, parts.made);
  }

  std::vector<Front> sums(const Point& start, const Numbers& tables) {
    std::vector<Front> steps(1);
    if (start.cost < forbidden && start.memory <= problem_.budget) steps[0] = {start};
    for (const std::size_t number : tables) {
      steps.push_back(sum(steps.back(), made_[number].at(made_[number].shape.place(at_))));
    }
    return steps;
  }

  Front sum(const Front& left, const Front& right) {
    sums_ += left.size() * right.size();
    Front front;
    for (std::size_t l = 0; l < left.size(); ++l) {
      for (std::size_t r = 0; r < right.size(); ++r) {
        const double memory = left[l].memory + right[r].memory;
        if (memory <= problem_.budget) front.push_back({left[l].cost + right[r].cost, memory, l, r});
      }
    }
    prune(front);
    return front;
  }

  // Notes of which point of each table a point of the last step is made.
  void trace(const std::vector<Front>& steps, std::size_t point, const Numbers& tables) {
    for (std::size_t step = tables.size(); step > 0; --step) {
      chosen_[tables[step - 1]] = steps[step][point].right;
      point = steps[step][point].left;
    }
  }

  // Forms the one front again of which a point was taken, now with its origin.
  void walk_back(const Bucket& bucket) {
    const Parts parts = parts_of(bucket);
    std::vector<std::vector<Front>> steps;
    Front front;
    for (std::size_t choice = 0; choice < problem_.choices[bucket.variable].size(); ++choice) {
      steps.push_back(steps_of(bucket.variable, choice, parts));
      const Front& with = steps.back().back();
      for (std::size_t i = 0; i < with.size(); ++i) front.push_back({with[i].cost, with[i].memory, i, choice});
    }
    prune(front);
    const Point& point = front[chosen_[bucket.first - plan_.given.size()]];
    at_[bucket.variable] = point.right;
    trace(steps[point.right], point.left, parts.made);
  }

  const Problem& problem_;
  const Plan& plan_;
  const FrontLimits limits_;
  std::vector<FrontTable> made_;
  Numbers constants_;  // messages without variables
  Numbers chosen_;     // by message: the point that the solution takes
  Choices at_;
  std::uint64_t points_ = 0, sums_ = 0;
};

}  // namespace

FrontResult cheapest_within(const Problem& problem, const Plan& plan, const FrontLimits& limits) {
  return FrontElimination(problem, plan, limits).run();
}

}  // namespace kasen::tiling
