// Elimination under a budget: each entry of a table is a front of points of cost and memory.
#pragma once

#include <optional>

#include "libopt/tiling/solve/plan.h"

namespace kasen::tiling {

struct FrontLimits {
  std::uint64_t points = 0;  // of all tables
  std::uint64_t sums = 0;    // of points that are formed
};

struct FrontResult {
  bool is_complete = false;   // within the limits
  std::optional<Choices> at;  // none: nothing is allowed within the budget
};

// The plan is an exact one of the whole problem.
[[nodiscard]] FrontResult cheapest_within(const Problem& problem, const Plan& plan, const FrontLimits& limits);

}  // namespace kasen::tiling
