// Starting programs that do not outlive this one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kasen::tools {

struct ProcessStart {
  // Descriptors that become the program's standard streams; -1: those of this process.
  int input = -1, output = -1, messages = -1;
  // In a process group of its own: what a terminal or `timeout` sends to this process's group does not reach it.
  bool own_group = false;
  std::string remedy = {};  // what to do where it cannot be started
};

// Starts argv[0] (looked up in PATH when it has no slash). However the thread that calls ends, killed with its process
// say, the program is told to stop (SIGTERM). UserError(missing_input): it cannot be started.
[[nodiscard]] pid_t start_process(const std::vector<std::string>& argv, const ProcessStart& start);

}  // namespace kasen::tools
