// Params as texts of the command line, for tools that run a program now or later.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen::tools {

// A param's option as it was typed: "-D NAME", else "--param NAME".
[[nodiscard]] std::string typed_param(const std::string& name);

// The element type of the result of a `param` operator.
[[nodiscard]] const ElementType& param_element(const Module& module, const Op& param);

// The value of a param, written as in programs; an id is the user's. UserError(usage) for a name that the program does
// not have, or for a text that is no such value.
[[nodiscard]] std::vector<Word> read_param(const Module& module, const std::string& name, const std::string& text);

// Whether the text is a word in place of an id, `-D source=home`: the data know which one it is.
[[nodiscard]] bool is_word_of_id(const Module& module, const std::string& name, const std::string& text);
// What read_param refuses, as far as it shows without data.
void check_param(const Module& module, const std::string& name, const std::string& text);

}  // namespace kasen::tools
