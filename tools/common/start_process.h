// Starting programs that do not outlive this one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kasen::tools {

// Descriptors that become a program's standard streams; -1: those of this process.
struct Streams {
  int input = -1, output = -1, messages = -1;
};

// Starts argv[0] (looked up in PATH when it has no slash). However the thread that calls ends, killed with its process
// say, the program is told to stop (SIGTERM). UserError(missing_input): it cannot be started; `remedy` says what to do.
[[nodiscard]] pid_t start_process(const std::vector<std::string>& argv, const Streams& streams,
                                  const std::string& remedy = {});

}  // namespace kasen::tools
