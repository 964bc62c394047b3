// Sizes from a sample of the indices (docs/cost.md, "Scaling on paper", derives the estimate and its error).
#pragma once

#include <string>

#include "libcore/data/cut_sample.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// The estimate, and what the exact sizes hardly leave: totals three standard errors to both sides; numbers of single
// workers as many as all of them keep together in 999 cases of 1000. Slaves and waiting rows are uncertain, all else is
// exact and the same in the three.
struct SampledSizes {
  Sizes estimate, low, high;
};

[[nodiscard]] SampledSizes sampled_sizes(const Module& module, const CutSample& sample, const std::string& origin);

}  // namespace kasen
