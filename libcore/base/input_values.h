// Values of the command line for what has its numbers from a file.
#pragma once

#include <string>

namespace kasen {

// UserError(usage) for -D NAME=VALUE, which names an input or a param that is an array: says how its file is given.
[[noreturn]] void refuse_value_of_input(const std::string& name, const std::string& value);

}  // namespace kasen
