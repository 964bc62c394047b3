// Bringing a run's results and counters together on rank 0.
#pragma once

#include <string>
#include <vector>

#include "libcore/executor.h"
#include "tools/run_cluster.h"

namespace kasen::tools {

// One output, whole: elements in global order, local dimensions innermost.
struct WholeOutput {
  std::string name;
  Type type;
  std::vector<std::string> dims;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> original;  // the user's ids of the cut dimension, in global order; empty: 0, 1, ...
  Array data;
};

// On rank 0 all outputs; nothing elsewhere. All ranks call it. UserError(limit) where the result does not fit memory.
[[nodiscard]] std::vector<WholeOutput> gather_outputs(Cluster& cluster, const Module& module, const RunResult& result,
                                                      const std::vector<Part>& parts);
// Counters summed over the ranks, parts in order; on rank 0 alone.
[[nodiscard]] RunResult gather_counts(Cluster& cluster, const RunResult& result);

}  // namespace kasen::tools
