// kasen-measure --workers: what the plan would hold and send for other numbers of workers, without running there.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libopt/time/machine.h"
#include "tools/common/tool.h"

namespace kasen::tools {

void declare_scaling_options(Tool& tool);
// Options that belong together. UserError(usage).
void check_scaling_options(const po::variables_map& values);
// Cuts the data in memory for each number of workers, one after another, or looks at a sample of them (--sample, and
// where memory would not do, which a note on standard error says); writes --plot; returns the table.
[[nodiscard]] std::string scaling_report(const Module& module, const po::variables_map& values,
                                         const MachineProfile& machine);

}  // namespace kasen::tools
