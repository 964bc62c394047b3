// Which of several cuts of the same data suits a plan: by what the plan is predicted to take on each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen {

struct CutCandidate {
  std::string name;  // of the method
  Sizes sizes;       // of the plan on that cut
};
struct CutChoice {
  std::size_t best = 0;  // place among the candidates
  std::string why;       // one line: what each was predicted to take
};

// Of the candidates, the first whose predicted time is within 2 % of the shortest: they stand in the order in which
// they are easier to make. A time is that of the slowest worker, each on a process of its own (libopt/time/times.h). Of
// the whole program or, where its turns are not known, of one turn of each outermost loop; of a plan whose time is not
// known at all, the slaves count. `why` gives network bytes as the plan's are counted: of a turn of the first loop, or
// of the program without one.
[[nodiscard]] CutChoice choose_cut(const Module& plan, const std::vector<CutCandidate>& candidates,
                                   const MachineProfile& machine);

}  // namespace kasen
