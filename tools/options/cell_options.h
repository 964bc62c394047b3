// Options about the cells of tables in text: what a missing value becomes, and how numbers are written.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcomm/data/read/readers.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// Declares --missing, --missing-as, --decimal, --thousands and --dates.
void declare_cell_options(po::options_description& options);
// --decimal and --thousands. wrong_value for other characters than there are.
[[nodiscard]] NumberStyle number_style(const po::variables_map& values);
// What they say about the input of this name. wrong_value for texts that mean nothing.
void read_cell_options(const po::variables_map& values, const std::string& input, ReadOptions& options);
// "born,seen:seconds". wrong_value for an unknown unit.
[[nodiscard]] std::vector<DateChoice> parse_dates(const std::string& text);
// Whether rows of some input are left out where a value is missing.
[[nodiscard]] bool drops_rows(const po::variables_map& values);
// Takes the rows that one input leaves out from all inputs over its dimension, and returns notes of that, one for each
// dimension. UserError(bad_input) where others than tables of as many rows share it.
[[nodiscard]] std::vector<std::string> drop_rows(std::vector<InputData>& inputs);
// Whether a note is one of these.
[[nodiscard]] bool is_note_of_dropped_rows(std::string_view note);
// rest_rows.cpp: --rest drop. wrong_value for other words.
[[nodiscard]] bool drops_rest(const po::variables_map& values);
// Takes the rows behind the last whole block from inputs whose rows are those of two dimensions, a local one and one
// that is cut, and returns notes of that. UserError(bad_input) where nothing is left.
[[nodiscard]] std::vector<std::string> drop_rest(std::vector<InputData>& inputs, const std::vector<DimData>& dims);

}  // namespace kasen::tools
