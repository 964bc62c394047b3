// Sorted rows that come from a store: what follows from their lists, and whether these are what a product needs.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <limits>
#include <vector>

#include "libcore/base/error.h"
#include "libkernels/run/sorted_rows.h"

namespace kasen {
namespace {

constexpr std::int64_t longest_loaded = reduction_block;
// Raised whenever a change gives another form of the same matrix.
constexpr int sorted_version = 1;

// Walks through a window's lists as a product does.
class LoadedWindow {
 public:
  LoadedWindow(const LocalMatrix& matrix, SortedRows& sorted, std::int64_t first, std::int64_t number)
      : pointers_(matrix.pointers.data() + first),
        sorted_(sorted),
        first_(first),
        number_(number),
        count_(window_end(matrix, first) - first),
        left_(static_cast<size_t>(count_)) {}

  [[nodiscard]] bool complete() {
    std::int64_t carried = 0;
    for (std::int64_t row = 0; row < count_; ++row) {
      left_[static_cast<size_t>(row)] = length(row);
      carried += is_carried(row) ? 1 : 0;
    }
    const auto number = static_cast<size_t>(number_);
    if (sorted_.blocks > 1) sorted_.carried[number] = static_cast<std::int32_t>(carried);
    std::int64_t entry = pointers_[0];
    for (std::int64_t block = 0; block < sorted_.blocks; ++block) {
      sorted_.starts[static_cast<size_t>(number_ * sorted_.blocks + block)] = entry;
      if (!take(block, block == 0 ? count_ : carried, entry)) return false;
    }
    const std::uint16_t* const order = sorted_.order_from(first_);
    sorted_.in_order[number] = sorted_.blocks == 1 && std::is_sorted(order, order + count_) ? 1 : 0;
    return std::all_of(left_.begin(), left_.end(), [](std::int64_t entries) { return entries == 0; });
  }

 private:
  [[nodiscard]] std::int64_t length(std::int64_t row) const { return pointers_[row + 1] - pointers_[row]; }
  // Whether blocks behind the first one have the row.
  [[nodiscard]] bool is_carried(std::int64_t row) const { return length(row) > 0 && length(row) <= longest_loaded; }

  // Each row once, rows of more than 4096 nonzeros first and whole, the others by descending length of their pieces.
  bool take(std::int64_t block, std::int64_t rows, std::int64_t& entry) {
    const std::uint16_t *order = sorted_.order_from(first_, block), *lengths = sorted_.lengths_from(first_, block);
    std::bitset<sorted_window> met;
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t row = order[k];
      if (row >= count_ || met[static_cast<size_t>(row)] || (block > 0 && !is_carried(row))) return false;
      met.set(static_cast<size_t>(row));
      const bool whole = length(row) > longest_loaded;
      const std::int64_t piece = whole ? length(row) : lengths[k];
      if (whole && lengths[k] != std::min<std::int64_t>(piece, std::numeric_limits<std::uint16_t>::max())) return false;
      const std::int64_t place = std::min(piece, longest_loaded + 1);
      std::int64_t& left = left_[static_cast<size_t>(row)];
      if (place > before || piece > left) return false;
      before = place;
      left -= piece;
      entry += piece;
    }
    return true;
  }

  const std::int64_t* pointers_;
  SortedRows& sorted_;
  std::int64_t first_, number_, count_;
  std::vector<std::int64_t> left_;  // nonzeros of each row that no block has had yet
};

}  // namespace

bool complete(SortedRows& sorted, const LocalMatrix& matrix, ThreadPool& pool) {
  std::vector<std::int64_t> windows;
  for (std::int64_t row = 0; row < matrix.outputs; row = window_end(matrix, row)) windows.push_back(row);
  std::atomic<bool> good = true;
  share_out(pool, std::ssize(windows), [&](int, std::int64_t w) {
    if (!LoadedWindow(matrix, sorted, windows[static_cast<size_t>(w)], w).complete()) good = false;
  });
  return good;
}

SortedRows sorted_rows(const LocalMatrix& matrix, ThreadPool& pool, OperandBlocks blocks, std::int64_t room,
                       const KeptMatrix& kept) {
  if (kept.forms == nullptr) return sort_rows(matrix, pool, blocks, room);
  const FormName name{
      fmt::format("{}; rows sorted {}, windows of {}, slices of {}, {} blocks of {} in room for {}", kept.name.text,
                  sorted_version, sorted_window, reduction_lanes, blocks.count, blocks.width, room),
      kept.name.worker};
  const std::int64_t lists = list_length(matrix, blocks, room);
  std::vector<FormShape> shapes{{2 * lists}, {2 * lists}, {4 * matrix.entries(), matrix.inputs}};
  if (matrix.values.count > 0) shapes.push_back({matrix.values.bytes.size()});
  if (const auto form = kept.forms->load(name, shapes)) {
    SortedRows loaded = empty_sorted(matrix, blocks);
    loaded.order = list_at<std::uint16_t>(*form, 0, lists);
    loaded.lengths = list_at<std::uint16_t>(*form, 1, lists);
    loaded.indices = list_at<std::int32_t>(*form, 2, matrix.entries());
    if (shapes.size() > 3) loaded.values = array_at(matrix.element, matrix.values.count, *form, 3);
    if (complete(loaded, matrix, pool) && holds_booleans(loaded.values)) return loaded;
    fail(ExitStatus::bad_input, "a matrix's kept form with sorted rows has other rows than the matrix",
         fmt::format("on worker {}: it is not as it was written", name.worker), "partition the data again");
  }
  SortedRows made = sort_rows(matrix, pool, blocks, room);
  std::vector<std::span<const std::byte>> arrays{bytes_of_list(made.order), bytes_of_list(made.lengths),
                                                 bytes_of_list(made.indices)};
  if (matrix.values.count > 0) arrays.push_back(bytes_of_list(made.values.bytes));
  kept.forms->keep(name, arrays);
  return made;
}

}  // namespace kasen
