// Functions that every program has, written in the language itself: a line or two in prelude.cpp each. A program
// may have a fn of the same name; that one counts.
#pragma once

#include <string>
#include <vector>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

// Parsed once. Their marks are those of no line: what is wrong with a call is said where it stands.
[[nodiscard]] const std::vector<Statement>& prelude();
[[nodiscard]] bool is_of_prelude(const Statement& fn);

}  // namespace kasen::lang
