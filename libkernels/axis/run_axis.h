// Operators along one axis, their lines divided among threads. A line is one thread's, so threads never change its
// bits.
#pragma once

#include "libcore/axis/axis.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

void run_scan(Workshop& shop, const ScanKernels& kernels, const AxisCall& call);

// KernelSet::carry, with the compiled loops of its scan. All elements are made from others.
void run_carry(Workshop& shop, const ScanKernels& kernels, const ElementType& element, const CarryCall& call);

// reduce_by, with the compiled loop of its reducer (grouping.h). Throws UserError (bad_input) for a key outside.
void run_grouping(Workshop& shop, CombineFunction function, const AxisCall& call);

// sort, argsort, take. Throws UserError (bad_input) for the first place outside of its array.
void run_axis_pieces(Workshop& shop, const AxisCall& call);

}  // namespace kasen
