// The cases for which the time model is asked: each worker a process of its own, or the ranks of a run.
#pragma once

#include "libopt/text/report_parts.h"
#include "libopt/time/run_report.h"
#include "libopt/time/time_model.h"

namespace kasen {

// The symbol P.
[[nodiscard]] Polynomial workers_of_all();
// The context has to stay alive.
[[nodiscard]] TimeCase each_worker_a_process(const ReportContext& context, const MachineProfile& machine);
// The bytes that crossed the run's ranks, and its threads, which have their share of the machine.
[[nodiscard]] TimeCase case_of_run(const ReportContext& context, const Sizes& sizes, const RunReport& run,
                                   const MachineProfile& machine);
// Returns the share of the machine that one of the run's ranks had, by its threads.
[[nodiscard]] MachineProfile machine_of_rank(const MachineProfile& machine, const RunReport& run);

}  // namespace kasen
