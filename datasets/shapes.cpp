#include "datasets/shapes.h"

#include "datasets/draws.h"

namespace kasen {

EdgeRuns star_edges(int scale) {
  check_size(scale, scale < 0 || scale > 31 ? 0 : 2 * (std::int64_t{1} << scale), 0);
  const std::uint64_t vertices = std::uint64_t{1} << static_cast<unsigned>(scale);
  EdgeRuns edges;
  auto& run = edges.runs.emplace_back();
  for (std::uint64_t v = 1; v < vertices; ++v) run.push_back(edge_of(0, v));
  for (std::uint64_t v = 1; v < vertices; ++v) run.push_back(edge_of(v, 0));
  return edges;
}

EdgeRuns grid_edges(int scale) {
  check_size(scale, scale < 0 || scale > 31 ? 0 : 4 * (std::int64_t{1} << scale));
  const std::uint64_t columns = std::uint64_t{1} << static_cast<unsigned>((scale + 1) / 2);
  const std::uint64_t rows = std::uint64_t{1} << static_cast<unsigned>(scale / 2);
  EdgeRuns edges;
  for (std::uint64_t row = 0; row < rows; ++row) {
    auto& run = edges.runs.emplace_back();
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t v = row * columns + column;
      if (row > 0) run.push_back(edge_of(v, v - columns));
      if (column > 0) run.push_back(edge_of(v, v - 1));
      if (column + 1 < columns) run.push_back(edge_of(v, v + 1));
      if (row + 1 < rows) run.push_back(edge_of(v, v + columns));
    }
  }
  return edges;
}

}  // namespace kasen
