// Starting programs that do not outlive this one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kasen::tools {

struct ProcessStart {
  // Descriptors that become the program's standard streams; -1: those of this process.
  int input = -1, output = -1, messages = -1;
  // In a process group of its own: signals of a terminal or `timeout` to this process's group do not reach it.
  bool own_group = false;
  std::string remedy = {};  // the remedy where it cannot be started
};

// Starts argv[0] (looked up in PATH when it has no slash). However the calling thread ends, even killed with its
// process, the program is then asked to stop (SIGTERM). UserError(missing_input): it cannot be started.
[[nodiscard]] pid_t start_process(const std::vector<std::string>& argv, const ProcessStart& start);

}  // namespace kasen::tools
