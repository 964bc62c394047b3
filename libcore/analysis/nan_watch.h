// Operators that RunOptions::refuse_nan adds to a plan. They report NaN values that a region makes but keeps to itself.
//
// A region gets *marks*. A mark is a shared that the region reduces in its own loop. It holds the number
// (in_program_order) of the first operator whose result is NaN at some element. So kernels run marks like other vector
// work, masked lanes and ghosts included, and kernel sets need no special case. Other results keep their bits.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "libcore/analysis/whole.h"

namespace kasen {

// The operators of a region's block, or the one operator that is not a region. They are in program order, as far as
// their line numbers show it; speculated operators come last.
[[nodiscard]] std::vector<const Op*> in_program_order(const KernelForm& form, const Op& op);

// The value of a mark if nothing is NaN; else the mark is an index into in_program_order.
inline constexpr std::int32_t no_nan_seen = std::numeric_limits<std::int32_t>::max();

// Adds marks to every region with vector work, after its own operators and results, and sets `marks_from`. `boxes`: it
// is the form of one (box_form.h).
void watch_regions(KernelForm& form, bool boxes);

}  // namespace kasen
