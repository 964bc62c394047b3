// A second form of a sparse part for products that run again and again. Rows are sorted by length within windows, in
// slices of eight that run side by side, so that few branches depend on a row's end. If the operand is larger than a
// core's cache, the form goes block by block of its elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libcore/kernels/form_store.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/numbering.h"
#include "libcore/kernels/sorted_form.h"
#include "libcore/system/held_list.h"
#include "libcore/system/threads.h"

namespace kasen {

// A window is a block of reductions: the vector work of an epilogue follows whole windows.
inline constexpr std::int64_t sorted_window = reduction_block;

// Windows begin anew behind the owned elements: a product whose result is gathered takes owned elements and ghosts in
// two calls. The rows of a window that a call cuts would run one by one. `begin` is a window's first row.
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

// Blocks of an operand's elements: block k has the local indices k width to (k + 1) width - 1, the last one all the
// rest.
struct OperandBlocks {
  std::int64_t count = 1, width = 0;
};
// `count` blocks, or one if more would not pay: for rows whose nonzeros do not ascend from block to block, or windows
// that read few of the operand's lines. `count` alone comes from sizes (libcore/kernels/sorted_form.h), this from the
// nonzeros.
[[nodiscard]] OperandBlocks blocks_that_pay(const LocalMatrix& matrix, std::int64_t count);

// Rows window by window, within a window block by block, within a block by descending number of nonzeros there, then
// row. A row's piece in a block begins where that of the block before ends, and ends before the first nonzero of a
// later block. So pieces one after another are the unchanged row. A window's nonzeros have the positions that
// LocalMatrix gives the same rows. Block 0 begins with the rows of more than 4096 nonzeros, whole, one after another,
// each as slices of eight of its segments of 4096 nonzeros. Then come slices of eight pieces (emit_slices.h). Later
// blocks have neither those rows nor ones without nonzeros.
struct SortedRows {
  std::int64_t outputs = 0, blocks = 1;
  HeldList<std::uint16_t> order;    // for each row and block: the window's rows in sorted order
  HeldList<std::uint16_t> lengths;  // the same, in that order: nonzeros, 65535 for more
  HeldList<std::int32_t> indices;   // of the nonzeros
  Array values;
  std::vector<std::int64_t> starts;   // of each window and block: its first nonzero; and the end
  std::vector<std::int32_t> carried;  // of each window: its rows in later blocks
  std::vector<char> in_order;         // of each window: whether its rows are sorted in the matrix itself (one block)

  // The rows from number `first` of the order on.
  [[nodiscard]] const std::uint16_t* order_from(std::int64_t first, std::int64_t block = 0) const {
    return order.data() + block * outputs + first;
  }
  [[nodiscard]] const std::uint16_t* lengths_from(std::int64_t first, std::int64_t block = 0) const {
    return lengths.data() + block * outputs + first;
  }
  // Of window number `window`: the first nonzero of a block; its nonzeros; of `count` rows those that it has.
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
    return static_cast<std::int64_t>(2 * (order.size() + lengths.size()) + 4 * indices.size()) + values.bytes.size();
  }
};

// Reserves the order of rows in `room` blocks, however many there are.
[[nodiscard]] SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool, OperandBlocks blocks = {},
                                   std::int64_t room = 1);
// The same without its content; and the length of `order`, or of `lengths`.
[[nodiscard]] SortedRows empty_sorted(const LocalMatrix& matrix, OperandBlocks blocks);
[[nodiscard]] std::int64_t list_length(const LocalMatrix& matrix, OperandBlocks blocks, std::int64_t room);

// Completes a form whose content was loaded. False if its lists are no order of the matrix's rows, or have other
// lengths: a product would then leave the arrays.
[[nodiscard]] bool complete(SortedRows& sorted, const LocalMatrix& matrix, ThreadPool& pool);
// The form from the matrix's store, or made and offered to it. UserError as FormStore.
[[nodiscard]] SortedRows sorted_rows(const LocalMatrix& matrix, ThreadPool& pool, OperandBlocks blocks,
                                     std::int64_t room, const KeptMatrix& kept);

}  // namespace kasen
