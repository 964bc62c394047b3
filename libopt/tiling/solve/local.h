// Local search: from a full assignment to one that no small change improves.
#pragma once

#include "libopt/tiling/solve/problem.h"

namespace kasen::tiling {

// Changes one variable, then two of one table, as long as that takes less memory beyond the budget, or breaks fewer
// tables (those that forbid), or costs less, in this order.
void improve(const Problem& problem, Choices& at);

}  // namespace kasen::tiling
