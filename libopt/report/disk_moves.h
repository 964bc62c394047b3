// What a plan stores on a disk and loads again, to the byte. The executor counts the same.
#pragma once

#include <vector>

#include "libcore/data/memory_plan.h"
#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// By operator, over all workers. `sizes` must be by worker, if the plan stores anything.
[[nodiscard]] std::vector<DiskUse> predict_disk(const Module& module, const Sizes& sizes);

}  // namespace kasen
