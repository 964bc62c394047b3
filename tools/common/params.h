// Params as texts of the command line, for what runs a program and for what runs it later.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen::tools {

// The element type of what a `param` operator gives.
[[nodiscard]] const ElementType& param_element(const Module& module, const Op& param);

// The value of a param, written as in programs; an id is the user's. UserError(usage) for a name that the program does
// not have, or text that is no such value.
[[nodiscard]] std::vector<Word> read_param(const Module& module, const std::string& name, const std::string& text);

}  // namespace kasen::tools
