// A second form of a sparse part for products that run again and again: rows sorted by length within windows, in slices
// of eight that run side by side, so that few branches depend on where a row ends. Where the operand is larger than a
// core's cache, block by block of its elements. Made at a product's first call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/numbering.h"
#include "libcore/kernels/sorted_form.h"
#include "libkernels/run/threads.h"

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

// Blocks of an operand's elements: block k has the local indices k width to (k + 1) width - 1, the last one all behind.
struct OperandBlocks {
  std::int64_t count = 1, width = 0;
};
// `count` blocks, or one where more would not pay: rows whose entries do not ascend from block to block, or windows
// that read few of the operand's lines. `count` alone comes from sizes (libcore/kernels/sorted_form.h), this from the
// entries.
[[nodiscard]] OperandBlocks blocks_that_pay(const LocalMatrix& matrix, std::int64_t count);

// Rows window by window, within a window block by block, within a block by descending number of entries there, then
// row. A row's piece in a block are its entries from where that of the block before ends to the first one of a later
// block, so that pieces one after another are the row as it is. A window's entries lie where LocalMatrix has those of
// the same rows. First, in block 0, rows of more than 4096 entries, whole, one after another, each as slices of eight
// of its segments of 4096 entries; then slices of eight pieces (emit_slices.h). Later blocks have neither those rows
// nor ones without entries.
struct SortedRows {
  std::int64_t outputs = 0, blocks = 1;
  Bytes order;    // 16 bits a row and block: the window's rows as they are sorted
  Bytes lengths;  // 16 bits a row and block, in that order: its entries, 65535 for more
  Bytes indices;  // 32 bits an entry
  Array values;
  std::vector<std::int64_t> starts;   // of each window and block: its first entry; and the end
  std::vector<std::int32_t> carried;  // of each window: its rows in later blocks
  std::vector<char> in_order;         // of each window: do its rows lie sorted in the matrix itself (one block)?

  // Of the rows from number `first` of the order on.
  [[nodiscard]] const std::uint16_t* order_from(std::int64_t first, std::int64_t block = 0) const {
    return reinterpret_cast<const std::uint16_t*>(order.data()) + block * outputs + first;
  }
  [[nodiscard]] const std::uint16_t* lengths_from(std::int64_t first, std::int64_t block = 0) const {
    return reinterpret_cast<const std::uint16_t*>(lengths.data()) + block * outputs + first;
  }
  // Of window number `window`: the first entry of a block; its entries; of `count` rows those that it has.
  [[nodiscard]] std::int64_t entry(std::int64_t window, std::int64_t block) const {
    return starts[static_cast<size_t>(window * blocks + block)];
  }
  [[nodiscard]] std::int64_t entries(std::int64_t window, std::int64_t block) const {
    return starts[static_cast<size_t>(window * blocks + block) + 1] - entry(window, block);
  }
  [[nodiscard]] std::int64_t rows(std::int64_t window, std::int64_t block, std::int64_t count) const {
    return block == 0 ? count : carried[static_cast<size_t>(window)];
  }
  // sorted_form_bytes and the values (by plane, each rounded up to 64).
  [[nodiscard]] std::int64_t storage_bytes() const {
    return order.size() + lengths.size() + indices.size() + values.bytes.size();
  }
};

// With room for the order of rows in `room` blocks, however many there are.
[[nodiscard]] SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool, OperandBlocks blocks = {},
                                   std::int64_t room = 1);

}  // namespace kasen
