// What is left of a part once small tables have replaced the variables whose elimination makes them. Each choice of the
// variables that are left stands for the best of the others, so local search and bounds see farther.
#pragma once

#include "libopt/tiling/solve/elimination.h"

namespace kasen::tiling {

class Core {
 public:
  Core(const Problem& whole, const Part& part, const std::vector<std::size_t>& order, double unit);

  // Has the variables of the whole problem. Those that are not left have one choice and no table.
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] Choices positions(const Choices& whole) const;
  // Sets the choices of the part's variables.
  void complete(const Choices& at, Choices& whole) const;

 private:
  [[nodiscard]] Plan prefix(const Part& part, const std::vector<std::size_t>& order) const;
  void add_tables_left();

  const Problem& whole_;
  const Plan plan_;  // the eliminations until a table would be large
  const Elimination elimination_;
  std::vector<std::size_t> variables_;  // that are left
  Problem problem_;
};

}  // namespace kasen::tiling
