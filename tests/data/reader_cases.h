// What the tests of readers share: files with a given text, options, and the message of a refusal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "libcomm/data/read/readers.h"
#include "libcore/base/error.h"
#include "tests/support/folder.h"

namespace kasen::testing {

using cases::Folder;

[[nodiscard]] std::string gzip(std::string_view text);
[[nodiscard]] std::string xz(std::string_view text);
[[nodiscard]] std::string zstd(std::string_view text, int window = 0);  // window: its log, announced

[[nodiscard]] ReadOptions matrix_of(Scalar scalar);  // sparse
[[nodiscard]] ReadOptions table_of(Scalar scalar);   // dense

struct Refusal {
  ExitStatus status = ExitStatus::done;  // done: nothing was refused
  std::string text;
  int line = 0, column = 0;
};
[[nodiscard]] Refusal matrix_refusal(const std::string& path, const ReadOptions& options);
[[nodiscard]] Refusal table_refusal(const std::string& path, const ReadOptions& options);

using Entry = std::tuple<std::int64_t, std::int64_t, double>;
// In their order; the value is 1 for null.
[[nodiscard]] std::vector<Entry> entries_of(const RawMatrix& matrix);
[[nodiscard]] std::vector<double> numbers_of(const RawTable& table);

}  // namespace kasen::testing
