// One reader for each format, and their common parts. readers.cpp has the table that chooses among them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/read/readers.h"
#include "libcomm/data/text/input_file.h"
#include "libcomm/data/text/number_text.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {

[[nodiscard]] RawMatrix read_edge_list(TextSource& text, const ReadOptions& options);  // also csv of entries
[[nodiscard]] RawMatrix read_market_matrix(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawMatrix read_npy_edges(TextSource& text, const ReadOptions& options);  // patterns

// They set the digest, too.
[[nodiscard]] RawTable read_market_table(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_libsvm_table(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_csv(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_npy(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_idx(TextSource& text, const ReadOptions& options);

[[noreturn]] RawMatrix refuse_idx(TextSource& text, const ReadOptions& options);  // it holds no sparse matrix
[[nodiscard]] bool begins_as_idx(std::string_view beginning);

// Reads one input from a text block by block, beside others that read the same text.
class BlockReader {
 public:
  virtual ~BlockReader() = default;
  // Called by several threads, each with a block and a number of its own. TextFault.
  virtual void take(const TextBlock& block, int thread) = 0;
  // After the last block; the digests are the caller's.
  [[nodiscard]] virtual RawInput finish() = 0;
};
// None if a function above reads the input.
[[nodiscard]] std::unique_ptr<BlockReader> libsvm_blocks(const ReadOptions& options, const std::string& path);

[[nodiscard]] FileFormat detect_format(const std::string& path, std::string_view beginning);

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
