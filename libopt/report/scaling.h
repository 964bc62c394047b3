// Scaling on paper: the data that a plan holds and sends for several numbers of workers, by the way each would be cut.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/machine.h"

namespace kasen {

// One number of workers. For a sample, `bounds` holds the sizes between which the exact ones are expected.
struct ScalingPoint {
  Sizes sizes;
  std::optional<std::pair<Sizes, Sizes>> bounds;
  std::string method;  // by which the data are cut; empty: they are cut already
};

// A table for people with one line for each of `points`, by worker, each of another number of workers. It has owned
// elements, ghosts and nonzeros of a worker, then network bytes and predicted time (libopt/time/times.h). These are of
// an iteration of each outermost loop, and of the whole program where its iterations are known. An estimate reads
// "1,200 +- 40".
[[nodiscard]] std::string scaling_text(const Module& module, const std::vector<ScalingPoint>& points,
                                       const MachineProfile& machine);
// The same as a report of the kind "scaling".
[[nodiscard]] std::string scaling_json(const Module& module, const std::vector<ScalingPoint>& points,
                                       const MachineProfile& machine);
// Plots ghosts, and network bytes and predicted time of an iteration, over the number of workers: one below another,
// each with an axis of its own unit, and a line for each method. Axes are logarithmic.
[[nodiscard]] std::string scaling_svg(const Module& module, const std::vector<ScalingPoint>& points,
                                      const MachineProfile& machine);

}  // namespace kasen
