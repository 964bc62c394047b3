// Which speculated operators were moved before a likely `if` (the others are a loop's next turn's).
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// By value: the `if` for whose first branch a speculated operator in front of it makes the value, or null.
[[nodiscard]] std::vector<const Op*> made_ahead(const Module& module);

}  // namespace kasen
