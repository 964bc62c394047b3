#include "datasets/edge_runs.h"

#include <fmt/format.h>

#include <limits>

#include "libcore/base/error.h"
#include "libcore/system/memory_limit.h"

namespace kasen {

std::int64_t EdgeRuns::count() const {
  std::int64_t count = 0;
  for (const auto& run : runs) count += static_cast<std::int64_t>(run.size());
  return count;
}

void check_size(int scale, std::int64_t edges, int least) {
  if (scale < least || scale > 31)
    fail(ExitStatus::usage, fmt::format("a graph of scale {}", scale), fmt::format("scales are {} to 31", least));
  if (edges < 0) fail(ExitStatus::usage, fmt::format("a graph of {} edges", edges));
  const std::int64_t most = available_memory().value_or(std::numeric_limits<std::int64_t>::max()) / 9;
  if (edges > most)
    fail(ExitStatus::limit, fmt::format("{} edges do not fit into memory", edges),
         fmt::format("they take 8 bytes each and there is room for {}", most), "draw fewer edges");
}

}  // namespace kasen
