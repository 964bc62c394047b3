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

[[nodiscard]] RawMatrix read_edge_list(TextSource& text, const ReadOptions& options);  // also csv of entries
[[nodiscard]] RawMatrix read_market_matrix(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawMatrix read_npy_edges(TextSource& text, const ReadOptions& options);  // patterns
[[nodiscard]] RawMatrix read_libsvm_features(TextSource& text, const ReadOptions& options);

// They set the digest, too.
[[nodiscard]] RawTable read_market_table(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_libsvm_table(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_csv(TextSource& text, const ReadOptions& options);
[[nodiscard]] RawTable read_npy(TextSource& text, const ReadOptions& options);

[[nodiscard]] FileFormat detect_format(const std::string& path, std::string_view beginning);

// One parser and plane a scalar of the element; none for null.
struct ValueParser {
  ParseInto parse;
  std::byte* plane;
};
[[nodiscard]] std::vector<ValueParser> value_parsers(Array& values);

// A table of checked size.
[[nodiscard]] RawTable make_table(std::int64_t rows, std::int64_t cols, const ReadOptions& options,
                                  const std::string& path);

}  // namespace kasen
