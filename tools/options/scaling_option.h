// kasen-measure --workers: predicts what the plan would hold and send for other numbers of workers, without running.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/time/machine.h"
#include "tools/common/tool.h"

namespace kasen::tools {

void declare_scaling_options(Tool& tool);
// The numbers of --workers, ascending. UserError(usage).
[[nodiscard]] std::vector<std::int64_t> worker_counts(const po::variables_map& values);
// Whether the table is wanted: for --data, or for several numbers with a bundle.
[[nodiscard]] bool scales_workers(const po::variables_map& values);
// Checks options that belong together. UserError(usage).
void check_scaling_options(const po::variables_map& values);
// Reads the bundle, or cuts the data in memory, for each number of workers, one after another. It uses a sample with
// --sample, and where memory does not suffice, which a note on standard error says. Writes --plot; returns the table.
[[nodiscard]] std::string scaling_report(const Module& module, const std::string& name, const po::variables_map& values,
                                         const MachineProfile& machine, bool json);

}  // namespace kasen::tools
