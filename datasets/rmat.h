// Recursive matrices (R-MAT; Chakrabarti, Zhan, Faloutsos, SDM 2004).
#pragma once

#include <cstdint>

#include "datasets/edge_runs.h"

namespace kasen {

struct RmatOptions {
  int scale = 16;          // 2^scale vertices, at most 2^31
  std::int64_t edges = 0;  // drawn edges; repeated ones are left out
  std::uint64_t seed = 1;
  double a = 0.57, b = 0.19, c = 0.19;  // of the quadrants: from low to low, low to high, high to low
};

// A permutation of the seed's own names the vertices, so that their names say nothing about their degrees. Takes about
// 8 bytes an edge. UserError(usage): options out of range; limit: more edges than this process can hold.
[[nodiscard]] EdgeRuns rmat_edges(const RmatOptions& options);

}  // namespace kasen
