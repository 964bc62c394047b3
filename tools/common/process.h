// Starting the tools that stand beside this one.
#pragma once

#include <string>
#include <vector>

namespace kasen::tools {

// The folder of the running tool's binary.
[[nodiscard]] std::string tool_folder();
// Runs argv[0] (looked up in PATH when it has no slash), standard output to `output` (empty: inherited). Returns the
// exit status, 128 + signal when it was killed. Throws UserError(missing_input) if it cannot be started.
[[nodiscard]] int run_process(const std::vector<std::string>& argv, const std::string& output = {});
// Is there such a command in PATH?
[[nodiscard]] bool command_exists(const std::string& name);

}  // namespace kasen::tools
