// How long a plan is expected to take on a machine, told for people; time_model.h is the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"
#include "libopt/time/run_report.h"
#include "libopt/time/time_model.h"

namespace kasen {

struct PlanTimes {
  std::vector<std::optional<PredictedTime>> turns;  // by loop of the cost report; nothing: sizes or turns unknown
  std::optional<PredictedTime> program;
  double imbalance = 1;  // of the slowest worker over the mean: it is in the times
};

// Each worker on a process of its own, the slowest of which decides. `sizes` may be null: what does not depend on sizes
// has a time even so.
[[nodiscard]] PlanTimes predicted_times(const Module& module, const Sizes* sizes, const MachineProfile& machine);
[[nodiscard]] std::string times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine);

// One operator of a run, over all of its executions, with what ends its blocks: what the model gives it on the run's
// ranks, and what it took on the slowest of them.
struct OperatorTime {
  PredictedTime predicted;
  double measured = 0;
};
[[nodiscard]] std::vector<OperatorTime> operator_times(const Module& module, const Sizes& sizes, const RunReport& run,
                                                       const MachineProfile& machine);  // by number
// The share of the machine that one of the run's ranks had, by its threads.
[[nodiscard]] MachineProfile machine_of_rank(const MachineProfile& machine, const RunReport& run);

// "4.58 GB/s of memory, 10 Gop/s, 0.5 ns an exp, 1.25 GB/s and 20 us a message of network"
[[nodiscard]] std::string machine_text(const MachineProfile& machine);
// "1.23 ms"
[[nodiscard]] std::string duration_text(double seconds);

// One line for each outermost loop that ran, or for the whole program without one: predicted and measured time, of a
// turn, with the workers on the run's ranks.
[[nodiscard]] std::string times_against_text(const Module& module, const Sizes& sizes, const RunReport& run,
                                             const MachineProfile& machine);

}  // namespace kasen
