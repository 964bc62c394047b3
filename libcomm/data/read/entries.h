// Texts of at most one entry a line, `row column [value...]`: edge lists and Matrix Market; private to the readers.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcomm/data/read/formats.h"
#include "libcomm/data/text/text_source.h"

namespace kasen {

// The meaning of a text's lines.
struct EntryShape {
  bool in_lines = true;       // of text, one entry each
  std::int64_t from = 0;      // byte at which the entries begin
  std::int64_t first_id = 0;  // the number from which the file counts
  std::vector<int> columns;   // file columns, from 1, of row, column and each plane of the value
  bool more_columns = false;  // further columns are ignored (the user chose)
  char separator = ' ';       // of columns: a comma, a semicolon, a tab; else any blanks
  bool whole = false;         // the file states that its values are integers
  bool fold = false;          // one of equal entries near one another is kept; the caller combines repeats
  std::string_view row_word = "a vertex id", col_word = "a vertex id";
  std::int64_t row_limit = -1, col_limit = -1;  // the matrix's size, if the file states it
  bool lower = false;  // of a symmetric matrix: mirrored into the lower triangle, so that a repeat shows anywhere
  bool skew = false;   // then a mirrored value is negated, and the diagonal is empty
};
// The roles of columns for an element: those that the user chose, else 1, 2 and one for each plane.
[[nodiscard]] EntryShape entry_shape(const ReadOptions& options, const FileColumns& columns, const std::string& path);
[[nodiscard]] int value_planes(const ElementType& element);  // columns of a value: none for null

// The entries of one block, unpacked.
struct BlockEntries {
  std::vector<std::int64_t> rows, cols;
  Array values;  // room for at least as many
  std::int64_t count = 0;
};
// Replaces the content of `entries`. Throws TextFault.
void parse_block(const TextBlock& block, const EntryShape& shape, const ElementType& element, BlockEntries& entries);

// Chunks that threads make of a text's blocks and hand over in any order. UserError(limit) before they take more memory
// than the process could take at their start: a compressed file does not state its size. With a spill, they go there.
class ChunkList {
 public:
  ChunkList(const ReadOptions& options, std::string path);
  void add(std::int64_t block, EntryChunk chunk);
  // In the order of the text, including the empty ones.
  [[nodiscard]] EntryList take() { return std::move(list_); }

 private:
  EntryList list_;
  std::string path_;
  std::optional<std::int64_t> room_;
  std::int64_t held_ = 0;
  std::mutex mutex_;
};

// All entries of the text, read in parallel, in the order of the file; the caller checks counts and repeats.
[[nodiscard]] EntryList parse_entries(TextSource& text, const EntryShape& shape, const ReadOptions& options);

// Combines several entries of one (row, column) as the options say, in the order of the file. Afterwards all are sorted
// by row, then column. Refused repeats end in a UserError that names both lines.
void combine_repeats(EntryList& entries, const ReadOptions& options, const EntryShape& shape, const TextSource& text);

// -x; UserError(limit) if the type has none.
void negate(const ElementType& element, std::byte* plane, std::int64_t p, std::int64_t i);

}  // namespace kasen
