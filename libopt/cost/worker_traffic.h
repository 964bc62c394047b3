// Predicts what each worker sends and receives, to the byte (docs/cost.md). The sums over the workers are those of
// traffic.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/module.h"
#include "libopt/cost/polynomial.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// Bytes, by worker.
struct WorkerTraffic {
  std::vector<std::int64_t> sent, received;
  std::int64_t between_nodes = 0;  // what of all that is sent crosses nodes, where the mesh names these
};

// Predicts the traffic of one execution of a gather, scatter, relayout or scan of cut lines; zeros for other operators.
// `sizes` are known by worker.
[[nodiscard]] WorkerTraffic worker_traffic(const Module& module, const SharedBatches& batches, const Op& op,
                                           const Sizes& sizes);

// Adds up all operators, each times its executions. Nothing if one is not known.
using Executions = std::function<std::optional<std::int64_t>(int number)>;  // by the operator's preorder number
[[nodiscard]] std::optional<WorkerTraffic> worker_traffic(const Module& module, const Sizes& sizes,
                                                          const Executions& executions);

}  // namespace kasen
