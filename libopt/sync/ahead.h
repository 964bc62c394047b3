// Finds speculated operators that moved before a likely `if` (the others belong to a loop's next iteration).
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// By value: the `if` for whose first branch a speculated operator in front of it makes the value, or null.
[[nodiscard]] IdMap<ValueId, const Op*> made_ahead(const Module& module);

}  // namespace kasen
