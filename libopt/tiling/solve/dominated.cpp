#include <algorithm>

#include "libopt/tiling/solve/problem.h"

namespace kasen::tiling {
namespace {

class Dominance {
 public:
  explicit Dominance(Problem& problem) : problem_(problem), tables_(tables_by_variable(problem)) {}

  // Fewer choices of one variable may make choices of its neighbours dominated.
  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t v = 0; v < problem_.size(); ++v) {
        while (drop_one(v)) changed = true;
      }
    }
  }

 private:
  bool drop_one(std::size_t v) {
    const std::size_t count = problem_.choices[v].size();
    for (std::size_t of = 0; of < count; ++of) {
      for (std::size_t by = 0; by < count; ++by) {
        if (by == of || !dominates(v, by, of)) continue;
        drop(v, of, by);
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool dominates(std::size_t v, std::size_t by, std::size_t of) const {
    if (problem_.is_budgeted() && problem_.memory[v][by] > problem_.memory[v][of]) return false;
    double most = 0;  // that `by` costs above `of`, if each table's other variables choose what is worst for it
    for (const std::size_t t : tables_[v]) {
      const double above = most_above(problem_.tables[t], v, by, of);
      if (above == forbidden) return false;
      most += above;
    }
    return by < of ? most <= 0 : most < 0;
  }

  // Where `of` is forbidden, anything is as good.
  [[nodiscard]] double most_above(const Table& table, std::size_t v, std::size_t by, std::size_t of) const {
    const std::size_t stride = table.stride(v), count = problem_.choices[v].size();
    double most = -forbidden;
    for (std::size_t outer = 0; outer < table.values.size(); outer += stride * count) {
      for (std::size_t i = outer; i < outer + stride; ++i) {
        const double there = table.values[i + of * stride];
        if (there < forbidden) most = std::max(most, table.values[i + by * stride] - there);
      }
    }
    return most;
  }

  void drop(std::size_t v, std::size_t of, std::size_t by) {
    for (const std::size_t t : tables_[v]) drop_entries(problem_.tables[t], v, of);
    problem_.choices[v].erase(problem_.choices[v].begin() + static_cast<std::ptrdiff_t>(of));
    problem_.memory[v].erase(problem_.memory[v].begin() + static_cast<std::ptrdiff_t>(of));
    for (std::size_t& position : problem_.instead[v]) {
      if (position == of) position = by;
      if (position > of) --position;
    }
  }

  // The table's variables have `of` left out from here on: the variable's choices are one fewer.
  void drop_entries(Table& table, std::size_t v, std::size_t of) const {
    const std::size_t stride = table.stride(v), count = problem_.choices[v].size();
    std::vector<double> left;
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      if (i / stride % count != of) left.push_back(table.values[i]);
    }
    table.values = std::move(left);
    for (std::size_t i = 0; i < table.scope.size() && table.scope[i] < v; ++i) {
      table.strides[i] = table.strides[i] / count * (count - 1);
    }
  }

  Problem& problem_;
  const std::vector<std::vector<std::size_t>> tables_;
};

}  // namespace

void drop_dominated(Problem& problem) { Dominance(problem).run(); }

}  // namespace kasen::tiling
