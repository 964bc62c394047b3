#include "libkernels/sorted_rows.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "libcore/plane_mover.h"

namespace kasen {
namespace {

constexpr std::int64_t longest_in_slice = reduction_block;
constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<std::uint16_t>::max());

// Moves entries of the matrix to their places in the second form.
class Mover {
 public:
  Mover(const LocalMatrix& from, SortedRows& to)
      : from_indices_(from.indices.data()),
        to_indices_(reinterpret_cast<std::int32_t*>(to.indices.data())),
        values_(from.values, to.values) {}

  void move(std::int64_t from, std::int64_t to) const {
    to_indices_[to] = from_indices_[from];
    values_.move(from, to);
  }

 private:
  const std::int32_t* from_indices_;
  std::int32_t* to_indices_;
  PlaneMover values_;
};

class WindowSorter {
 public:
  WindowSorter(const LocalMatrix& matrix, SortedRows& sorted, std::int64_t first, std::int64_t count)
      : pointers_(matrix.pointers.data() + first),
        mover_(matrix, sorted),
        order_(reinterpret_cast<std::uint16_t*>(sorted.order.data()) + first),
        lengths_(reinterpret_cast<std::uint16_t*>(sorted.lengths.data()) + first),
        count_(count),
        to_(pointers_[0]) {}

  // True if the rows lay sorted.
  bool run() {
    sort();
    std::int64_t k = 0;
    for (; k < count_ && length(k) > longest_in_slice; ++k) {
      const std::int64_t first = pointers_[order_[k]], end = first + length(k);
      for (std::int64_t s = first; s < end; s += reduction_lanes * reduction_block) long_slice(s, end);
    }
    for (; k < count_; k += reduction_lanes) slice(k, std::min<std::int64_t>(reduction_lanes, count_ - k));
    return std::is_sorted(order_, order_ + count_);
  }

 private:
  // Of the row at place k of the order.
  [[nodiscard]] std::int64_t length(std::int64_t k) const { return pointers_[order_[k] + 1] - pointers_[order_[k]]; }

  // By counting; all rows that stay outside of slices count as one length.
  void sort() {
    std::vector<std::int32_t> at(static_cast<size_t>(longest_in_slice) + 3, 0);
    const auto key = [&](std::int64_t row) {
      const std::int64_t length = std::min(pointers_[row + 1] - pointers_[row], longest_in_slice + 1);
      return static_cast<size_t>(longest_in_slice + 1 - length);
    };
    for (std::int64_t row = 0; row < count_; ++row) ++at[key(row) + 1];
    for (size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
    for (std::int64_t row = 0; row < count_; ++row) {
      const std::int32_t k = at[key(row)]++;
      order_[k] = static_cast<std::uint16_t>(row);
      lengths_[k] = static_cast<std::uint16_t>(std::min(pointers_[row + 1] - pointers_[row], most));
    }
  }

  // Entry 0 of every row, entry 1 of those that have one: the first ones.
  void slice(std::int64_t k, std::int64_t rows) {
    for (std::int64_t e = 0; rows > 0; ++e) {
      while (rows > 0 && length(k + rows - 1) <= e) --rows;
      for (std::int64_t l = 0; l < rows; ++l) mover_.move(pointers_[order_[k + l]] + e, to_++);
    }
  }

  // Eight segments of a row from `first` on, fewer at its end: all but the last have 4096 entries.
  void long_slice(std::int64_t first, std::int64_t end) {
    for (std::int64_t e = first; e < std::min(first + reduction_block, end); ++e) {
      for (std::int64_t at = e; at < std::min(end, first + reduction_lanes * reduction_block); at += reduction_block)
        mover_.move(at, to_++);
    }
  }

  const std::int64_t* pointers_;
  Mover mover_;
  std::uint16_t *order_, *lengths_;
  std::int64_t count_, to_;
};

}  // namespace

SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool) {
  SortedRows sorted{Bytes(2 * matrix.outputs), Bytes(2 * matrix.outputs), Bytes(4 * matrix.entries()),
                    Array(matrix.element, matrix.values.count)};
  std::vector<std::int64_t> windows;  // their first rows
  for (std::int64_t row = 0; row < matrix.outputs; row = window_end(matrix, row)) windows.push_back(row);
  sorted.in_order.assign(windows.size(), 0);
  share_out(pool, std::ssize(windows), [&](int, std::int64_t w) {
    const std::int64_t first = windows[static_cast<size_t>(w)];
    WindowSorter sorter(matrix, sorted, first, window_end(matrix, first) - first);
    sorted.in_order[static_cast<size_t>(w)] = sorter.run() ? 1 : 0;
  });
  return sorted;
}

}  // namespace kasen
