// The frame of every tool: options, --help, --version, --config, and one place that turns errors into messages and exit
// statuses. A tool's main declares options, reads, calls one library function, writes and reports.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/error.h"

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
  po::positional_options_description positional;  // options in `hidden`, whose value_name states what they take
  po::options_description hidden;
  // Options that name inputs (files, NAME=FILE, or folders: all files in them), and options that name outputs. An
  // output that would replace an input or another output is refused before the body runs.
  std::vector<std::string> reads, writes;
  // Headings of the help, each with the number of options before it. `words` has the words that an option takes
  // (tools/common/choice.h: takes), for help and completion; other words are refused before the body runs.
  std::vector<std::pair<size_t, std::string>> headings;
  std::map<std::string, std::vector<std::string>> words;

  // Options that are declared from here on stand under this heading.
  void under(std::string heading) { headings.emplace_back(options.options().size(), std::move(heading)); }
};

// Parses the command line and --config, runs `body`, prints errors to standard error. Returns the exit status.
[[nodiscard]] int run_tool(int argc, char** argv, Tool& tool,
                           const std::function<ExitStatus(const po::variables_map&)>& body);

// Prepares this process, a new one, for signals and for its end, and runs `body`. Reports the errors that it throws as
// those of the program `name`. Returns its status or theirs. run_tool does all this.
[[nodiscard]] int reporting_errors(const std::string& name, const std::function<int()>& body);

// The history line of an IR: the tool, its version and its arguments.
[[nodiscard]] std::string history_line(const ToolInfo& info);

// The texts of an option that may be given several times; none if it was not.
[[nodiscard]] std::vector<std::string> texts_of(const po::variables_map& values, const std::string& option);
// Its `NAME=VALUE` texts as a map; wrong_value where a name is missing, or given twice.
[[nodiscard]] std::map<std::string, std::string> name_values(const po::variables_map& values,
                                                             const std::string& option);

// Refuses a wrong value of an option (by its long name): ExitStatus::usage, or, where it stands in the --config file,
// configuration with its position there.
[[noreturn]] void wrong_value(const std::string& option, std::string what, std::string why = {},
                              std::string remedy = {});
// Refuses a word that the option does not take, and suggests the nearest that it takes.
[[noreturn]] void unknown_word(const std::string& option, const std::string& word,
                               const std::vector<std::string>& words);
// "did you mean 'degree'?" for the nearest of the names, or "" where none is near (libcore/base/suggest.h).
[[nodiscard]] std::string did_you_mean(const std::string& name, const std::vector<std::string>& names);
// Runs `read`, which reads the option's value; its errors of usage become those of wrong_value.
void with_value(const std::string& option, const std::function<void()>& read);

// --messages as the command line has it, or the environment; run_tool does this.
void choose_messages(int argc, char** argv);
// Prints an error of the program `name`, in the form of messages. `about` stands in front of a text where the error
// names no file.
void tell_error(const std::string& name, const UserError& error, const std::string& about = {});
// The whole message of an error in one text; the launcher prints that of a rank.
[[nodiscard]] std::string message_of(const std::string& name, const UserError& error);
// An error of which there is a text alone.
[[nodiscard]] UserError plain_error(std::string_view text, ExitStatus status);
[[nodiscard]] bool colour_wanted(int fd);  // a terminal, and NO_COLOR is not set

}  // namespace kasen::tools
