// Whether an expression over stored entries is worth storing: whether its name is read again.
#pragma once

#include <cstddef>
#include <vector>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

// True if the name that statement `at` of a block assigns is read at two places behind it, or in a loop, or if a block
// behind it changes it. What is behind the name's next assignment does not count. `results` (null: none) stand behind
// all statements.
[[nodiscard]] bool is_read_again(const std::vector<Statement>& list, std::size_t at, const std::vector<Node>* results);

}  // namespace kasen::lang
