// What a fused loop runs over, and how its operands and results lie along it.
#pragma once

#include <vector>

#include "libkernels/kernel.h"

namespace kasen {

// The dimensions of an array but the one along which it is cut.
[[nodiscard]] std::vector<DimId> uncut_dims(const Module& module, const Type& type);
// The dimensions of the loop: those of the array with most of them.
[[nodiscard]] Type loop_type(const Module& module, const LoopBody& body);
[[nodiscard]] Reach reach_of(const Module& module, const Type& loop, const Type& type);
// Is each coordinate of this value looked at once: by a reduction that only adds it, or when it is stored?
[[nodiscard]] bool looked_at_once(const Module& module, const LoopBody& body, ValueId id);
// Throws UserError(bad_input) for what cannot be generated.
void check_loop(const Module& module, const LoopBody& body, const Type& loop);

}  // namespace kasen
