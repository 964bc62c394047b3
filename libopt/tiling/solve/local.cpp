#include "libopt/tiling/solve/local.h"

#include <algorithm>

namespace kasen::tiling {
namespace {

constexpr int most_sweeps = 1000;  // each makes the assignment better; a limit for sums that are rounded

struct Standing {
  double excess = 0;  // memory beyond the budget
  std::size_t broken = 0;
  double cost = 0;
  friend auto operator<=>(const Standing&, const Standing&) = default;
};

class LocalSearch {
 public:
  LocalSearch(const Problem& problem, Choices& at)
      : problem_(problem), at_(at), of_(tables_by_variable(problem)), memory_(problem.memory_of(at)) {}

  void run() {
    for (int round = 0; round < most_sweeps; ++round) {
      while (round < most_sweeps && change_singles()) ++round;
      if (!change_pairs()) return;
    }
  }

 private:
  using Numbers = std::vector<std::size_t>;

  bool change_singles() {
    bool changed = false;
    for (std::size_t v = 0; v < problem_.size(); ++v) {
      if (choose({v}, of_[v])) changed = true;
    }
    return changed;
  }

  bool change_pairs() {
    bool changed = false;
    for (std::size_t v = 0; v < problem_.size(); ++v) {
      for (const std::size_t other : later_neighbours(v)) {
        Numbers both;
        std::set_union(of_[v].begin(), of_[v].end(), of_[other].begin(), of_[other].end(), std::back_inserter(both));
        if (choose({v, other}, both)) changed = true;
      }
    }
    return changed;
  }

  [[nodiscard]] Numbers later_neighbours(std::size_t v) const {
    Numbers all;
    for (const std::size_t t : of_[v]) {
      const Numbers& scope = problem_.tables[t].scope;
      std::copy_if(scope.begin(), scope.end(), std::back_inserter(all), [&](std::size_t other) { return other > v; });
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  // Gives the variables the choices with which these tables stand best. Returns true if these are others.
  bool choose(const Numbers& variables, const Numbers& tables) {
    for (const std::size_t v : variables) memory_ -= problem_.memory[v][at_[v]];
    const Numbers before = chosen(variables);
    Numbers best = before;
    Standing least = standing(variables, tables);
    set(variables, Numbers(variables.size(), 0));
    do {
      const Standing now = standing(variables, tables);
      if (now < least) {
        least = now;
        best = chosen(variables);
      }
    } while (advance(variables));
    set(variables, best);
    for (const std::size_t v : variables) memory_ += problem_.memory[v][at_[v]];
    return best != before;
  }

  [[nodiscard]] Standing standing(const Numbers& variables, const Numbers& tables) const {
    Standing standing;
    double memory = memory_;
    for (const std::size_t v : variables) memory += problem_.memory[v][at_[v]];
    if (problem_.is_budgeted()) standing.excess = std::max(0.0, memory - problem_.budget);
    for (const std::size_t t : tables) {
      const double cost = problem_.tables[t].at(at_);
      if (cost < forbidden) {
        standing.cost += cost;
      } else {
        ++standing.broken;
      }
    }
    return standing;
  }

  [[nodiscard]] Numbers chosen(const Numbers& variables) const {
    Numbers choices;
    for (const std::size_t v : variables) choices.push_back(at_[v]);
    return choices;
  }

  void set(const Numbers& variables, const Numbers& choices) {
    for (std::size_t i = 0; i < variables.size(); ++i) at_[variables[i]] = choices[i];
  }

  bool advance(const Numbers& variables) {
    for (auto v = variables.rbegin(); v != variables.rend(); ++v) {
      if (++at_[*v] < problem_.choices[*v].size()) return true;
      at_[*v] = 0;
    }
    return false;
  }

  const Problem& problem_;
  Choices& at_;
  const std::vector<Numbers> of_;  // by variable: its tables
  double memory_;                  // of all variables but those that are being changed
};

}  // namespace

void improve(const Problem& problem, Choices& at) { LocalSearch(problem, at).run(); }

}  // namespace kasen::tiling
