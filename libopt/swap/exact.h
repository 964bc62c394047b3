// The least time that any plan takes with an allocation, for small graphs: a search over what is done, what lies in the
// faster memory and what is moving (A*). It bounds what heuristics can reach, and tests compare them with it.
#pragma once

#include <cstddef>
#include <optional>

#include "libopt/swap/simulate.h"

namespace kasen::swap {

inline constexpr std::size_t most_exact_tasks = 32, most_exact_tensors = 64;

struct ExactOptions {
  Links links;
  const Order* order = nullptr;    // tasks run in this order; none: in any
  std::size_t states = 5'000'000;  // that are looked at, at most
};

// Seconds of one iteration alone. A tensor that a running task touches does not move (SYSTEMS item 21); one that was
// copied out may stay, and leaves without another copy. Nothing: the graph is too large, there are too many states, or
// no plan exists.
[[nodiscard]] std::optional<double> least_seconds(const TaskGraph& graph, const Sizes& sizes,
                                                  const Allocation& allocation, const ExactOptions& options);

}  // namespace kasen::swap
