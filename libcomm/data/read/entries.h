// Texts of one entry at most a line, `row column [value...]`: edge lists and Matrix Market; private to the readers.
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

// What the lines of a text mean.
struct EntryShape {
  std::int64_t from = 0;      // byte at which the entries begin
  std::int64_t first_id = 0;  // what the file counts from
  std::vector<int> columns;   // file columns, from 1, of row, column and each plane of the value
  bool more_columns = false;  // further columns are ignored (the user chose)
  char separator = ' ';       // of columns: a comma, a semicolon, a tab; else any blanks
  bool whole = false;         // the file says that its values are whole numbers
  bool fold = false;          // of equal entries near one another one is kept; the caller combines repeats
  std::string_view row_word = "a vertex id", col_word = "a vertex id";
  std::int64_t row_limit = -1, col_limit = -1;  // the matrix's size, where the file states it
  bool lower = false;  // of a symmetric matrix: turned to the lower triangle, so that a repeat shows wherever it stands
  bool skew = false;   // then a turned value is negated, and the diagonal is empty
};
// The roles of columns for an element: those the user chose, else 1, 2 and one for each plane.
[[nodiscard]] EntryShape entry_shape(const ReadOptions& options, const FileColumns& columns, const std::string& path);
[[nodiscard]] int value_planes(const ElementType& element);  // columns of a value: none for null

// The entries of one block, unpacked.
struct BlockEntries {
  std::vector<std::int64_t> rows, cols;
  Array values;  // room for at least as many
  std::int64_t count = 0;
};
// Replaces what `entries` held. Throws TextFault.
void parse_block(const TextBlock& block, const EntryShape& shape, const ElementType& element, BlockEntries& entries);

// Chunks that threads make of a text's blocks and hand over in any order. UserError(limit) before they take more than
// the process could take when it began: a compressed file does not say how much it holds.
class ChunkList {
 public:
  ChunkList(ElementType element, std::string path);
  void add(std::int64_t block, EntryChunk chunk);
  // In the order of the text, with those that are empty.
  [[nodiscard]] EntryList take() { return std::move(list_); }

 private:
  EntryList list_;
  std::string path_;
  std::optional<std::int64_t> room_;
  std::int64_t held_ = 0;
  std::mutex mutex_;
};

// All entries of the text, in parallel, in the order of the file; the counts and repeats are the caller's.
[[nodiscard]] EntryList parse_entries(TextSource& text, const EntryShape& shape, const ReadOptions& options);

// Several entries of one (row, column) become one as the options say, in the order of the file; all are by row, then
// column, afterwards. Refused repeats end in a UserError that names both lines.
void combine_repeats(EntryList& entries, const ReadOptions& options, const EntryShape& shape, const TextSource& text);

// -x; UserError(limit) where it has none.
void negate(const ElementType& element, std::byte* plane, std::int64_t p, std::int64_t i);

}  // namespace kasen
