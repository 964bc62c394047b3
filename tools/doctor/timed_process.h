// A process with a time limit.
#pragma once

#include <string>
#include <vector>

namespace kasen::tools {

struct TimedResult {
  int status = 0;      // its exit status; 128 + signal where it was killed; -1: it could not be started
  int signal = 0;      // the signal that killed it, or 0
  bool late = false;   // the time was over: it was ended with all that it had started
  std::string output;  // of both output streams
};

[[nodiscard]] TimedResult run_for(const std::vector<std::string>& argv, double seconds);

}  // namespace kasen::tools
