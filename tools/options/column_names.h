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

// UserError(bad_input) that names a column where tables with names have more or fewer columns for one dimension than
// others, or than a result that is read again. `files` is by input.
void require_same_columns(const ProgramData& data, const std::map<std::string, std::string>& files);

// Of a table whose columns are taken as row, column and value, as a sparse input over two dimensions is read; empty
// where its first line names these, or names nothing.
[[nodiscard]] std::string note_of_entries(const WantedInput& wanted, const std::string& path,
                                          const po::variables_map& values);

}  // namespace kasen::tools
