// The functions that formats.def names, each in its format's own file, and the common parts of readers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/input_file.h"
#include "libcomm/data/text/number_text.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {

// Reads one input from a text block by block, beside others that read the same text.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  // Called by several threads, each with a block and a number of its own. TextFault.
  virtual void take(const TextBlock& block, int thread) = 0;
  // After the last block; the digests are the caller's.
  [[nodiscard]] virtual RawInput finish() = 0;
};

// The fields of the first lines with content, separated by blanks, commas or semicolons.
using FirstFields = std::vector<std::vector<std::string_view>>;

// `matrix` and `table` read one input from a text that nothing has been taken from. A table has its digest; a matrix
// without one has that of the text. `blocks` gives none where those read the input.
#define READER(format, word, endings, content, columns, begins, looks, rank, matrix, table, blocks) \
  [[nodiscard]] bool begins(std::string_view beginning);                                            \
  [[nodiscard]] bool looks(const FirstFields& lines);                                               \
  [[nodiscard]] RawMatrix matrix(TextSource& text, const ReadOptions& options);                     \
  [[nodiscard]] RawTable table(TextSource& text, const ReadOptions& options);                       \
  [[nodiscard]] std::unique_ptr<BlockReader> blocks(const ReadOptions& options, const std::string& path);
#include "libcomm/data/read/formats.def"
#undef READER

enum class ChosenColumns : std::uint8_t { none, entries, cells };

struct FormatRow {
  FileFormat format;
  std::string_view endings;
  TextSource::Content content;
  ChosenColumns columns;
  decltype(&no_beginning) begins;
  decltype(&no_guess) looks;
  int rank;
  RawMatrix (*matrix)(TextSource&, const ReadOptions&);
  RawTable (*table)(TextSource&, const ReadOptions&);
  decltype(&no_blocks) blocks;
};
[[nodiscard]] std::span<const FormatRow> format_rows();

// By the beginning of the content, then the name, then the first lines.
[[nodiscard]] const FormatRow& detect_row(const std::string& path, std::string_view beginning);
// The path without an ending of compression.
[[nodiscard]] std::string_view unpacked_name(std::string_view path);
[[nodiscard]] bool is_plain_id(std::string_view field);  // digits alone

// One parser and plane for each scalar of the element; none for null.
struct ValueParser {
  ParseInto parse;
  std::byte* plane;
};
[[nodiscard]] std::vector<ValueParser> value_parsers(Array& values, bool whole = false);  // integers only

// A table of checked size.
[[nodiscard]] RawTable make_table(std::int64_t rows, std::int64_t cols, const ReadOptions& options,
                                  const std::string& path);
// Element `i` of a table of `cols` columns, of `type` in the file, does not fit the type of the input.
[[noreturn]] void fail_element(const std::string& path, std::int64_t i, std::int64_t cols, Scalar wanted,
                               std::string_view type);

}  // namespace kasen
