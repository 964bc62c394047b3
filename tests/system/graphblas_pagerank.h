// PageRank as Algorithm 1 says, computed by SuiteSparse:GraphBLAS: an independent reference for whole runs.
#pragma once

#include <cstdint>
#include <vector>

namespace kasen::testing {

struct PageRankReference {
  std::vector<double> rank;
  int iterations = 0;
};

// Arcs row -> col over `vertices`; pr starts at 1, pr = (1-r) + r * sum over in-links of pr/degree, until the sum of
// abs(pr - new_pr) is at most theta. Repeated arcs count once.
[[nodiscard]] PageRankReference graphblas_pagerank(std::int64_t vertices, const std::vector<std::int64_t>& rows,
                                                   const std::vector<std::int64_t>& cols, double r, double theta);

}  // namespace kasen::testing
