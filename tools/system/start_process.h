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

// A tool that is part of this program, too, by its file's name.
struct OwnTool {
  std::string name;  // "kasen-fuse"
  int (*main)(int argc, char** argv) = nullptr;
};
// From here on, start_process has these as forks of this process, which have all libraries loaded already, instead of
// starting their files: where argv[0] is that file beside this program, it is no script that somebody put there, and
// this process has no other thread. They begin with this process's memory, but as a new process would otherwise.
void start_as_forks(std::vector<OwnTool> tools);

// Starts argv[0] (looked up in PATH when it has no slash). However the calling thread ends, even killed with its
// process, the program is then asked to stop (SIGTERM). UserError(missing_input): it cannot be started.
[[nodiscard]] pid_t start_process(const std::vector<std::string>& argv, const ProcessStart& start);

// Forks this process, which has no other thread. The new one gets `start`'s streams, ends with this one, and has lost
// all that belongs to this one's work: handlers, temporaries, children. Returns as fork does; -1: not made.
[[nodiscard]] pid_t fork_process(const ProcessStart& start);

}  // namespace kasen::tools
