// Reports the options and the choice of selection for people (`kasen fuse --print-plans`).
#pragma once

#include <string>

#include "libopt/fusion/from_module.h"
#include "libopt/selection/select.h"

namespace kasen::fusion {

// Lists the partitions with their points and the number of evaluated plans, with and without each pruning. Then it
// lists each selector's operators for the block, which has no regions, and their cost. `module` is the block's.
[[nodiscard]] std::string plans_text(const Module& module, const BlockDag& block, const Memo& memo,
                                     const CostRules& costs);

}  // namespace kasen::fusion
