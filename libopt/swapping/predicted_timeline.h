// A plan that stores and loads arrays, over time, as it was planned: operators, transfers of the disk, and the bytes of
// its buffers in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "libcore/data/run_timeline.h"
#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen::swapping {

struct PredictedLoop {
  int number = -1;     // of an outermost loop
  double seconds = 0;  // of an iteration, to the end of its last transfer
  double iterations = 1;
};

struct PredictedTimeline {
  RunTimeline timeline;
  std::vector<PredictedLoop> loops;
};

// `iterations`: of a loop by its number. Loops inside of others, and transfers there, are part of their operators. Of
// loops with many iterations the first have spans of their own, and the rest is one span of each stream (`most`: spans
// in all, about). UserError (usage) if sizes are not known for each worker.
[[nodiscard]] PredictedTimeline predicted_timeline(const Module& plan, const std::function<Sizes(const Module&)>& sizes,
                                                   const MachineProfile& machine,
                                                   const std::function<double(int)>& iterations,
                                                   std::size_t most = 4000);

}  // namespace kasen::swapping
