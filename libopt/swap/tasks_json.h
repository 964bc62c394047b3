// Task graphs as JSON, which other systems can write (docs/swap.md has the keys): tensors with bytes, operators with
// seconds. The text may come from anywhere: all of it is checked.
#pragma once

#include <string>

#include "libopt/swap/tasks.h"

namespace kasen::swap {

inline constexpr int tasks_version = 1;

// Throws UserError(bad_input), with the file and where the fault is in it.
[[nodiscard]] TaskGraph read_tasks(const std::string& text, const std::string& file);

}  // namespace kasen::swap
