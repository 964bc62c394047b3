// The order of a plan's operators, where some need less memory than others (schedules: Huang, thesis, section 4.2).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen::swapping {

// Tries orders of the program's operators and of those in its outermost loops: the given one, along branches, and the
// one that keeps the fewest bytes. Takes that for which moves beside a block's operators leave it the least time.
// Returns a line for each block whose order is another now. `assign` gives buffers anew.
[[nodiscard]] std::vector<std::string> reorder(Module& module, const std::function<Sizes(const Module&)>& sizes,
                                               std::int64_t memory, const MachineProfile& machine,
                                               const std::function<void(Module&)>& assign);

}  // namespace kasen::swapping
