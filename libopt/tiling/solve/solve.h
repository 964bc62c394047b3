// The search behind all of search.h that looks for the best assignment of a problem.
#pragma once

#include <functional>

#include "libopt/tiling/solve/branch_and_bound.h"

namespace kasen::tiling {

// Finds an assignment to begin with; called only where elimination alone does not solve the problem.
using Start = std::function<Choices()>;

// The outcome is of the whole problem, with its constant. Without a start, branch and bound begins with nothing.
[[nodiscard]] Outcome solve(const Problem& problem, const Limits& limits, const Start& start);

}  // namespace kasen::tiling
