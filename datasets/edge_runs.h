// Edges in memory, as all generators make them.
#pragma once

#include <cstdint>
#include <vector>

namespace kasen {

// Distinct edges by source, then target, each as source * 2^32 + target, in runs that follow one another.
struct EdgeRuns {
  std::vector<std::vector<std::uint64_t>> runs;
  [[nodiscard]] std::int64_t count() const;
};

// Refuses graphs that cannot be. UserError(usage): a scale (2^scale vertices) outside of least..31, fewer than 0 edges;
// limit: more edges than this process can hold.
void check_size(int scale, std::int64_t edges, int least = 1);

}  // namespace kasen
