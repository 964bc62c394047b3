// Chooses the cut of the data that suits a plan, of several, by the plan's predicted time on each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen {

struct CutCandidate {
  std::string name;  // the name of the method
  Sizes sizes;       // the sizes of the plan on that cut
};
struct CutChoice {
  std::size_t best = 0;  // index of the candidate
  std::string why;       // one line: the prediction for each
};

// Takes the first candidate whose predicted time is within 2 % of the shortest: candidates are ordered by ease of
// making them. A time is that of the slowest worker, each on a process of its own (libopt/time/times.h). It is the time
// of the whole program or, if its iterations are not known, of one iteration of each outermost loop. If the time is not
// known at all, the ghosts count. `why` gives network bytes as the plan's are counted: of an iteration of the first
// loop, or of the program without one.
[[nodiscard]] CutChoice choose_cut(const Module& plan, const std::vector<CutCandidate>& candidates,
                                   const MachineProfile& machine);

}  // namespace kasen
