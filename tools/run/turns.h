// The course of a run's outermost loops, for --stats: the watched value and the end time of each iteration.
#pragma once

#include <vector>

#include "libcore/run/executor.h"
#include "libopt/time/run_report.h"

namespace kasen::tools {

// Keeps at most so many iterations of a loop: every one, else every second, fourth, ..., and always the last.
inline constexpr size_t most_iterations_kept = 1000;

class IterationRecord {
 public:
  void add(const Iteration& iteration);
  // Each loop with its operator and its watched value; `counts` state which loops ran.
  [[nodiscard]] std::vector<LoopIterations> loops(const Module& module, const std::vector<OpCount>& counts,
                                                  const std::map<std::string, std::vector<Word>>& params) const;

 private:
  struct Loop {
    std::int64_t every = 1;
    std::vector<IterationSample> kept;
    IterationSample last;
  };
  std::vector<Loop> loops_;  // one after another: outermost loops do not overlap
};

}  // namespace kasen::tools
