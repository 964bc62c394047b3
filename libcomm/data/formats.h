// One reader a format, and what they share. readers.cpp has the table that chooses among them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcomm/data/input_file.h"
#include "libcomm/data/number_text.h"
#include "libcomm/data/readers.h"
#include "libcomm/data/text_pieces.h"

namespace kasen {

[[nodiscard]] RawMatrix read_edge_list(const InputFile& file, const ReadOptions& options);  // also csv of entries
[[nodiscard]] RawMatrix read_market_matrix(const InputFile& file, const ReadOptions& options);
[[nodiscard]] RawMatrix read_libsvm_features(const InputFile& file, const ReadOptions& options);

[[nodiscard]] RawTable read_market_table(const InputFile& file, const ReadOptions& options);
[[nodiscard]] RawTable read_libsvm_table(const InputFile& file, const ReadOptions& options);
[[nodiscard]] RawTable read_csv(const InputFile& file, const ReadOptions& options);
[[nodiscard]] RawTable read_npy(const InputFile& file, const ReadOptions& options);

[[nodiscard]] FileFormat detect_format(const std::string& path, std::string_view beginning);

// One parser and plane a scalar of the element; none for null.
struct ValueParser {
  ParseInto parse;
  std::byte* plane;
};
[[nodiscard]] std::vector<ValueParser> value_parsers(Array& values);

// Entries as they come out of a text, one at most a line, and how to fill them in parallel.
struct EntryShape {
  std::int64_t first_id = 0;  // what the file counts from
  std::vector<int> columns;   // file columns, from 1, of row, column and each plane of the value
  bool more_columns = false;  // further columns are ignored (the user chose)
  std::string_view row_word = "a vertex id", col_word = "a vertex id";
};
// The roles of columns for an element: those the user chose, else 1, 2 and one for each plane.
[[nodiscard]] EntryShape entry_shape(const ReadOptions& options, const std::string& path);
// Parses the text from byte `from` on; fills rows, cols, values; the counts and repeats are the caller's.
[[nodiscard]] RawMatrix parse_entries(const InputFile& file, std::int64_t from, const EntryShape& shape,
                                      const ReadOptions& options);

// Several entries of one (row, column) become one as the options say; which stays where the first stood. Refused
// repeats end in a UserError that names both lines; `from` is where the entries begin in the text.
void combine_repeats(RawMatrix& matrix, const ReadOptions& options, const InputFile& file, std::int64_t from);

// A table of checked size.
[[nodiscard]] RawTable make_table(std::int64_t rows, std::int64_t cols, const ReadOptions& options,
                                  const std::string& path);

}  // namespace kasen
