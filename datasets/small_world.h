// Small worlds (Watts, Strogatz, "Collective dynamics of 'small-world' networks", Nature 1998).
#pragma once

#include <cstdint>

#include "datasets/edge_runs.h"

namespace kasen {

struct SmallWorldOptions {
  int scale = 16;          // 2^scale vertices
  std::int64_t edges = 0;  // as many links for each vertex as go into it; each link is an edge either way
  std::uint64_t seed = 1;
  double rewired = 0.1;  // the part of the links that lead to any vertex
};

// Links each vertex of a ring with those after it, up to the same distance. Some links lead to a random vertex instead;
// repeated edges are left out. UserError as check_size has it; usage: `rewired` is no part of 1, or the edges are fewer
// than two a vertex or more than a ring has.
[[nodiscard]] EdgeRuns small_world_edges(const SmallWorldOptions& options);

}  // namespace kasen
