// Which file each input of a program is read from: those of the command, and those that the program names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "tools/options/inputs.h"

namespace kasen::tools {

[[nodiscard]] std::vector<std::string> names_of(const std::vector<WantedInput>& wanted);
// A suggestion for an unknown name: the nearest one, or all of them.
[[nodiscard]] std::string near_or_all(const std::string& name, const std::vector<std::string>& names);

// As it is found from here: the program means a file beside itself. None: "".
[[nodiscard]] std::string file_of_program(const Module& module, const std::string& input);
[[nodiscard]] bool names_input(const std::string& data);  // NAME=DATA, and not DATA alone
// The input that DATA alone is for: the only one, or the only one whose file the program does not name; or "".
[[nodiscard]] std::string only_input(const std::vector<WantedInput>& wanted);
// `texts`: NAME=DATA, or DATA alone. UserError(usage): an input without data, and others.
[[nodiscard]] std::map<std::string, std::string> files_by_input(const std::vector<std::string>& texts,
                                                                const std::vector<WantedInput>& wanted);

}  // namespace kasen::tools
