// A second form of a sparse part for products that run again and again: rows sorted by length within windows, so that
// rows of equal length follow one another and no branch depends on where a row ends. Made at a product's first call.
#pragma once

#include <cstdint>

#include "libcore/numbering.h"
#include "libkernels/threads.h"

namespace kasen {

inline constexpr std::int64_t sorted_window = 2048;

// Entries of rows window by window, within a window by ascending length of row, then row. Window w has the rows
// 2048 w ..., and its entries lie where LocalMatrix has those of the same rows.
struct SortedRows {
  Bytes order;    // 16 bits a row: the window's rows in the order in which their entries lie
  Bytes indices;  // 32 bits an entry
  Array values;

  // 2 outputs + 4 entries + value bytes (values by plane, each rounded up to 64).
  [[nodiscard]] std::int64_t storage_bytes() const { return order.size() + indices.size() + values.bytes.size(); }
};

[[nodiscard]] SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool);

// Long rows gain nothing: their ends are rare.
[[nodiscard]] inline bool worth_sorting(const LocalMatrix& matrix) { return matrix.entries() < 64 * matrix.outputs; }

}  // namespace kasen
