// The end of a program that a tool has started.
#pragma once

#include <cstdint>
#include <string>

#include "libcore/base/error.h"

namespace kasen::tools {

struct Ended {
  int status = 0;               // its exit status; 128 + signal where a signal ended it
  int signal = 0;               // that signal, or 0
  double seconds = 0;           // from its start to its end
  std::int64_t peak_bytes = 0;  // the most memory that it, or one that it waited for, held
};

// The report on a program that a signal ended, since it could report nothing itself: the signal, its likely sender, and
// the remedy. `limit`: killed, as for memory or time; `interrupted`: asked to end; `io`: a mapped file was cut short;
// `internal`: all others.
[[nodiscard]] UserError ended_by_signal(const std::string& program, const Ended& ended);

}  // namespace kasen::tools
