// Readers: text and binary files, plain, .gz or .xz, into raw tables. Parallel where the file is plain text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data.h"

namespace kasen {

enum class FileFormat : std::uint8_t { edge_list, matrix_market, libsvm, csv, npy };

enum class Repeats : std::uint8_t { refuse, sum, first, last, smallest, largest };  // of a valued entry

struct ReadOptions {
  std::optional<FileFormat> format;      // else by content and extension
  ElementType element;                   // what the program's input wants (null for a pattern)
  bool sparse = true;                    // the input is a sparse matrix; else rows of a dense array
  Repeats repeats = Repeats::refuse;     // null matrices: a repeated edge is one entry
  std::vector<int> columns;              // csv: which (from 1); empty: all, words coded by a dictionary
  std::function<void(double fraction)> progress;
};

// Entries of a sparse matrix. Ids are the file's own; `relabelled` tells that they had gaps and `rows`/`cols` hold
// dense indices instead, with the original ids in row_ids / col_ids (ascending).
struct RawMatrix {
  std::int64_t row_count = 0, col_count = 0;  // sizes as declared or one past the largest id
  std::vector<std::int64_t> rows, cols;
  Array values;                               // none for null
  std::string digest;                         // XXH3-128 of the uncompressed content, hex
};

// A dense table: row-major rows x cols for a rank-2 input or for points `[T; cols]`; cols = 1 for vectors.
// LIBSVM labels, when the input asked for is a vector, come through the same reader (labels = true).
struct RawTable {
  std::int64_t rows = 0, cols = 0;
  Array values;                               // element scalar, count rows * cols
  std::map<int, std::vector<std::string>> dictionaries;  // csv words by column: code -> word
  std::string digest;
};

[[nodiscard]] FileFormat detect_format(const std::string& path);
// Throws UserError: missing_input, bad_input with file:line (and the text of the bad line), io.
[[nodiscard]] RawMatrix read_matrix(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_table(const std::string& path, const ReadOptions& options);

}  // namespace kasen
