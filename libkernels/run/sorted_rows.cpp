#include "libkernels/run/sorted_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "libcore/kernels/plane_mover.h"

namespace kasen {
namespace {

constexpr std::int64_t longest_in_slice = reduction_block;
constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<std::uint16_t>::max());

// Moves nonzeros of the matrix to their positions in the second form.
class Mover {
 public:
  Mover(const LocalMatrix& from, SortedRows& to)
      : from_indices_(from.indices.data()), to_indices_(to.indices.own().data()), values_(from.values, to.values) {}

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
  WindowSorter(const LocalMatrix& matrix, const OperandBlocks& blocks, SortedRows& sorted, std::int64_t first,
               std::int64_t number)
      : pointers_(matrix.pointers.data() + first),
        indices_(matrix.indices.data()),
        mover_(matrix, sorted),
        blocks_(blocks),
        order_(sorted.order.own().data() + first),
        lengths_(sorted.lengths.own().data() + first),
        outputs_(matrix.outputs),
        count_(window_end(matrix, first) - first),
        starts_(sorted.starts.data() + number * blocks.count),
        carried_(sorted.carried[static_cast<size_t>(number)]),
        to_(pointers_[0]),
        at_(pointers_, pointers_ + count_),
        piece_(static_cast<size_t>(count_)) {}

  // True if the rows were sorted.
  bool run() {
    for (std::int64_t block = 0; block < blocks_.count; ++block) {
      starts_[block] = to_;
      cut(block);
      const std::int64_t rows = sort(block);
      if (block > 0) carried_ = static_cast<std::int32_t>(rows);
      std::int64_t k = 0;
      for (; k < rows && length(k) > longest_in_slice; ++k) {
        const std::int64_t first = pointers_[order_[k]], end = first + length(k);
        for (std::int64_t s = first; s < end; s += reduction_lanes * reduction_block) long_slice(s, end);
      }
      for (; k < rows; k += reduction_lanes) slice(k, std::min<std::int64_t>(reduction_lanes, rows - k));
      for (size_t row = 0; row < at_.size(); ++row) at_[row] += piece_[row];
      if (blocks_.count == 1) return std::is_sorted(order_, order_ + count_);
      order_ += outputs_;
      lengths_ += outputs_;
    }
    return false;
  }

 private:
  [[nodiscard]] std::int64_t row_length(size_t row) const { return pointers_[row + 1] - pointers_[row]; }
  // Length and first nonzero of the piece at position k of the order.
  [[nodiscard]] std::int64_t length(std::int64_t k) const { return piece_[order_[k]]; }
  [[nodiscard]] std::int64_t entry(std::int64_t k) const { return at_[order_[k]]; }

  // Finds the nonzeros of every row in this block.
  void cut(std::int64_t block) {
    const bool last = block + 1 == blocks_.count;
    for (size_t row = 0; row < piece_.size(); ++row) {
      const std::int64_t end = pointers_[row + 1];
      std::int64_t e = at_[row];
      if (last || row_length(row) > longest_in_slice) {
        e = end;
      } else {
        while (e < end && indices_[e] < (block + 1) * blocks_.width) ++e;
      }
      piece_[row] = e - at_[row];
    }
  }

  // Sorts by counting; all rows that stay outside of slices count as one length. Returns the number of rows in the
  // block.
  std::int64_t sort(std::int64_t block) {
    std::vector<std::int32_t> at(static_cast<size_t>(longest_in_slice) + 3, 0);
    const auto key = [&](size_t row) {
      return static_cast<size_t>(longest_in_slice + 1 - std::min(piece_[row], longest_in_slice + 1));
    };
    const auto has = [&](size_t row) {
      return block == 0 || (row_length(row) > 0 && row_length(row) <= longest_in_slice);
    };
    std::int64_t rows = 0;
    for (size_t row = 0; row < piece_.size(); ++row) {
      if (!has(row)) continue;
      ++at[key(row) + 1];
      ++rows;
    }
    for (size_t i = 1; i < at.size(); ++i) at[i] += at[i - 1];
    for (size_t row = 0; row < piece_.size(); ++row) {
      if (!has(row)) continue;
      const std::int32_t k = at[key(row)]++;
      order_[k] = static_cast<std::uint16_t>(row);
      lengths_[k] = static_cast<std::uint16_t>(std::min(piece_[row], most));
    }
    return rows;
  }

  // Nonzero 0 of every piece, nonzero 1 of those that have one: the first ones.
  void slice(std::int64_t k, std::int64_t rows) {
    std::array<std::int64_t, reduction_lanes> from{}, lengths{};
    for (std::int64_t l = 0; l < rows; ++l) {
      from[static_cast<size_t>(l)] = entry(k + l);
      lengths[static_cast<size_t>(l)] = length(k + l);
    }
    for (std::int64_t e = 0; rows > 0; ++e) {
      while (rows > 0 && lengths[static_cast<size_t>(rows) - 1] <= e) --rows;
      for (std::int64_t l = 0; l < rows; ++l) mover_.move(from[static_cast<size_t>(l)] + e, to_++);
    }
  }

