// What runs between the start of an exchange and the wait for it, by the schedule of a plan. The time model hides the
// exchange behind that work.
#pragma once

#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/polynomial.h"

namespace kasen {

// Work of an operator, or of some of its rows.
struct Meanwhile {
  int number = -1;  // the operator's
  // The rows' part of all: 0 of those that read no ghost, whose number no bundle tells. `ghosts` of `stored` are the
  // indices of the rows of ghosts.
  LineRows rows = LineRows::all;
  Polynomial ghosts, stored;
};

struct Window {
  int exchange = -1;  // the number of its first operator
  std::vector<Meanwhile> work;
};

// All windows with work. A plan below level 4 has the schedule that it will get when it runs.
[[nodiscard]] std::vector<Window> windows(const Module& module);

// Some rows of an operator of a plan.
[[nodiscard]] Meanwhile meanwhile(const Module& module, const Op& op, int number, LineRows rows);

// The part of an operator's work that some rows are, from the indices of the rows of ghosts and of all rows.
[[nodiscard]] double rows_share(LineRows rows, double ghosts, double stored);

}  // namespace kasen
