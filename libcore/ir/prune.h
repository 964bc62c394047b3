// The part of a program that some of its outputs need.
#pragma once

#include <set>
#include <string>

#include "libcore/ir/module.h"

namespace kasen {

// Without the other outputs, and without the operators that only those need. Values that loops carry, branches give and
// regions hand on are dropped, too. Made for the interpreter: the operands of regions, laws and buffers stay.
[[nodiscard]] Module only_outputs(const Module& module, const std::set<std::string>& outputs);

}  // namespace kasen
