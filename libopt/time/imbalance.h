// The work of the slowest process of a run over that of the mean one.
#pragma once

#include <cstdint>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// Returns the largest share over the mean one of the indices of cut dimensions or of the sparse matrices' nonzeros,
// whichever is more; in a plan that names layouts, of the bytes of all arrays. The given number of processes have the
// workers in runs (DESIGN section 6). It is 1 if sizes by worker are not known. Everything that reports or compares
// times takes it from here.
[[nodiscard]] double imbalance(const Module& module, const Sizes& sizes, int processes);

struct WorkImbalance {
  double indices = 1, entries = 1;
};
// Returns the same shares for each of the two; for a plan that names layouts both are of its bytes.
[[nodiscard]] WorkImbalance work_imbalance(const Module& module, const Sizes& sizes, int processes);

}  // namespace kasen