  // Eight segments of a row from `first` on, fewer at its end: all but the last have 4096 nonzeros.
  void long_slice(std::int64_t first, std::int64_t end) {
    for (std::int64_t e = first; e < std::min(first + reduction_block, end); ++e) {
      for (std::int64_t at = e; at < std::min(end, first + reduction_lanes * reduction_block); at += reduction_block)
        mover_.move(at, to_++);
    }
  }

  const std::int64_t* pointers_;
  const std::int32_t* indices_;
  Mover mover_;
  const OperandBlocks& blocks_;
  std::uint16_t *order_, *lengths_;  // of the block
  std::int64_t outputs_, count_;
  std::int64_t* starts_;
  std::int32_t& carried_;
  std::int64_t to_;
  std::vector<std::int64_t> at_, piece_;  // of each row: the first nonzero behind the blocks before, and nonzeros here
};

std::vector<std::int64_t> window_starts(const LocalMatrix& matrix) {
  std::vector<std::int64_t> windows;
  for (std::int64_t row = 0; row < matrix.outputs; row = window_end(matrix, row)) windows.push_back(row);
  return windows;
}

// The reads of a few windows from an operand: distinct lines of eight elements, and nonzeros that their row takes
// behind one of a later block.
struct Sample {
  std::int64_t rows = 0, entries = 0, lines = 0, late = 0;
};

Sample sample_windows(const LocalMatrix& matrix, const OperandBlocks& blocks) {
  constexpr std::int64_t line = 8, enough = std::int64_t{1} << 20;  // nonzeros, about, and at most eight windows
  const std::vector<std::int64_t> windows = window_starts(matrix);
  const std::int64_t samples = std::clamp<std::int64_t>(enough * std::ssize(windows) / (matrix.entries() + 1), 1, 8);
  const auto stride = static_cast<size_t>(std::max<std::int64_t>(1, std::ssize(windows) / samples));
  std::vector<std::uint32_t> met(static_cast<size_t>(matrix.inputs / line) + 1, 0);
  Sample made;
  std::uint32_t round = 0;
  for (size_t w = stride / 2; w < windows.size(); w += stride) {
    ++round;
    const std::int64_t end = window_end(matrix, windows[w]);
    made.rows += end - windows[w];
    for (std::int64_t row = windows[w]; row < end; ++row) {
      std::int64_t least = 0;  // the beginning of the row's current block
      for (std::int64_t e = matrix.pointers[static_cast<size_t>(row)];
           e < matrix.pointers[static_cast<size_t>(row) + 1]; ++e) {
        const std::int64_t index = matrix.indices[static_cast<size_t>(e)];
        std::uint32_t& last = met[static_cast<size_t>(index / line)];
        made.lines += last == round ? 0 : 1;
        last = round;
        made.late += index < least ? 1 : 0;
        while (index >= least + blocks.width) least += blocks.width;
        ++made.entries;
      }
    }
  }
  return made;
}

}  // namespace

OperandBlocks blocks_that_pay(const LocalMatrix& matrix, std::int64_t count) {
  if (count <= 1) return {};
  // If owned elements are ordered by length within windows (numbering.h), nonzeros ascend from one of these to the
  // next.
  const std::int64_t windows = (matrix.inputs + count * order_window - 1) / (count * order_window);
  const OperandBlocks blocks{count, windows * order_window};
  const Sample sample = sample_windows(matrix, blocks);
  const bool ascend = 8 * sample.late <= sample.entries;
  return ascend && sample.lines >= count * sample.rows ? blocks : OperandBlocks{};
}

std::int64_t list_length(const LocalMatrix& matrix, OperandBlocks blocks, std::int64_t room) {
  return matrix.outputs * std::max(room, blocks.count);
}

SortedRows empty_sorted(const LocalMatrix& matrix, OperandBlocks blocks) {
  SortedRows sorted;
  sorted.outputs = matrix.outputs;
  sorted.blocks = blocks.count;
  const size_t windows = window_starts(matrix).size();
  sorted.in_order.assign(windows, 0);
  sorted.carried.assign(windows, 0);
  sorted.starts.assign(windows * static_cast<size_t>(blocks.count) + 1, matrix.entries());
  return sorted;
}

SortedRows sort_rows(const LocalMatrix& matrix, ThreadPool& pool, OperandBlocks blocks, std::int64_t room) {
  SortedRows sorted = empty_sorted(matrix, blocks);
  sorted.order.own().resize(static_cast<size_t>(list_length(matrix, blocks, room)));
  sorted.lengths.own().resize(static_cast<size_t>(list_length(matrix, blocks, room)));
  sorted.indices.own().resize(static_cast<size_t>(matrix.entries()));
  sorted.values = Array(matrix.element, matrix.values.count);
  const std::vector<std::int64_t> windows = window_starts(matrix);
  share_out(pool, std::ssize(windows), [&](int, std::int64_t w) {
    WindowSorter sorter(matrix, blocks, sorted, windows[static_cast<size_t>(w)], w);
    sorted.in_order[static_cast<size_t>(w)] = sorter.run() ? 1 : 0;
  });
  return sorted;
}

}  // namespace kasen
