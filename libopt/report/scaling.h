// Scaling on paper: what a plan holds and sends for several numbers of workers, from how each would be cut.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen {

// One number of workers. From a sample, `bounds` holds the sizes between which the exact ones are expected.
struct ScalingPoint {
  Sizes sizes;
  std::optional<std::pair<Sizes, Sizes>> bounds;
};

// A table for people: masters, slaves and stored entries of a worker, then network bytes and predicted time
// (libopt/time/times.h) of a turn of each outermost loop, and of the whole program where its turns are known. One line
// for each of `points`, by worker, each of another number of workers; what is estimated as "1,200 +- 40".
[[nodiscard]] std::string scaling_text(const Module& module, const std::vector<ScalingPoint>& points,
                                       const MachineProfile& machine);
// Slaves, and network bytes and predicted time of a turn, over the number of workers, both axes logarithmic.
[[nodiscard]] std::string scaling_svg(const Module& module, const std::vector<ScalingPoint>& points,
                                      const MachineProfile& machine);

}  // namespace kasen
