// Degree-corrected stochastic block models (Karrer, Newman, "Stochastic blockmodels and community structure in
// networks", Phys. Rev. E 2011) whose degrees and blocks follow power laws, as those of web graphs do.
#pragma once

#include <cstdint>

#include "datasets/edge_runs.h"

namespace kasen {

struct CommunityOptions {
  int scale = 16;          // 2^scale vertices
  std::int64_t edges = 0;  // drawn edges; repeated ones are left out
  std::uint64_t seed = 1;
  double leaving = 0.2;  // the part of the edges whose target may be in any community
};

// Communities are runs of vertices. Their sizes, and the expected numbers of edges from and to a vertex, are
// independent and have the density x^(-7/3). UserError as check_size has it; usage: `leaving` is no part of 1.
[[nodiscard]] EdgeRuns community_edges(const CommunityOptions& options);

}  // namespace kasen
