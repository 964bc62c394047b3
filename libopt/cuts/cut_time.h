// What one cut of the data costs a plan: bytes, balance and time.
#pragma once

#include <cstdint>
#include <optional>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"
#include "libopt/time/time_model.h"

namespace kasen {

// How often a loop is taken to go round where nothing says it: a bundle serves many runs.
inline constexpr double assumed_turns = 1000;

struct CutTime {
  // Network bytes of an iteration of the first outermost loop, or of the program without one; and those of the worker
  // that sends or receives most, where the sizes have pairs.
  std::optional<std::int64_t> bytes, most;
  std::optional<PredictedTime> iteration;  // its time on the slowest worker, the network's on the busiest
  std::optional<double> seconds;           // of the program; loops without `expect` have assumed_turns
  bool assumes_turns = false;
  double imbalance = 1;                   // the load of the slowest worker over the mean, of what weighs more of
  double of_indices = 1, of_entries = 1;  // these
  std::int64_t slaves = 0;                // the paper's unions over all dimensions
};

[[nodiscard]] CutTime cut_time(const Module& plan, const Sizes& sizes, const MachineProfile& machine);

// The sizes of a cut which nobody can make: no ghosts, and all workers alike.
[[nodiscard]] Sizes without_exchange(Sizes sizes);

}  // namespace kasen
