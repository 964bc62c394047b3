// How much more the slowest process of a run has to do than the mean one.
#pragma once

#include <cstdint>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// The largest share over the mean one of the indices of cut dimensions or of the sparse matrices' entries, whichever is
// more, among so many processes that have the workers in runs (DESIGN section 6). 1 where sizes by worker are not
// known. This is the one place that decides it: whatever tells or compares times takes it from here.
[[nodiscard]] double imbalance(const Module& module, const Sizes& sizes, int processes);

}  // namespace kasen
