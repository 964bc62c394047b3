// Starting the tools that stand beside this one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/system/ended.h"

namespace kasen::tools {

// The folder of the running tool's binary.
[[nodiscard]] std::string tool_folder();
// Runs argv[0] (looked up in PATH when it has no slash), standard output to `output` (empty: inherited), and waits for
// its end. Throws UserError(missing_input) if it cannot be started. Several threads may each run one.
[[nodiscard]] Ended run_process(const std::vector<std::string>& argv, const std::string& output = {});
// The same; what it writes to standard output is added to `text`.
[[nodiscard]] Ended run_process_into(std::string& text, const std::vector<std::string>& argv);
// The same without standard input; standard output and standard error go to files.
[[nodiscard]] Ended run_process_apart(const std::vector<std::string>& argv, const std::string& output,
                                      const std::string& messages);
// Sends a signal to all that run_process waits for. Also from signal handlers.
void signal_processes(int number);

// While one lives, TERM and USR1 ask the processes that run to save and to end by themselves (as kasen-run with
// checkpoints does); a second request (stop_request.h) does what the first would have done before.
class StopHandedOn {
 public:
  StopHandedOn();
  ~StopHandedOn();
  StopHandedOn(const StopHandedOn&) = delete;
  StopHandedOn& operator=(const StopHandedOn&) = delete;
};
// Does both at a time. What fails first ends the processes that the other waits for, and is thrown when both are done.
void side_by_side(const std::function<void()>& one, const std::function<void()>& other);
// Where a command is in PATH; "" where it is not.
[[nodiscard]] std::string path_of_command(const std::string& name);
[[nodiscard]] inline bool command_exists(const std::string& name) { return !path_of_command(name).empty(); }

}  // namespace kasen::tools
