// The plain interpreter with a bound on its work, and with other rounding.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "libcore/reference/interpreter.h"

namespace kasen {

struct InterpretOptions {
  // Scalar operators that are evaluated and elements that are copied; more than that: WorkExceeded. A limit of memory,
  // too: each makes one word at most.
  std::int64_t most_work = std::numeric_limits<std::int64_t>::max();
  // In which reductions and products take what they combine. 0: from the first to the last; odd ones from the last to
  // the first, and from 2 on they begin elsewhere.
  int order = 0;
};
struct WorkExceeded : std::runtime_error {
  WorkExceeded() : std::runtime_error("the interpreter was given less work than the program takes") {}
};

// As without options, which are then the default ones.
[[nodiscard]] std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs,
                                                     const InterpretOptions& options);

}  // namespace kasen
