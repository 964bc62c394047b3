#include "libopt/selection/search.h"

#include <algorithm>

#include "libopt/selection/lower_bound.h"

namespace kasen::fusion {
namespace {

class Search {
 public:
  Search(const Dag& dag, const Memo& memo, const Partition& partition, const CostRules& costs, const SearchRules& rules)
      : dag_(dag),
        memo_(memo),
        partition_(partition),
        costs_(costs),
        rules_(rules),
        coster_(dag, memo, partition, costs),
        budget_(rules.budget) {
    if (partition.points.size() <= exact_points) return;
    budget_ = std::min(budget_, rules.visits / static_cast<std::int64_t>(partition.nodes.size()));
  }

  SearchResult run() {
    Problem all{coster_.whole(), {}};
    for (int p = 0; p < static_cast<int>(partition_.points.size()); ++p) all.points.push_back(p);
    result_.least = LowerBound(dag_, memo_, partition_, coster_.whole(), costs_)(fuse_all(partition_), {});
    result_.plan = solve(std::move(all), fuse_all(partition_), result_.seconds);
    return std::move(result_);
  }

 private:
  struct Best {
    Assignment plan;
    double seconds = unlimited;
  };

  // Returns the cheapest assignment of the problem's points. All others stay as in `plan`.
  Assignment solve(Problem problem, const Assignment& plan, double& seconds) {
    std::vector<CutSet> sets;
    if (rules_.by_structure) sets = cut_sets(dag_, memo_, partition_, problem);
    order(problem, sets);
    LowerBound bound(dag_, memo_, partition_, problem.scope, costs_);
    std::vector<char> solved(sets.size(), 0);
    std::vector<Assignment> opened_with;
    Best best = opening(problem, plan, opened_with);
    improve(problem, best);
    Assignment now = plan;
    for (const int p : problem.points) now[static_cast<size_t>(p)] = 0;
    size_t last = problem.points.size();  // behind the last point that may still change
    while (advance(now, problem.points, last)) {
      if (is_spent()) break;
      last = problem.points.size();
      const size_t cut = first_cut(now, sets);
      if (cut < sets.size()) {
        if (solved[cut] == 0) consider(problem, solve_apart(sets[cut], now), best);
        solved[cut] = 1;
        last = end_of(sets[cut].cut, problem.points);
      } else if (rules_.by_cost && bound(now, problem.points) >= best.seconds) {
        last = end_of_true(now, problem.points);
      } else if (now != opened_with.back()) {
        consider(problem, now, best);
      }
    }
    seconds = best.seconds;
    return best.plan;
  }

  // Fuse-all is a good first bound. With fuse-no-redundancy too, a spent budget never gives a worse plan than either.
  Best opening(const Problem& problem, const Assignment& plan, std::vector<Assignment>& opened_with) {
    Best best;
    const Assignment all = fuse_all(partition_), shared = fuse_no_redundancy(partition_);
    for (const Assignment* heuristic : {&all, &shared}) {
      Assignment made = plan;
      for (const int p : problem.points) made[static_cast<size_t>(p)] = (*heuristic)[static_cast<size_t>(p)];
      if (!opened_with.empty() && made == opened_with.back()) continue;
      if (opened_with.empty()) best.plan = made;
      opened_with.push_back(made);
      consider(problem, made, best);
    }
    return best;
  }

  // Tries other values for one point, or for all points of one target, while any makes the plan cheaper. (A value that
  // is materialized for one consumer alone is still computed again for the other.)
  void improve(const Problem& problem, Best& best) {
    if (problem.points.size() <= exact_points) return;
    double before = unlimited;
    while (best.seconds < before) {
      before = best.seconds;
      for (const int p : problem.points) {
        const NodeId to = partition_.points[static_cast<size_t>(p)].to;
        const char other = best.plan[static_cast<size_t>(p)] == 0 ? 1 : 0;
        Assignment one = best.plan, all = best.plan;
        one[static_cast<size_t>(p)] = other;
        for (const int q : problem.points) {
          if (partition_.points[static_cast<size_t>(q)].to == to) all[static_cast<size_t>(q)] = other;
        }
        for (const Assignment& made : {one, all}) {
          if (is_spent()) return;
          consider(problem, made, best);
        }
      }
    }
  }

