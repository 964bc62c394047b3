// The plain interpreter with a bound on its work, and with other rounding.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "libcore/reference/interpreter.h"

namespace kasen {

struct InterpretOptions {
  // The most scalar operators that are evaluated and elements that are copied; beyond it WorkExceeded is thrown. It
  // limits memory, too: each makes one word at most.
  std::int64_t most_work = std::numeric_limits<std::int64_t>::max();
  // The order in which reductions and products combine elements. 0: from the first to the last. Odd orders go from the
  // last to the first, and orders from 2 on begin at another element.
  int order = 0;
};
struct WorkExceeded : std::runtime_error {
  WorkExceeded() : std::runtime_error("the interpreter was given less work than the program takes") {}
};

// Like interpret without options, which uses the default ones.
[[nodiscard]] std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs,
                                                     const InterpretOptions& options);

}  // namespace kasen
