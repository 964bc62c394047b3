// The frame of every tool: options, --help, --version, --config, one place where faults become messages and exit
// statuses. A tool's main is: options, read, call one library function, write, report.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libcore/error.h"

namespace kasen::tools {

namespace po = boost::program_options;

struct ToolInfo {
  std::string name;     // "kasen-plan"
  std::string summary;  // one sentence
  std::string usage;    // "PROGRAM.ks [-D NAME=VALUE]... [-o PLAN.kir]"
  std::string example;  // a command line that works as it stands
};

struct Tool {
  ToolInfo info;
  po::options_description options{"Options"};
  po::positional_options_description positional;  // of options in `hidden`
  po::options_description hidden;
};

// Parses the command line and --config, runs `body`, prints faults to standard error. Returns the exit status.
[[nodiscard]] int run_tool(int argc, char** argv, Tool& tool,
                           const std::function<ExitStatus(const po::variables_map&)>& body);

// What stands in the history line of an IR: the tool, its version and its arguments.
[[nodiscard]] std::string history_line(const ToolInfo& info);

// `NAME=VALUE` texts as a map; ExitStatus::usage where there is no name, or a name twice.
[[nodiscard]] std::map<std::string, std::string> name_values(const std::vector<std::string>& texts,
                                                             const std::string& option);

[[nodiscard]] bool colour_wanted(int fd);  // a terminal, and NO_COLOR is not set

}  // namespace kasen::tools
