#include "libopt/tiling/solve/plan.h"

#include <algorithm>
#include <iterator>

namespace kasen::tiling {
namespace {

using Scope = std::vector<std::size_t>;

Scope united(const Scope& a, const Scope& b) {
  Scope all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

void erase(Scope& scope, std::size_t variable) {
  const auto at = std::lower_bound(scope.begin(), scope.end(), variable);
  if (at != scope.end() && *at == variable) scope.erase(at);
}

class Order {
 public:
  Order(const Problem& problem, const Part& part)
      : problem_(problem), left_(part.variables), neighbours_(problem.size()), entries_(problem.size(), 1) {
    for (const std::size_t t : part.tables) {
      const Scope& scope = problem.tables[t].scope;
      for (const std::size_t v : scope) neighbours_[v] = united(neighbours_[v], scope);
    }
    for (const std::size_t v : part.variables) {
      erase(neighbours_[v], v);
      count(v);
    }
  }

  // Where each table would have more entries than `most`, `give_up` names the place of a variable that stays out.
  template <class GiveUp>
  Scope run(double most, GiveUp give_up) {
    Scope order;
    while (!left_.empty()) {
      auto next = std::min_element(left_.begin(), left_.end(),
                                   [&](std::size_t a, std::size_t b) { return entries_[a] < entries_[b]; });
      const bool is_small = entries_[*next] <= most;
      if (!is_small) next = left_.begin() + static_cast<std::ptrdiff_t>(give_up(left_.size()));
      const std::size_t v = *next;
      left_.erase(next);
      leave(v, is_small);
      if (is_small) order.push_back(v);
    }
    return order;
  }

 private:
  // The neighbours of a variable that is eliminated become neighbours of each other.
  void leave(std::size_t v, bool joins) {
    for (const std::size_t other : neighbours_[v]) {
      if (joins) neighbours_[other] = united(neighbours_[other], neighbours_[v]);
      erase(neighbours_[other], other);
      erase(neighbours_[other], v);
      count(other);
    }
  }

  // In doubles, since products beyond 64 bits still differ.
  void count(std::size_t v) {
    entries_[v] = 1;
    for (const std::size_t other : neighbours_[v]) entries_[v] *= static_cast<double>(problem_.choices[other].size());
  }

  const Problem& problem_;
  Scope left_;
  std::vector<Scope> neighbours_;
  std::vector<double> entries_;  // of the table that the variable's elimination makes
};

class Planner {
 public:
  Planner(const Problem& problem, const Part& part, const Scope& order, std::uint64_t most)
      : problem_(problem), most_(most), rank_(problem.size()) {
    plan_.given = part.tables;
    plan_.buckets.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      plan_.buckets[i].variable = order[i];
      rank_[order[i]] = i;
    }
    for (const std::size_t t : part.tables) put(problem.tables[t].scope);
  }

  Plan run() {
    for (Bucket& bucket : plan_.buckets) {
      bucket.first = scopes_.size();
      split(bucket);
      if (bucket.messages.size() == 1 && &bucket == &plan_.buckets[plan_.exact]) ++plan_.exact;
      for (const Message& message : bucket.messages) add(bucket, message);
    }
    return std::move(plan_);
  }

 private:
  // A new table goes to the bucket of the first of its variables that is eliminated.
  void put(const Scope& scope) {
    if (!scope.empty()) {
      std::size_t first = plan_.buckets.size();
      for (const std::size_t v : scope) first = std::min(first, rank_[v]);
      plan_.buckets[first].tables.push_back(scopes_.size());
    }
    scopes_.push_back(scope);
  }

  void add(const Bucket& bucket, const Message& message) {
    const auto entries = static_cast<double>(entries_of(problem_, message.scope));
    plan_.entries += entries;
    plan_.work += entries * static_cast<double>(problem_.choices[bucket.variable].size() * message.from.size());
    put(message.scope);
  }

  // The largest tables first, each to the first message that stays small enough with it.
  void split(Bucket& bucket) const {
    if (join(bucket, bucket.tables)) return;
    std::vector<std::size_t> sorted = bucket.tables;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
      return entries_of(problem_, scopes_[a]) > entries_of(problem_, scopes_[b]);
    });
    for (const std::size_t table : sorted) {
      const auto fits = [&](Message& message) {
        Scope scope = united(message.scope, scopes_[table]);
        erase(scope, bucket.variable);
        if (entries_of(problem_, scope) > most_) return false;
        message.scope = std::move(scope);
        message.from.push_back(table);
        return true;
      };
      if (std::any_of(bucket.messages.begin(), bucket.messages.end(), fits)) continue;
      bucket.messages.push_back({{table}, scopes_[table]});
      erase(bucket.messages.back().scope, bucket.variable);
    }
  }

  [[nodiscard]] bool join(Bucket& bucket, const std::vector<std::size_t>& tables) const {
    Scope scope;
    for (const std::size_t table : tables) scope = united(scope, scopes_[table]);
    erase(scope, bucket.variable);
    if (tables.size() > 1 && entries_of(problem_, scope) > most_) return false;
    bucket.messages = {{tables, std::move(scope)}};
    return true;
  }

  const Problem& problem_;
  const std::uint64_t most_;
  std::vector<std::size_t> rank_;  // by variable: its bucket
  std::vector<Scope> scopes_;      // by number of table
  Plan plan_;
};

}  // namespace

std::vector<std::size_t> elimination_order(const Problem& problem, const Part& part) {
  return Order(problem, part).run(forbidden, [](std::size_t) { return 0; });
}

std::vector<std::size_t> narrow_order(const Problem& problem, const Part& part, std::uint64_t most,
                                      std::mt19937& random) {
  return Order(problem, part).run(static_cast<double>(most), [&](std::size_t left) { return random() % left; });
}

Plan plan_of(const Problem& problem, const Part& part, const std::vector<std::size_t>& order, std::uint64_t most) {
  return Planner(problem, part, order, most).run();
}

Plan affordable_plan(const Problem& problem, const Part& part, const std::vector<std::size_t>& order,
                     const Limits& limits, double work) {
  const double takes = work * static_cast<double>(limits.table_entries);
  for (std::uint64_t most = limits.table_entries;; most /= 2) {
    Plan plan = plan_of(problem, part, order, most);
    if (most <= 1 || plan.takes_at_most(takes)) return plan;
  }
}

}  // namespace kasen::tiling
