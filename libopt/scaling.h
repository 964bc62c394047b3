// Scaling on paper: what a plan holds and sends for several numbers of workers, from how each would be cut.
#pragma once

#include <string>
#include <vector>

#include "libcore/module.h"
#include "libopt/machine.h"
#include "libopt/sizes.h"

namespace kasen {

// A table for people: masters, slaves and stored entries of a worker, then network bytes and predicted time
// (libopt/times.h) of a turn of each outermost loop, or of the whole program without one. One line for each of
// `points`, which are exact, by worker, each of another number of workers.
[[nodiscard]] std::string scaling_text(const Module& module, const std::vector<Sizes>& points,
                                       const MachineProfile& machine);
// Slaves, and network bytes and predicted time of a turn, over the number of workers, both axes logarithmic.
[[nodiscard]] std::string scaling_svg(const Module& module, const std::vector<Sizes>& points,
                                      const MachineProfile& machine);

}  // namespace kasen
