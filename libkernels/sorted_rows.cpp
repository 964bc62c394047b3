#include "libkernels/sorted_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kasen {
namespace {

void sort_window(const LocalMatrix& m, SortedRows& sorted, std::int64_t first, std::int64_t count) {
  struct Row {
    std::int64_t length;
    std::int64_t row;
    bool operator<(const Row& other) const { return length != other.length ? length < other.length : row < other.row; }
  };
  std::array<Row, static_cast<size_t>(sorted_window)> rows{};
  const std::int64_t* pointers = m.pointers.data();
  for (std::int64_t k = 0; k < count; ++k) {
    rows[static_cast<size_t>(k)] = {pointers[first + k + 1] - pointers[first + k], first + k};
  }
  std::sort(rows.begin(), rows.begin() + count);
  auto* order = reinterpret_cast<std::uint16_t*>(sorted.order.data()) + first;
  auto* indices = reinterpret_cast<std::int32_t*>(sorted.indices.data());
  std::int64_t to = pointers[first];
  for (std::int64_t k = 0; k < count; ++k) {
    const Row& row = rows[static_cast<size_t>(k)];
    const std::int64_t from = pointers[row.row];
    order[k] = static_cast<std::uint16_t>(row.row - first);
    std::copy_n(m.indices.data() + from, row.length, indices + to);
    for (std::int64_t p = 0; sorted.values.count > 0 && p < m.element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(m.element.plane_scalar(p));
      if (size == 0) continue;
      std::memcpy(sorted.values.plane(p) + to * size, m.values.plane(p) + from * size,
                  static_cast<size_t>(row.length * size));
    }
    to += row.length;
  }
}

}  // namespace

SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool) {
  SortedRows sorted{Bytes(2 * matrix.outputs), Bytes(4 * matrix.entries()), Array(matrix.element, matrix.values.count)};
  const std::int64_t windows = (matrix.outputs + sorted_window - 1) / sorted_window;
  WorkQueue queue(windows, pool.threads());
  pool.run([&](int t) {
    for (std::int64_t w = queue.next(t); w >= 0; w = queue.next(t)) {
      const std::int64_t first = w * sorted_window;
      sort_window(matrix, sorted, first, std::min(sorted_window, matrix.outputs - first));
    }
  });
  return sorted;
}

}  // namespace kasen