  bool is_spent() {
    if (result_.evaluated >= budget_) result_.exact = false;
    return !result_.exact;
  }

  void consider(const Problem& problem, const Assignment& plan, Best& best) {
    ++result_.evaluated;
    const double seconds = coster_.cost(plan, problem.scope, rules_.by_cost ? best.seconds : unlimited);
    if (seconds < best.seconds) best = {plan, seconds};
  }

  // The best plans of both sides together are the best with this cut, for any earlier points in the order.
  Assignment solve_apart(const CutSet& set, Assignment plan) {
    double ignored = 0;
    plan = solve(set.above, plan, ignored);
    return solve(set.below, plan, ignored);
  }

  // Points of cut sets come first, the best set first. Points with the largest targets follow, since that makes skips
  // longer.
  void order(Problem& problem, const std::vector<CutSet>& sets) const {
    const auto rank = [&](int p) {
      for (size_t s = 0; s < sets.size(); ++s) {
        if (std::find(sets[s].cut.begin(), sets[s].cut.end(), p) != sets[s].cut.end()) return s;
      }
      return sets.size();
    };
    const auto size = [&](int p) { return dag_[partition_.points[static_cast<size_t>(p)].to].bytes; };
    std::stable_sort(problem.points.begin(), problem.points.end(), [&](int a, int b) {
      return rank(a) != rank(b) ? rank(a) < rank(b) : rank(a) == sets.size() && size(a) > size(b);
    });
  }

  // Sets the next assignment in which a point before `end` differs: it adds one to a number whose last digit is that
  // point.
  static bool advance(Assignment& plan, const Points& points, size_t end) {
    for (size_t i = end; i < points.size(); ++i) plan[static_cast<size_t>(points[i])] = 0;
    for (size_t i = end; i-- > 0;) {
      char& digit = plan[static_cast<size_t>(points[i])];
      digit = digit == 0 ? 1 : 0;
      if (digit != 0) return true;
    }
    return false;
  }

  static size_t first_cut(const Assignment& plan, const std::vector<CutSet>& sets) {
    for (size_t s = 0; s < sets.size(); ++s) {
      if (std::all_of(sets[s].cut.begin(), sets[s].cut.end(),
                      [&](int p) { return plan[static_cast<size_t>(p)] != 0; })) {
        return s;
      }
    }
    return sets.size();
  }

  static size_t end_of(const Points& cut, const Points& points) {
    size_t end = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      if (std::find(cut.begin(), cut.end(), points[i]) != cut.end()) end = i + 1;
    }
    return end;
  }

  static size_t end_of_true(const Assignment& plan, const Points& points) {
    size_t end = points.size();
    while (end > 0 && plan[static_cast<size_t>(points[end - 1])] == 0) --end;
    return end;
  }

  const Dag& dag_;
  const Memo& memo_;
  const Partition& partition_;
  const CostRules& costs_;
  const SearchRules& rules_;
  PlanCoster coster_;
  std::int64_t budget_;
  SearchResult result_;
};

}  // namespace

Assignment fuse_all(const Partition& partition) { return Assignment(partition.points.size(), 0); }

Assignment fuse_no_redundancy(const Partition& partition) {
  Assignment plan;
  for (const Point& point : partition.points) plan.push_back(point.shared ? 1 : 0);
  return plan;
}

SearchResult cheapest_plan(const Dag& dag, const Memo& memo, const Partition& partition, const CostRules& costs,
                           const SearchRules& rules) {
  return Search(dag, memo, partition, costs, rules).run();
}

}  // namespace kasen::fusion
