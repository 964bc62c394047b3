// A sparse matrix whose rows or columns are words of a text: `home,about` in place of `0,1`.
#pragma once

#include <string>

#include "libcomm/data/read/readers.h"

namespace kasen {

// ReadOptions::columns are those of the row, the column and, unless the element is null, the value: by default 1, 2, 3.
// ReadOptions::words are one or both of the first two. Entries have the words' codes. The table has their dictionaries
// alone, by column of the file; RawMatrix::row_words and col_words say which is whose. UserError as read_table(), and
// as ReadOptions::repeats says.
[[nodiscard]] RawInput read_word_entries(const std::string& path, const ReadOptions& options);

}  // namespace kasen
