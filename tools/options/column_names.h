// Names of indices that inputs bring: tables by their first lines, results of runs by the dictionaries beside them.
#pragma once

#include <string>
#include <vector>

#include "tools/options/inputs.h"

namespace kasen::tools {

// Where `path` is an array of a result that names indices of its dimensions: the names, by the input's dimensions. In
// text they are those of its rows, in whatever order these are.
[[nodiscard]] DimNames names_of_result(const InputData& input, const std::string& path);

// Of dimensions that are columns of tables whose first lines name them, and of those of results. Inputs that name them
// in other ways leave them without names; `notes` says so. UserError(bad_input) where two inputs have one name at
// different places.
[[nodiscard]] DimNames names_of_columns(const ProgramData& data, std::vector<std::string>& notes);

}  // namespace kasen::tools
