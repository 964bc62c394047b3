#include "libopt/tiling/solve/tabu.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

namespace kasen::tiling {
namespace {

constexpr std::size_t least_rest = 4, more_rest = 8;  // steps for which a changed variable stays
constexpr double eager = 1e-9;                        // what counts as cheaper, beside the sum, where sums are rounded

class TabuSearch {
 public:
  TabuSearch(const Problem& problem, const Part& part, Choices& at)
      : problem_(problem), part_(part), at_(at), of_(tables_by_variable(problem)), rests_(problem.size(), 0) {
    for (const std::size_t t : part.tables) {
      for (const double value : problem.tables[t].values) {
        if (value < forbidden) penalty_ += std::abs(value);
      }
    }
    costs_.resize(problem.size());
    for (const std::size_t v : part.variables) {
      costs_[v].assign(problem.choices[v].size(), 0);
      for (const std::size_t t : of_[v]) add(problem.tables[t], v, 1);
    }
    for (const std::size_t t : part.tables) now_ += priced(problem.tables[t].at(at));
  }

  void run(double work) {
    Choices best = at_;
    double least = now_;
    for (std::size_t step = 1; work_ < work; ++step) {
      const std::optional<Move> move = next(step, least);
      if (!move) continue;
      rests_[move->variable] = step + least_rest + random_() % more_rest;
      make(*move);
      if (now_ >= least - eager * std::abs(least)) continue;
      least = now_;
      best = at_;
    }
    at_ = best;
  }

 private:
  struct Move {
    std::size_t variable = 0, choice = 0;
    double rise = 0;
  };

  // A forbidden entry is dearer than all others together.
  [[nodiscard]] double priced(double value) const { return value < forbidden ? value : penalty_ + 1; }

  // Adds (or, with -1, takes away) what a table costs with each choice of one of its variables.
  void add(const Table& table, std::size_t v, double sign) {
    const std::size_t place = table.place(at_, v), stride = table.stride(v);
    for (std::size_t choice = 0; choice < costs_[v].size(); ++choice) {
      costs_[v][choice] += sign * priced(table.values[place + choice * stride]);
    }
    work_ += static_cast<double>(costs_[v].size());
  }

  // Returns the cheapest change, one of equal ones by chance. A variable at rest changes only for a new best.
  std::optional<Move> next(std::size_t step, double least) {
    std::optional<Move> best;
    std::size_t equal = 1;
    for (const std::size_t v : part_.variables) {
      for (std::size_t choice = 0; choice < costs_[v].size(); ++choice) {
        if (choice == at_[v]) continue;
        const double rise = costs_[v][choice] - costs_[v][at_[v]];
        if (rests_[v] >= step && now_ + rise >= least) continue;
        if (best && rise > best->rise) continue;
        equal = best && rise == best->rise ? equal + 1 : 1;
        if (equal == 1 || random_() % equal == 0) best = Move{v, choice, rise};
      }
    }
    work_ += static_cast<double>(part_.variables.size());
    return best;
  }

  void make(const Move& move) {
    for_neighbours(move.variable, -1);
    at_[move.variable] = move.choice;
    for_neighbours(move.variable, 1);
    now_ += move.rise;
  }

  void for_neighbours(std::size_t v, double sign) {
    for (const std::size_t t : of_[v]) {
      for (const std::size_t other : problem_.tables[t].scope) {
        if (other != v) add(problem_.tables[t], other, sign);
      }
    }
  }

  const Problem& problem_;
  const Part& part_;
  Choices& at_;
  const std::vector<std::vector<std::size_t>> of_;  // by variable: its tables
  std::vector<std::vector<double>> costs_;          // by variable and choice: of its tables, beside all others' choices
  std::vector<std::size_t> rests_;                  // by variable: the last step in which it stays
  double penalty_ = 0, now_ = 0, work_ = 0;
  std::mt19937 random_{1};
};

}  // namespace

void improve_by_tabu(const Problem& problem, const Part& part, Choices& at, double work) {
  TabuSearch(problem, part, at).run(work);
}

}  // namespace kasen::tiling
