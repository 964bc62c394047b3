// Reports the expected time of a plan on a machine for people; time_model.h is the model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/json/text.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"
#include "libopt/time/run_report.h"
#include "libopt/time/time_model.h"

namespace kasen {

struct PlanTimes {
  std::vector<std::optional<PredictedTime>>
      iterations;  // by loop of the cost report; nothing: sizes or iterations unknown
  std::optional<PredictedTime> program;
  double imbalance = 1;  // the slowest worker over the mean; the times include it
};

// Predicts times with each worker on a process of its own; the slowest one decides. `sizes` may be null: times that do
// not depend on sizes are still known.
[[nodiscard]] PlanTimes predicted_times(const Module& module, const Sizes* sizes, const MachineProfile& machine);
[[nodiscard]] std::string times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine);

// One operator of a run, over all of its executions, with the ends of its blocks. It has the model's time on the run's
// ranks, and the measured time on the slowest of them.
struct OperatorTime {
  PredictedTime predicted;
  double measured = 0;
};
[[nodiscard]] std::vector<OperatorTime> operator_times(const Module& module, const Sizes& sizes, const RunReport& run,
                                                       const MachineProfile& machine);  // by number
// Returns the model's time of an iteration of the first outermost loop that ran, on the run's ranks; of the whole
// program if there is none.
[[nodiscard]] PredictedTime iteration_time(const Module& module, const Sizes& sizes, const RunReport& run,
                                           const MachineProfile& machine);

// Returns "4.58 GB/s of memory, 10 Gop/s, 0.5 ns an exp, 1.25 GB/s and 20 us a message of network".
[[nodiscard]] std::string machine_text(const MachineProfile& machine);
// Returns "1.23 ms".
[[nodiscard]] std::string duration_text(double seconds);

// Predicted and measured, in seconds, with the workers on the run's ranks.
struct ComparedTime {
  std::string what;  // "an iteration of the while at line 9"
  double predicted = 0, measured = 0;
  bool of_operator = false;  // of all its executions
};
// An iteration of each outermost loop that ran, or the whole program without one; then the operators that took at least
// a twentieth of the time, the slowest first.
[[nodiscard]] std::vector<ComparedTime> times_against(const Module& module, const Sizes& sizes, const RunReport& run,
                                                      const MachineProfile& machine);
// A run in limited memory: while one block of rows is computed with, the next ones come from the disk, so an operator
// takes as long as its work or its disk, whatever is longer. The rows that stay are the first ones: while it works on
// them, no more than a window comes.
[[nodiscard]] ComparedTime time_with_disk(const Module& module, const Sizes& sizes, const RunReport& run,
                                          const MachineProfile& machine, const MemoryPlan& memory);
// One line for each.
[[nodiscard]] std::string compared_times_text(const std::vector<ComparedTime>& times);
[[nodiscard]] Json compared_times_json(const std::vector<ComparedTime>& times);

// Null for a time that is not known.
[[nodiscard]] Json time_json(const std::optional<PredictedTime>& time);
// What times_text has.
[[nodiscard]] Json times_json(const Module& module, const Sizes* sizes, const MachineProfile& machine);

}  // namespace kasen
