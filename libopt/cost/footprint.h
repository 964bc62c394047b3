// Predicts the memory of a plan on a given bundle, to the byte (docs/cost.md). The executor's PartCount will report the
// same numbers.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libcore/schedule/schedule.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// Predicts one count for each worker. `sizes` must be by worker.
[[nodiscard]] std::vector<PartCount> predict_parts(const Module& module, const Sizes& sizes);

// Predicts the further bytes that generated kernels hold, over all workers: second forms of the matrices of products in
// loops, with rows sorted by length, where rows are short (libkernels/run/sorted_rows.h). Matrices that are on a disk
// have none.
[[nodiscard]] std::int64_t predict_kernel_bytes(const Module& module, const Sizes& sizes,
                                                const std::set<std::string>& on_disk = {});

// The memory over all workers, in bytes without padding, as polynomials.
struct Footprint {
  Polynomial buffers, matrices, inputs;
};
[[nodiscard]] Footprint footprint(const Module& module);
// Returns the bytes of a value's array, or of all arrays of a list, on a worker, with room for the ghosts of its state.
[[nodiscard]] std::int64_t value_bytes(const Module& module, ValueId value, const Sizes& sizes, int worker);
// Returns the bytes of the arrays of values over all workers, without padding, as footprint() counts them.
[[nodiscard]] std::vector<Polynomial> value_forms(const Module& module, const std::vector<ValueId>& values);
// Returns the bytes of a buffer on a worker, in the default layout. `sizes` must be by worker.
[[nodiscard]] std::int64_t buffer_bytes(const Module& module, BufferId buffer, const Sizes& sizes, int worker);
// Returns the bytes of a matrix in the form that products read, on a worker. `sizes` must be by worker.
[[nodiscard]] std::int64_t form_bytes(const Module& module, const ProductForm& form, const Sizes& sizes, int worker);
// Returns the bytes of one buffer of the plan.
[[nodiscard]] Polynomial buffer_bytes(const Module& module, const BufferDecl& buffer);

}  // namespace kasen
