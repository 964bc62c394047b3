// The options and arguments of a tool as one table, from which help, man pages and shell completion are made.
#pragma once

#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace kasen::tools {

struct OptionRow {
  std::string heading;
  std::string name;      // "output", without dashes; for an argument, its value_name
  std::string letter;    // "o", or ""
  std::string argument;  // "FILE"; "" for a switch
  std::string standard;  // the default; "" where there is none
  bool repeated = false;
  std::string text;
  std::vector<std::string> words;  // the words that it takes; empty: any
};

// In the order of the help: headings as they are first used, options under each as they are declared.
[[nodiscard]] std::vector<OptionRow> option_rows(const Tool& tool);
[[nodiscard]] std::vector<OptionRow> argument_rows(const Tool& tool);

// The table as JSON, from which files are made when Kasen is built (`kasen TOOL --describe`).
[[nodiscard]] std::string description_json(const Tool& tool);

// "kasen run" of kasen-run.
[[nodiscard]] std::string command_of(const ToolInfo& info);

}  // namespace kasen::tools
