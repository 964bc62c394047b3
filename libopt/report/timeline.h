/// \file
/// A plan over time: each line of its schedule with its begin and length as the time model predicts them, the memory
/// that a worker then holds, and what a run measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"
#include "libopt/time/run_report.h"

namespace kasen {

/// One execution of a line: of a loop's body in its first iteration, of an `if` the first branch.
struct TimelineLine {
  int depth = 0;                   ///< number of loops and branches around it
  int line = -1;                   ///< its number (for_each_line); -1: a round of the region above it
  std::string text;                ///< "run %y ready"
  Location where;                  ///< of its operator in the program
  double begin = 0, seconds = 0;   ///< since the plan began. A start ends at once; a wait takes what nothing hides
  double iterations = 0;           ///< of a loop
  std::int64_t held_bytes = 0;     ///< on the worker that holds the most, behind the line
  std::optional<double> measured;  ///< seconds of one execution on the slowest rank
};

struct Timeline {
  std::vector<TimelineLine> lines;
  double seconds = 0;           ///< of the whole plan
  std::int64_t held_bytes = 0;  ///< the most at any time
};

/// `sizes` must be by worker. Without a run each worker is a process; with one the processes are its ranks, with its
/// iterations. Throws UserError(usage) if iterations are not known.
[[nodiscard]] Timeline timeline(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                                const RunReport* run);
[[nodiscard]] std::string timeline_text(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                                        const RunReport* run);
[[nodiscard]] std::string timeline_json(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                                        const RunReport* run);

}  // namespace kasen
