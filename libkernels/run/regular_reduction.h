// Partial reductions whose elements lie at equal distances: over the last dimensions of an array, over those before
// kept ones, or along the cut dimension. Eight results run side by side in generated code (emit_reduction), each in the
// order of kernel_set.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libkernels/run/partial_reduction.h"

namespace kasen {

// `sizes` are those of an index's dimensions; `strides` are 0 for those that are reduced. Nothing if the elements of a
// result lie at unequal distances, or hold small arrays.
[[nodiscard]] std::optional<RegularSteps> regular_steps(const PartialReduction& reduction,
                                                        const std::vector<std::int64_t>& sizes,
                                                        const std::vector<std::int64_t>& strides);
// Whether a total is the same from the partial results of blocks that began with the identity.
[[nodiscard]] bool combines_in_blocks(const ScalarFunction& reducer);

void run_regular_reduction(Workshop& shop, const PlanKernels& plan, const PartialReduction& reduction, const View& from,
                           const View& to, Range range);

}  // namespace kasen
