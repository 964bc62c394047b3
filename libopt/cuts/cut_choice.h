// Chooses the cut of the data that suits a plan, of several, by the plan's predicted time on each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/cuts/cut_time.h"
#include "libopt/time/machine.h"

namespace kasen {

struct CutCandidate {
  std::string name;  // the name of the method
  Sizes sizes;       // the sizes of the plan on that cut
};
struct CutChoice {
  std::size_t best = 0;        // index of the candidate
  std::vector<CutTime> times;  // of the candidates
  double most_saved = 0;       // seconds of the program that a perfect cut would save; 0 where times are not known
  std::string brief;           // one line: the prediction for each, the best one first
  std::string why;             // the same, and what the numbers are of
};

// Takes the first candidate whose predicted time is within 2 % of the shortest: candidates are ordered by ease of
// making them. A time is that of the program (cut_time.h). If the time is not known at all, the ghosts count.
[[nodiscard]] CutChoice choose_cut(const Module& plan, const std::vector<CutCandidate>& candidates,
                                   const MachineProfile& machine);

}  // namespace kasen
