// A second form of a sparse part for products that run again and again: rows sorted by length within windows, in slices
// of eight that run side by side, so that few branches depend on where a row ends. Made at a product's first call.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/kernel_set.h"
#include "libcore/numbering.h"
#include "libkernels/threads.h"

namespace kasen {

// A window is a block of reductions: the vector work of an epilogue follows whole windows.
inline constexpr std::int64_t sorted_window = reduction_block;

// Rows window by window, within a window by descending length, then row. Window w has the rows 4096 w ..., and its
// entries lie where LocalMatrix has those of the same rows: first rows of more than 4096 entries, one after another,
// each as slices of eight of its segments of 4096 entries, then slices of eight rows (emit_slices.h).
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
