// Memory and messages of a plan on a given bundle, predicted to the byte (docs/cost.md): what the executor's PartCount
// and Traffic will say.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/analysis/shared_batch.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// One for each worker. `sizes` must be by worker.
[[nodiscard]] std::vector<PartCount> predict_parts(const Module& module, const Sizes& sizes);

// What generated kernels hold beside these, over all workers: matrices of products in loops with their rows sorted by
// length, where rows are short (libkernels/run/sorted_rows.h). `ran(number)` tells which operators run.
[[nodiscard]] std::int64_t predict_kernel_bytes(const Module& module, const Sizes& sizes,
                                                const std::function<bool(int)>& ran);

// The same over all workers, in bytes without padding, as polynomials.
struct Footprint {
  Polynomial buffers, matrices, inputs;
};
[[nodiscard]] Footprint footprint(const Module& module);
// Of one buffer of the plan.
[[nodiscard]] Polynomial buffer_bytes(const Module& module, const BufferDecl& buffer);

// What one execution of a gather or scatter moves when `ranks` ranks hold the workers in runs (DESIGN section 6).
// Zero for other operators. The messages of a batch of shareds are those of its first operator.
[[nodiscard]] Traffic predict_traffic(const Module& module, const SharedBatches& batches, const Op& op,
                                      const Sizes& sizes, int ranks);

}  // namespace kasen
