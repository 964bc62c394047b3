// What is read of a table before a program is made for it.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/text/table_head.h"
#include "tools/fit/samples.h"

namespace kasen::tools {

inline constexpr std::size_t most_levels = 1000;  // of a column of words, and classes

// The kind of file that a table is. UserError(usage, bad_input).
[[nodiscard]] TableForm form_of_table(const std::string& path);
// The columns of an array file of two axes. UserError(bad_input).
[[nodiscard]] int columns_of_array(const std::string& path);
// What a choice of columns chooses from.
[[nodiscard]] FileColumns file_columns(const TableHead& head);
// Whether the target is another file, and that one text.
[[nodiscard]] bool has_target_in_text(const Samples& samples);
// Finds the rows that the rules leave out; `words` are the numbers of the columns of words. UserError(bad_input): a
// target that is missing and not left out, a cell that --missing-as marks where no rule says what becomes of it.
void settle_missing(Samples& samples, const std::set<int>& words);
// The means of the features that are numbers, over the rows that have a value. UserError(bad_input): none has.
void take_means(Samples& samples, const std::set<int>& words);
// Takes the words out of a model that only rows which are left out have: nothing is known of them.
void leave_out_unused(Model& model, const Samples& samples);
// Reads the words of these columns, ascending; of the target in rows that are not left out. UserError(bad_input): too
// many.
void read_levels(Samples& samples, const std::vector<ModelColumn*>& columns);
// The numbers that the target holds, ascending, as classes. UserError(bad_input): too many.
[[nodiscard]] std::vector<std::string> number_classes(const Samples& samples);
// The greatest index of a feature in the first lines of a LIBSVM file.
[[nodiscard]] std::int64_t first_features(const std::string& path);
// How a column is chosen: by its name where it has one that can be written.
[[nodiscard]] ColumnChoice reader_choice(const ModelColumn& column);

}  // namespace kasen::tools
