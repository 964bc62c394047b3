// A region of rows (libcore/rows/row_region.h): threads take shares of the rows, and each block of a share goes through
// all steps. What a step makes of a block stays in the thread's own memory, within its core's cache.
#pragma once

#include <memory>
#include <span>

#include "libcore/kernels/kernel_set.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

// `alone`: a workshop of one thread for each thread of `shop`.
void run_rows(Workshop& shop, std::span<const std::unique_ptr<Workshop>> alone, const PlanKernels& plan,
              const RowsKernels& kernels, const RowsCall& call);

}  // namespace kasen
