/// \file
/// A plan that stores and loads arrays, or a run with arrays on disks, over time: operators, reads and writes of disks,
/// and the memory held, as predicted and as measured.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/swapping/predicted_timeline.h"
#include "libopt/time/machine.h"
#include "libopt/time/run_report.h"

namespace kasen {

/// True if a plan moves arrays, or a run (may be null) recorded its streams.
[[nodiscard]] bool has_streams(const Module& module, const RunReport* run);

/// Of a plan that stores arrays: one that is planned for each worker by itself. Loops have the run's iterations, else
/// those that the program states, else one. `sizes` must be by worker.
[[nodiscard]] swapping::PredictedTimeline predicted_streams(const Module& module, const Sizes& sizes,
                                                            const MachineProfile& machine, const RunReport* run);

/// A picture as a file. UserError(usage) if there are no streams.
[[nodiscard]] std::string streams_file(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                                       const RunReport* run);
/// A section of a page; empty if there are no streams, or sizes are not known by worker.
[[nodiscard]] std::string streams_section(const Module& module, const Sizes* sizes, const MachineProfile& machine,
                                          const RunReport* run);

}  // namespace kasen
