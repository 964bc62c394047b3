// Loops that end early. A loop with `break` is one without: a flag says whether a break was reached. It is tested
// beside the loop's condition, and before the statements behind a block that may have a break.
#pragma once

#include <string>
#include <vector>

#include "libcore/syntax/ast.h"

namespace kasen::lang {

// True if a break ends this loop. Those of loops inside do not count.
[[nodiscard]] bool has_break(const Statement& loop);

// The while loop without breaks that does what this one does. The flag, a bool, is false before it.
[[nodiscard]] Statement without_breaks(Statement loop, const std::string& flag);

// A for loop as a while loop, with its breaks. `at` is the begin of the range before it, and `end` the end of it.
[[nodiscard]] Statement as_while(Statement loop, const std::string& begin, const std::string& at,
                                 const std::string& end);

}  // namespace kasen::lang
