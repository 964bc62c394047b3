// How long a plan is expected to take, from what it moves and a machine profile: a lower bound by bytes and messages.
// What operators compute is not in it: a program of exp and log takes longer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/module.h"
#include "libopt/machine.h"
#include "libopt/run_report.h"
#include "libopt/sizes.h"

namespace kasen {

// Seconds.
struct PredictedTime {
  double memory = 0;    // bytes read and written (actual column), shared by the processes
  double network = 0;   // bytes sent, shared by the processes
  double messages = 0;  // exchanges one after another
  [[nodiscard]] double sum() const { return memory + network + messages; }
};

struct PlanTimes {
  std::vector<std::optional<PredictedTime>> turns;  // by loop of the cost report; nothing: sizes or turns unknown
  std::optional<PredictedTime> program;
};

// Each worker on a process of its own. `sizes` may be null: what does not depend on sizes has a time even so.
[[nodiscard]] PlanTimes predicted_times(const Module& module, const Sizes* sizes, const MachineProfile& machine);
[[nodiscard]] std::string times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine);

// "4.58 GB/s of memory, 1.25 GB/s and 20 us a message of network"
[[nodiscard]] std::string machine_text(const MachineProfile& machine);
// "1.23 ms"
[[nodiscard]] std::string duration_text(double seconds);

// One line for each outermost loop that ran: a turn's predicted and measured time, with the workers on the run's ranks.
[[nodiscard]] std::string times_against_text(const Module& module, const Sizes& sizes, const RunReport& run,
                                             const MachineProfile& machine);

}  // namespace kasen
