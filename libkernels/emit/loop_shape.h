// The dimensions of a fused loop, and the layout of its operands and results along it.
#pragma once

#include <vector>

#include "libkernels/emit/kernel.h"
#include "libkernels/jit/target.h"

namespace kasen {

// The dimensions of the loop: those of the array with most of them.
[[nodiscard]] Type loop_type(const Module& module, const LoopBody& body);
[[nodiscard]] Reach reach_of(const Module& module, const Type& loop, const Type& type);
// Whether each coordinate of this value is read once: by a reduction that only adds it, or when it is stored.
[[nodiscard]] bool looked_at_once(const Module& module, const LoopBody& body, ValueId id);
// Elements of one iteration of the loop: reduction_lanes, or twice as many if their computation is a long chain (a
// function whose code is in the loop). One half then proceeds while the other waits. Not where a lane has a meaning of
// its own (in reductions and slices of rows), nor for arrays of coordinates, whose code is long enough.
[[nodiscard]] int loop_lanes(const Module& module, const LoopBody& body, const Target& target);
// Throws UserError(bad_input) for a loop that cannot be generated.
void check_loop(const Module& module, const LoopBody& body, const Type& loop);

}  // namespace kasen
