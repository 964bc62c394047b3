// kasen-measure --workers: predicts what the plan would hold and send for other numbers of workers, without running.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libopt/time/machine.h"
#include "tools/common/tool.h"

namespace kasen::tools {

void declare_scaling_options(Tool& tool);
// Checks options that belong together. UserError(usage).
void check_scaling_options(const po::variables_map& values);
// Cuts the data in memory for each number of workers, one after another. It uses a sample with --sample, and where
// memory does not suffice, which a note on standard error says. Writes --plot; returns the table.
[[nodiscard]] std::string scaling_report(const Module& module, const po::variables_map& values,
                                         const MachineProfile& machine);

}  // namespace kasen::tools
