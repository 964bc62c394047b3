// The two tiers of memory. `store` makes a value on a disk of an array in memory, and `load` one in memory of that.
// Loops and branches hand on where a value is. A value on a disk takes no memory, and only `load` reads it.
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

[[nodiscard]] inline bool moves_tier(const Op& op) { return row(op.code).group == OpGroup::tier; }
// True if the plan stores arrays.
[[nodiscard]] bool uses_disk(const Module& module);
// True for results of `store`, and for what loops and branches make of them. By value; those of other blocks than the
// program's may be used there alone.
[[nodiscard]] IdMap<ValueId, bool> values_on_disk(const Module& module);

}  // namespace kasen
