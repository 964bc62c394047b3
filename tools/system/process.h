// Starts the tools beside this one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/system/ended.h"

namespace kasen::tools {

// The folder of the running tool's binary.
[[nodiscard]] std::string tool_folder();
// Runs argv[0] (looked up in PATH when it has no slash), with standard output to `output` (empty: inherited), and waits
// for its end. Throws UserError(missing_input) if it cannot be started. Several threads may each run one.
[[nodiscard]] Ended run_process(const std::vector<std::string>& argv, const std::string& output = {});
// The same; what it writes to standard output is added to `text`. `input`: what it reads from standard input, from
// memory: no file of that lies anywhere. Null: that of this process.
[[nodiscard]] Ended run_process_into(std::string& text, const std::vector<std::string>& argv,
                                     const std::string* input = nullptr);
// Starts it alike, and returns a function that waits for its end. Without a call, the last copy of the function waits.
[[nodiscard]] std::function<Ended()> run_process_meanwhile(const std::vector<std::string>& argv);
// The same as run_process without standard input; standard output and standard error go to files.
[[nodiscard]] Ended run_process_apart(const std::vector<std::string>& argv, const std::string& output,
                                      const std::string& messages);
// Sends a signal to all processes that run_process waits for. Signal handlers may call it, too.
void signal_processes(int number);

// While one lives, TERM and USR1 ask the running processes to save and to end by themselves, as kasen-run with
// checkpoints does. A second request (stop_request.h) acts as the first would without this object.
class StopHandedOn {
 public:
  StopHandedOn();
  ~StopHandedOn();
  StopHandedOn(const StopHandedOn&) = delete;
  StopHandedOn& operator=(const StopHandedOn&) = delete;
};
// A mark that a process and its forks see, and that one of them sets once.
class SharedMark {
 public:
  SharedMark();
  ~SharedMark();
  SharedMark(const SharedMark&) = delete;
  SharedMark& operator=(const SharedMark&) = delete;
  // True for the first call in all processes.
  [[nodiscard]] bool claim() const;
  void set() const { (void)claim(); }
  // Waits until it is set, but no longer; returns whether it is.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds most) const;

 private:
  std::atomic<std::uint32_t>* set_ = nullptr;  // in memory that forks share
};
// Runs both at a time, `other` in a fork of this process, which ends with the status that it returns. The first failure
// ends the processes that the other waits for, and it alone is reported when both are done: thrown by `one`, or
// returned where `other` failed. Before `other` reports a failure it asks is_first(): false, if `one` has failed
// before.
[[nodiscard]] Ended side_by_side(const std::function<void()>& one,
                                 const std::function<int(const std::function<bool()>& is_first)>& other);
// In a fork of this process: those that it waited for are none of the fork's.
void forget_processes();
// The path of a command in PATH; "" where there is none.
[[nodiscard]] std::string path_of_command(const std::string& name);
[[nodiscard]] inline bool command_exists(const std::string& name) { return !path_of_command(name).empty(); }

}  // namespace kasen::tools
