// Swapping as a framework does it while it runs, which plans are compared with ("ODSwap": Huang, thesis, chapter 5):
// what was used longest ago leaves, and what a task needs comes when the task before it begins. Memory is a pool of any
// sizes, each rounded up to a power of two, as a buddy allocator does.
#pragma once

#include <cstdint>

#include "libopt/swap/plan.h"

namespace kasen::swap {

// Without stays. Throws UserError(limit) if one task touches more than the capacity.
[[nodiscard]] SwapPlan on_demand(const TaskGraph& graph, const Order& order, std::int64_t capacity);

}  // namespace kasen::swap
