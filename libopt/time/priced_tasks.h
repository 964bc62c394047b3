// The tasks of a region of blocks, priced by the cost model one by one, as operators of one worker.
#pragma once

#include <vector>

#include "libcore/blocks/tasks.h"
#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"

namespace kasen {

struct PricedTasks {
  Module module;               // an operator for each variant
  std::vector<int> ops;        // of each variant: its number there
  Polynomial::Bindings sizes;  // for the report's formulas
  CostReport report;
};

// `sized` has sizes.
[[nodiscard]] PricedTasks priced_tasks(const Module& sized, const std::vector<TaskVariant>& variants);

}  // namespace kasen
