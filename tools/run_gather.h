// Bringing a run's results and counters together on rank 0.
#pragma once

#include <functional>

#include "libcore/executor.h"
#include "libopt/run_report.h"
#include "tools/run_cluster.h"

namespace kasen::tools {

// One worker's elements of outputs[output], in the order of its masters.
using TakeOutput = std::function<void(size_t output, int worker, const Array& data)>;

// Hands every worker's share of every output to `take`, on rank 0, output by output. All ranks call it.
void gather_outputs(Cluster& cluster, const RunResult& result, const TakeOutput& take);

// The counters of all ranks; on rank 0 alone. All ranks call it.
[[nodiscard]] RunReport gather_report(Cluster& cluster, const Module& module, const RunReport& mine);

}  // namespace kasen::tools
