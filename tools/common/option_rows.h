// The options and arguments of a tool, as one table: help, man pages and shell completion are all made of it.
#pragma once

#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace kasen::tools {

struct OptionRow {
  std::string heading;
  std::string name;      // "output", without dashes; of an argument: what its value_name says
  std::string letter;    // "o", or ""
  std::string argument;  // "FILE"; "" for a switch
  std::string standard;  // what it is where nobody gives it; "" where that is nothing
  bool repeated = false;
  std::string text;
  std::vector<std::string> words;  // that it takes; none: any
};

// In the order of the help: headings as they first come, options under one as they are declared.
[[nodiscard]] std::vector<OptionRow> option_rows(const Tool& tool);
[[nodiscard]] std::vector<OptionRow> argument_rows(const Tool& tool);

// All of it as JSON, for what is made of it when Kasen is built (`kasen TOOL --describe`).
[[nodiscard]] std::string description_json(const Tool& tool);
[[nodiscard]] std::string json_text(std::string_view text);

// "kasen run" of kasen-run.
[[nodiscard]] std::string command_of(const ToolInfo& info);

}  // namespace kasen::tools
