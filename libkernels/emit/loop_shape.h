// What a fused loop runs over, and how its operands and results lie along it.
#pragma once

#include <set>
#include <vector>

#include "libkernels/emit/kernel.h"

namespace kasen {

// The dimensions of an array but the one along which it is cut.
[[nodiscard]] std::vector<DimId> uncut_dims(const Module& module, const Type& type);
// What its operators read, and its outputs.
[[nodiscard]] std::set<ValueId> used_values(const LoopBody& body);
// The dimensions of the loop: those of the array with most of them.
[[nodiscard]] Type loop_type(const Module& module, const LoopBody& body);
[[nodiscard]] Reach reach_of(const Module& module, const Type& loop, const Type& type);
// Is each coordinate of this value looked at once: by a reduction that only adds it, or when it is stored?
[[nodiscard]] bool looked_at_once(const Module& module, const LoopBody& body, ValueId id);
// Elements of one turn of the loop: reduction_lanes, or twice as many where their computing is a long chain (a function
// whose code stands in the loop), so that one half goes on while the other waits. Not where a lane has a meaning of its
// own: in reductions, slices of rows and broadcasts, nor for arrays of coordinates, whose code is long enough.
[[nodiscard]] int loop_lanes(const Module& module, const LoopBody& body, const Target& target);
// Throws UserError(bad_input) for what cannot be generated.
void check_loop(const Module& module, const LoopBody& body, const Type& loop);

}  // namespace kasen
