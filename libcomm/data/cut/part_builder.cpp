#include "libcomm/data/cut/part_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "libcomm/data/base/huge_pages.h"
#include "libcomm/data/base/parallel.h"
#include "libcore/base/checked.h"

namespace kasen {

struct PartBuilder::Place {
  std::int64_t first = 0;
  std::int64_t low_row = std::numeric_limits<std::int64_t>::max(), high_row = -1;
};

PartBuilder::PartBuilder(const MatrixCut& cut, int worker, std::span<EntryList> groups)
    : cut_(cut), worker_(worker), groups_(groups) {
  for (const EntryList& group : groups_) count_ += group.count();
  if (count_ > std::numeric_limits<std::uint32_t>::max())
    fail(ExitStatus::limit, fmt::format("worker {} would hold {} entries of '{}'", worker_, count_, cut_.name),
         "at most 2^32 - 1 are supported", "use more workers");
  matrix_ = {.row_dim = cut_.row->name, .col_dim = cut_.col->name, .element = cut_.element};
  matrix_.batches = cut_.batches;
}

PartMatrix PartBuilder::build(AxisNumbers& rows, AxisNumbers& cols, std::size_t threads) {
  show(rows, cols);
  matrix_.row_slaves = rows.list(*cut_.row, worker_);
  matrix_.col_slaves = cols.list(*cut_.col, worker_);
  make_pointers();
  reserve_large(matrix_.columns, static_cast<std::size_t>(count_));
  if (cut_.element.bytes() > 0) matrix_.values = Array(cut_.element, count_);
  loose_.resize(threads);
  constexpr std::int64_t few_entries = std::int64_t{1} << 24;
  for (std::size_t first = 0, last = 0; first < groups_.size(); first = last) {
    last = wave_end(first, threads, few_entries);
    take_wave(first, last, std::ssize(matrix_.columns), rows, cols);
  }
  std::partial_sum(matrix_.row_pointers.begin(), matrix_.row_pointers.end(), matrix_.row_pointers.begin());
  rows.forget(matrix_.row_slaves);
  cols.forget(matrix_.col_slaves);
  return std::move(matrix_);
}

PartMatrix PartBuilder::list(AxisNumbers& rows, AxisNumbers& cols) {
  show(rows, cols);
  matrix_.row_slaves = rows.list(*cut_.row, worker_);
  matrix_.col_slaves = cols.list(*cut_.col, worker_);
  rows.forget(matrix_.row_slaves);
  cols.forget(matrix_.col_slaves);
  return std::move(matrix_);
}

void PartBuilder::pass(PartMatrix& matrix, std::size_t threads, const SpilledEntries::Take& take) {
  matrix_ = std::move(matrix);
  AxisNumbers rows, cols;
  rows.recall(matrix_.row_slaves, *cut_.row, worker_);
  cols.recall(matrix_.col_slaves, *cut_.col, worker_);
  make_pointers();
  loose_.resize(threads);
  std::int64_t at = 0;
  for (std::size_t first = 0, last = 0; first < groups_.size(); first = last) {
    last = wave_end(first, threads, 0);
    std::int64_t count = 0;
    for (std::size_t g = first; g < last; ++g) count += groups_[g].count();
    matrix_.columns.clear();
    matrix_.values = Array(cut_.element, cut_.element.bytes() > 0 ? count : 0);
    take_wave(first, last, 0, rows, cols);
    take(at, matrix_.columns, matrix_.values);
    at += count;
  }
  matrix_.columns = {};
  matrix_.values = {};
  std::partial_sum(matrix_.row_pointers.begin(), matrix_.row_pointers.end(), matrix_.row_pointers.begin());
  matrix = std::move(matrix_);
}

std::size_t PartBuilder::wave_end(std::size_t first, std::size_t threads, std::int64_t few_entries) const {
  std::size_t end = first;
  for (std::int64_t count = 0; end < groups_.size(); ++end) {
    count += groups_[end].count();
    if (end >= first + threads && count > few_entries) break;
  }
  return end;
}

void PartBuilder::show(AxisNumbers& rows, AxisNumbers& cols) const {
  if (cut_.row->all_here(worker_) && cut_.col->all_here(worker_)) return;
  for (const EntryList& group : groups_) {
    for (const EntryChunk& chunk : group.chunks) {
      LooseEntries loose(chunk);
      if (cut_.batches != 1)
        for (std::int64_t& line : loose.rows) line %= cut_.row->size;
      rows.show(loose.rows, *cut_.row, worker_);
      cols.show(loose.cols, *cut_.col, worker_);
    }
  }
}

std::int64_t PartBuilder::rows_of_a_batch() const {
  return cut_.row->masters_of(worker_) + std::ssize(matrix_.row_slaves.slaves);
}

void PartBuilder::make_pointers() {
  const std::int64_t rows = checked_mul(cut_.batches, rows_of_a_batch(), "a part's rows");
  matrix_.row_pointers.resize(static_cast<std::size_t>(rows) + 1);
}

void PartBuilder::number_rows(std::vector<std::int64_t>& lines, const AxisNumbers& rows) const {
  if (cut_.batches == 1 || cut_.row->all_here(worker_)) return rows.number(lines, *cut_.row, worker_);
  const std::int64_t size = cut_.row->size, local = rows_of_a_batch();
  constexpr std::size_t at_once = 4096;
  std::vector<std::int64_t> some;
  for (std::size_t begin = 0; begin < lines.size(); begin += at_once) {
    const std::size_t count = std::min(at_once, lines.size() - begin);
    some.resize(count);
    for (std::size_t k = 0; k < count; ++k) some[k] = lines[begin + k] % size;
    rows.number(some, *cut_.row, worker_);
    for (std::size_t k = 0; k < count; ++k) lines[begin + k] = lines[begin + k] / size * local + some[k];
  }
}

void PartBuilder::take_wave(std::size_t first, std::size_t last, std::int64_t at, const AxisNumbers& rows,
                            const AxisNumbers& cols) {
  std::vector<Place> places;
  for (std::size_t g = first; g < last; ++g) {
    places.push_back({.first = at});
    at += groups_[g].count();
  }
  matrix_.columns.resize(static_cast<std::size_t>(at));
  const auto work = [&](std::int64_t k, int thread) {
    const auto place = static_cast<std::size_t>(k);
    take_group(groups_[first + place], rows, cols, loose_[static_cast<std::size_t>(thread)], places[place]);
    groups_[first + place] = {};
  };
  const auto count = static_cast<std::int64_t>(places.size());
  if (loose_.size() > 1) parallel_for(count, work);
  for (std::int64_t k = 0; loose_.size() == 1 && k < count; ++k) work(k, 0);
  release_freed_memory();
  for (const Place& place : places) {
    if (place.low_row <= last_row_) throw InternalError("groups of rows overlap");
    last_row_ = std::max(last_row_, place.high_row);
  }
}

// Sorts the group's entries by row, then column, and counts those of each row.
void PartBuilder::take_group(const EntryList& group, const AxisNumbers& rows, const AxisNumbers& cols,
                             LooseEntries& loose, Place& place) {
  loose.load(group);
  number_rows(loose.rows, rows);
  cols.number(loose.cols, *cut_.col, worker_);
  const bool ordered = in_order(loose.rows, loose.cols);
  const std::vector<std::uint32_t> order =
      ordered ? std::vector<std::uint32_t>() : sorted_order(loose.rows, loose.cols);
  std::int32_t* const columns = matrix_.columns.data() + place.first;
  std::int64_t row = -1, col = -1;
  for (std::size_t k = 0; k < loose.rows.size(); ++k) {
    const std::size_t from = ordered ? k : order[k];
    if (row == loose.rows[from] && col == loose.cols[from])
      throw InternalError(fmt::format("input '{}' reached the partitioner with a repeated entry", cut_.name));
    row = loose.rows[from];
    col = loose.cols[from];
    if (k == 0) place.low_row = row;
    ++matrix_.row_pointers[static_cast<std::size_t>(row) + 1];
    columns[k] = static_cast<std::int32_t>(col);
  }
  place.high_row = row;
  if (cut_.element.bytes() > 0) take_values(group, order, place.first);
}

// `order` is empty if the values are in order already.
void PartBuilder::take_values(const EntryList& group, const std::vector<std::uint32_t>& order, std::int64_t first) {
  const Array values = order.empty() ? Array() : group.values();
  const auto width = [&](std::int64_t p) { return scalar_bytes(cut_.element.plane_scalar(p)); };
  for (std::int64_t p = 0; p < cut_.element.planes() && !order.empty(); ++p) {
    std::byte* to = matrix_.values.plane(p) + first * width(p);
    for (const std::uint32_t k : order) to = std::copy_n(values.plane(p) + k * width(p), width(p), to);
  }
  if (!order.empty()) return;
  PackedValues room;
  for (const EntryChunk& chunk : group.chunks) {
    const PackedValues& held = chunk.values.held(room);
    for (std::int64_t p = 0; p < cut_.element.planes(); ++p)
      std::copy_n(held.plane(group.element, p), chunk.count() * width(p), matrix_.values.plane(p) + first * width(p));
    first += chunk.count();
  }
}

}  // namespace kasen
