// A tiling graph as the searches hold it: factors over the same variables are one table, choices that cannot be part of
// the answer are gone, and memory is counted above the least that each variable takes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "libopt/tiling/solve/search.h"

namespace kasen::tiling {

using Choices = std::vector<std::size_t>;  // by variable: a position among the choices that are left

struct Table {
  std::vector<std::size_t> scope;    // variables, ascending
  std::vector<std::size_t> strides;  // by variable of the scope; the last one's is 1
  std::vector<double> values;

  // Returns where the values of these choices begin, without those of `free`.
  [[nodiscard]] std::size_t place(const Choices& choices,
                                  std::size_t free = std::numeric_limits<std::size_t>::max()) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < scope.size(); ++i) {
      if (scope[i] != free) at += strides[i] * choices[scope[i]];
    }
    return at;
  }
  [[nodiscard]] double at(const Choices& choices) const { return values[place(choices)]; }
  // Returns the stride of a variable; 0 if it is not in the scope.
  [[nodiscard]] std::size_t stride(std::size_t variable) const;
};

struct Problem {
  std::vector<std::vector<std::size_t>> choices;  // by variable: the graph's choices that are left
  std::vector<std::vector<std::size_t>> instead;  // by variable and choice of the graph: the position to take for it
  std::vector<std::vector<double>> memory;        // by variable and position
  std::vector<Table> tables;                      // each scope once, none empty
  double constant = 0;
  double budget = forbidden;  // for the memory; below 0 if nothing fits

  [[nodiscard]] std::size_t size() const { return choices.size(); }
  [[nodiscard]] bool is_budgeted() const { return budget < forbidden; }
  [[nodiscard]] double cost(const Choices& at) const;
  [[nodiscard]] double cost_of(const std::vector<std::size_t>& some_tables, const Choices& at) const;
  [[nodiscard]] double memory_of(const Choices& at) const;
  [[nodiscard]] Choices positions(const Assignment& assignment) const;
  [[nodiscard]] Assignment assignment(const Choices& at) const;
};

enum class Aim : std::uint8_t { cheapest, dearest };  // for the dearest, costs that are not forbidden change their sign

[[nodiscard]] Problem problem_of(const Graph& graph, const Limits& limits, Aim aim = Aim::cheapest);

// Drops each choice beside which another one of its variable is never worse, whatever the others choose: an earlier
// one, or one that is always better. So the first of equal ones stays.
void drop_dominated(Problem& problem);

// Returns the product of the scope's numbers of choices, or the largest number if it is larger.
[[nodiscard]] std::uint64_t entries_of(const Problem& problem, const std::vector<std::size_t>& scope);

// Makes a table of zeros.
[[nodiscard]] Table table_over(const Problem& problem, std::vector<std::size_t> scope);

// Returns the tables of each variable, ascending.
[[nodiscard]] std::vector<std::vector<std::size_t>> tables_by_variable(const Problem& problem);

// Returns the largest number of which each cost is a multiple; 0 if there is none.
[[nodiscard]] double unit_of(const Problem& problem);

// Variables that tables join, directly or through others, and these tables; all ascending.
struct Part {
  std::vector<std::size_t> variables, tables;
};
[[nodiscard]] Part whole(const Problem& problem);
[[nodiscard]] std::vector<Part> parts_of(const Problem& problem);

}  // namespace kasen::tiling
