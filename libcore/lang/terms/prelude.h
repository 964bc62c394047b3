// Functions that every program has, written in the language itself: a line or two in prelude.cpp each. A program may
// define a fn of the same name, which replaces it.
#pragma once

#include <string>
#include <vector>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

// Parsed once. Their marks name no line: errors of a call are reported at the call.
[[nodiscard]] const std::vector<Statement>& prelude();
[[nodiscard]] bool is_of_prelude(const Statement& fn);

}  // namespace kasen::lang
