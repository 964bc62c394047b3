// The part of a program that some of its outputs need.
#pragma once

#include <set>
#include <string>

#include "libcore/ir/module.h"

namespace kasen {

// Without the other outputs, and without what nothing needs then: operators, and values that loops carry, branches give
// and regions hand on. For the interpreter: the operands of regions are not told anew, and laws and buffers stay.
[[nodiscard]] Module only_outputs(const Module& module, const std::set<std::string>& outputs);

}  // namespace kasen
