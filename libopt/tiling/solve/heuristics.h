// Assignments by one decision after the other. They may end where everything left is forbidden: search.cpp repairs
// them.
#pragma once

#include "libopt/tiling/graph.h"

namespace kasen::tiling {

// The paper's Figure 8.
[[nodiscard]] Assignment most_connected_first(const Graph& graph, double budget);

// In the order of the ids, each the first choice that costs least beside those before it, where those behind it still
// choose what is best for each factor.
[[nodiscard]] Assignment one_by_one(const Graph& graph, double budget);

}  // namespace kasen::tiling
