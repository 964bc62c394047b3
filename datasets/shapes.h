// Graphs whose edges follow a rule, without chance.
#pragma once

#include <cstdint>

#include "datasets/edge_runs.h"

namespace kasen {

// Edges between vertex 0 and every other of the 2^scale vertices, in both directions. UserError as check_size has it.
[[nodiscard]] EdgeRuns star_edges(int scale);

// 2^floor(scale / 2) rows of 2^ceil(scale / 2) vertices, row by row, each with edges to those left, right, above and
// below it. UserError as check_size has it.
[[nodiscard]] EdgeRuns grid_edges(int scale);

}  // namespace kasen
