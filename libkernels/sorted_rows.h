// A second form of a sparse part for products that run again and again: rows sorted by length within windows, in slices
// of eight that run side by side, so that few branches depend on where a row ends. Made at a product's first call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libcore/kernel_set.h"
#include "libcore/numbering.h"
#include "libkernels/threads.h"

namespace kasen {

// A window is a block of reductions: the vector work of an epilogue follows whole windows.
inline constexpr std::int64_t sorted_window = reduction_block;

// Windows begin anew behind the masters: a product whose result is gathered takes masters and slaves in two calls, and
// the rows of a window that a call cuts would run one by one. `begin` is a window's first row.
[[nodiscard]] inline std::int64_t window_end(const LocalMatrix& matrix, std::int64_t begin) {
  return std::min(begin + sorted_window, begin < matrix.masters ? matrix.masters : matrix.outputs);
}
// The first row of the first window that begins at `row` or behind it; outputs if none does.
[[nodiscard]] inline std::int64_t window_from(const LocalMatrix& matrix, std::int64_t row) {
  const bool slaves = row > matrix.masters;
  const std::int64_t base = slaves ? matrix.masters : 0;
  const std::int64_t begin = base + (row - base + sorted_window - 1) / sorted_window * sorted_window;
  return std::min(begin, slaves ? matrix.outputs : matrix.masters);
}
// The end of the last window that ends at `row` or before it.
[[nodiscard]] inline std::int64_t window_until(const LocalMatrix& matrix, std::int64_t row) {
  if (row == matrix.masters || row == matrix.outputs) return row;
  const std::int64_t base = row > matrix.masters ? matrix.masters : 0;
  return base + (row - base) / sorted_window * sorted_window;
}
[[nodiscard]] inline std::int64_t window_number(const LocalMatrix& matrix, std::int64_t begin) {
  if (begin < matrix.masters) return begin / sorted_window;
  return (matrix.masters + sorted_window - 1) / sorted_window + (begin - matrix.masters) / sorted_window;
}

// Rows window by window, within a window by descending length, then row. A window's entries lie where LocalMatrix has
// those of the same rows: first rows of more than 4096 entries, one after another, each as slices of eight of its
// segments of 4096 entries, then slices of eight rows (emit_slices.h).
struct SortedRows {
  Bytes order;    // 16 bits a row: the window's rows as they are sorted
  Bytes lengths;  // 16 bits a row, in that order: its entries, 65535 for more
  Bytes indices;  // 32 bits an entry
  Array values;
  std::vector<char> in_order;  // of each window: do its rows lie sorted in the matrix itself?

  // Of the rows from number `first` of the order on.
  [[nodiscard]] const std::uint16_t* order_from(std::int64_t first) const {
    return reinterpret_cast<const std::uint16_t*>(order.data()) + first;
  }
  [[nodiscard]] const std::uint16_t* lengths_from(std::int64_t first) const {
    return reinterpret_cast<const std::uint16_t*>(lengths.data()) + first;
  }
  // 4 outputs + 4 entries + value bytes (values by plane, each rounded up to 64).
  [[nodiscard]] std::int64_t storage_bytes() const {
    return order.size() + lengths.size() + indices.size() + values.bytes.size();
  }
};

[[nodiscard]] SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool);

// Long rows gain nothing: their ends are rare.
[[nodiscard]] inline bool worth_sorting(const LocalMatrix& matrix) { return matrix.entries() < 64 * matrix.outputs; }

}  // namespace kasen
