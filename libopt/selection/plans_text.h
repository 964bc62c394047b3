// What selection saw and chose, for people (`kasen fuse --print-plans`).
#pragma once

#include <string>

#include "libopt/selection/select.h"

namespace kasen::fusion {

// The partitions with their points and how many plans were evaluated, with and without each pruning; then what each
// selector makes of the block, and what that takes.
[[nodiscard]] std::string plans_text(const Dag& dag, const Memo& memo, const CostRules& costs);

}  // namespace kasen::fusion
