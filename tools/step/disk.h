// The part of kasen-measure that says what a run in less memory reads from disks and writes to them.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/memory_plan.h"
#include "libcore/ir/module.h"
#include "libopt/time/machine.h"

namespace kasen::tools {

// The workers of a process: the first one, and how many.
struct WorkersOfRank {
  int first = 0, count = 1;
};
// Of processes with so many bytes of memory each; without `ranks` of one that has all workers. `in_memory`: inputs are
// there as without a limit (matrices_surely_fit). UserError as a run's.
[[nodiscard]] MemoryPlan plan_of_memory(const Module& plan, const std::string& bundle, int workers,
                                        std::vector<WorkersOfRank> ranks, std::int64_t memory, bool in_memory = false);
// Of one process that has all workers. Times are those of the machine's disk.
[[nodiscard]] std::string disk_text(const Module& plan, const MemoryPlan& memory, std::int64_t allowed,
                                    const MachineProfile& machine);
[[nodiscard]] std::string disk_json(const Module& plan, const MemoryPlan& memory);

}  // namespace kasen::tools
