// Sizes from a sample of the indices. Section "Scaling on paper" of docs/cost.md derives the estimate and its error.
#pragma once

#include <string>

#include "libcore/data/cut_sample.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// The estimate, with bounds that the exact sizes hardly ever leave. Totals have three standard errors to both sides.
// The bounds of single workers hold for all workers together in 999 of 1000 cases. Ghosts and waiting rows are
// uncertain; all other sizes are exact and the same in the three.
struct SampledSizes {
  Sizes estimate, low, high;
};

// With `pairs`, the estimate has Sizes::pairs, too.
[[nodiscard]] SampledSizes sampled_sizes(const Module& module, const CutSample& sample, const std::string& origin,
                                         bool pairs = false);

}  // namespace kasen
