// What is read of a table before a program is made for it.
#pragma once

#include <string>
#include <vector>

#include "tools/fit/samples.h"

namespace kasen::tools {

inline constexpr std::size_t most_levels = 1000;  // of a column of words, and classes

// The kind of file that a table is. UserError(usage, bad_input).
[[nodiscard]] TableForm form_of_table(const std::string& path);
// The columns of an array file of two axes. UserError(bad_input).
[[nodiscard]] int columns_of_array(const std::string& path);
// Reads the words of these columns, ascending. UserError(bad_input): too many.
void read_levels(const std::string& path, const std::vector<ModelColumn*>& columns);
// The numbers that the target holds, ascending, as classes. UserError(bad_input): too many.
[[nodiscard]] std::vector<std::string> number_classes(const Samples& samples);
// The greatest index of a feature in the first lines of a LIBSVM file.
[[nodiscard]] std::int64_t first_features(const std::string& path);
// How a column is chosen: by its name where it has one that can be written.
[[nodiscard]] ColumnChoice reader_choice(const ModelColumn& column);

}  // namespace kasen::tools
