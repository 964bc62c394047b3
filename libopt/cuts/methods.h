// The methods that cut data, side by side: what each costs a plan.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/report/scaling.h"
#include "libopt/time/machine.h"

namespace kasen {

// A table for people with a line for each of `points`, by worker, then method. It has network bytes of all workers and
// of the busiest one, the imbalance of entries and of indices, and the predicted time (cut_time.h), which has both
// imbalances in it. The shortest time of each number of workers is marked.
[[nodiscard]] std::string methods_text(const Module& module, const std::vector<ScalingPoint>& points,
                                       const MachineProfile& machine);

}  // namespace kasen
