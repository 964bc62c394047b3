/// \file
/// The nonzeros of a matrix's part, some at a time, in the order of its rows: those who need each of them once need not
/// know whether they are in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/stream/window.h"

namespace kasen::stream {

class MatrixEntries {
 public:
  /// That are brought at a time from a disk.
  static constexpr std::int64_t usual_bytes = std::int64_t{1} << 20;
  /// The matrix stays while this does. `with_values`: else their columns alone.
  MatrixEntries(const PartMatrix& matrix, bool with_values, std::int64_t brought = usual_bytes);

  /// The number of columns that there are.
  [[nodiscard]] std::int64_t count() const {
    return matrix_.on_disk != nullptr ? matrix_.entries() : static_cast<std::int64_t>(matrix_.columns.size());
  }
  /// The local columns of all nonzeros. Only those that each() has brought are there.
  [[nodiscard]] const std::int32_t* columns() const { return columns_; }
  /// The same of their values.
  [[nodiscard]] const Array& values() const { return held_values_ ? *held_values_ : *values_; }
  /// Calls take(begin, end) for the nonzeros [first, last), some at a time, which are there during the call. UserError
  /// as DiskElements.
  void each(std::int64_t first, std::int64_t last, const std::function<void(std::int64_t, std::int64_t)>& take);
  /// Calls take(row, begin, end) for nonzeros of one row each, in the same way.
  template <class Take>
  void each_of_rows(std::int64_t first, std::int64_t last, const Take& take);
  /// The bytes that each() reads from a disk.
  [[nodiscard]] std::int64_t bytes_of(std::int64_t first, std::int64_t last) const;
  /// The memory that it takes.
  [[nodiscard]] static std::int64_t memory_bytes(const PartMatrix& matrix, bool with_values,
                                                 std::int64_t brought = usual_bytes);

 private:
  [[nodiscard]] static std::int64_t window_bytes(const PartMatrix& matrix, bool with_values, std::int64_t brought);
  [[nodiscard]] static std::int64_t at_once(const PartMatrix& matrix, bool with_values, std::int64_t brought);

  const PartMatrix& matrix_;
  bool with_values_;
  std::int64_t brought_;
  const std::int32_t* columns_;
  const Array* values_;
  std::optional<HeldArray> held_columns_, held_value_rows_;  // of a disk
  std::optional<Array> held_values_;
};

template <class Take>
void MatrixEntries::each_of_rows(std::int64_t first, std::int64_t last, const Take& take) {
  const std::vector<std::int64_t>& pointers = matrix_.row_pointers;
  auto row = static_cast<std::size_t>(std::upper_bound(pointers.begin(), pointers.end(), first) - pointers.begin() - 1);
  each(first, last, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      while (pointers[row + 1] <= begin) ++row;
      const std::int64_t stop = std::min(end, pointers[row + 1]);
      take(row, begin, stop);
      begin = stop;
    }
  });
}

}  // namespace kasen::stream
