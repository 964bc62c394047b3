// Graphs of any size for tests and measurements: recursive matrices (R-MAT; Chakrabarti, Zhan, Faloutsos, SDM 2004) and
// stars. They depend on their options alone, whatever the threads.
#pragma once

#include <cstdint>
#include <vector>

namespace kasen {

struct RmatOptions {
  int scale = 16;          // 2^scale vertices, at most 2^31
  std::int64_t edges = 0;  // drawn edges; repeated ones are left out
  std::uint64_t seed = 1;
  double a = 0.57, b = 0.19, c = 0.19;  // of the quadrants: from low to low, low to high, high to low
};

// Distinct edges by source, then target, each as source * 2^32 + target, in runs that follow one another.
struct EdgeRuns {
  std::vector<std::vector<std::uint64_t>> runs;
  [[nodiscard]] std::int64_t count() const;
};

// A permutation of the seed's own names the vertices, so that their names say nothing about their degrees. Takes about
// 8 bytes an edge. UserError(usage): options out of range; limit: more edges than this process can hold.
[[nodiscard]] EdgeRuns rmat_edges(const RmatOptions& options);

// Edges between vertex 0 and every other, in both directions.
[[nodiscard]] EdgeRuns star_edges(std::int64_t vertices);

}  // namespace kasen
