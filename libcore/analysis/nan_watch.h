// What RunOptions::refuse_nan adds to a plan, so that a region tells of NaN that it makes and does not hand on.
//
// A region gets *marks*: shareds to which it reduces, in its own loop, the place (in_program_order) of the first of its
// operators whose result is NaN at some element. So kernels run them like any vector work of the program, masked lanes
// and slaves as they do there, and no kernel set knows of them. The region's other results keep their bits.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "libcore/analysis/whole.h"

namespace kasen {

// The plan's operators of a region's block (or an operator that is none, alone) in the order of the program, as far as
// their lines tell; what is computed ahead comes last.
[[nodiscard]] std::vector<const Op*> in_program_order(const KernelForm& form, const Op& op);

// What a mark holds where nothing is NaN; else a place among them.
inline constexpr std::int32_t no_nan_seen = std::numeric_limits<std::int32_t>::max();

// Adds marks to every region with vector work, behind its own operators and results, and sets `marks_from`.
void watch_regions(KernelForm& form);

}  // namespace kasen
