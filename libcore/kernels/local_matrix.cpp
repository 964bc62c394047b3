#include "libcore/kernels/local_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/kernels/local_matrix_source.h"
#include "libcore/kernels/plane_mover.h"

namespace kasen {
namespace {

// The position in a space of each local index of one of the matrix's axes. Ghosts of both are grouped by owner and
// ascend within a group, so two merges find them all. Ghosts that the space lacks are `absent_place`.
LargeVector<std::int32_t> place_axis(std::int64_t masters, const AxisSlaves& axis, const LocalSpace& space) {
  LargeVector<std::int32_t> places(static_cast<size_t>(masters) + axis.slaves.size(), absent_place);
  if (space.place.empty()) {
    std::iota(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(masters), 0);
  } else {
    std::copy(space.place.begin(), space.place.end(), places.begin());
  }
  for (const PeerRange& from : axis.slave_owners) {
    const auto owner = std::find_if(space.slave_owners.begin(), space.slave_owners.end(),
                                    [&](const PeerRange& r) { return r.peer == from.peer; });
    if (owner == space.slave_owners.end()) continue;
    std::int64_t k = owner->begin;
    for (std::int64_t i = from.begin; i < from.end; ++i) {
      const std::int64_t wanted = axis.slaves.at(static_cast<size_t>(i));
      while (k < owner->end && space.ghost(k) < wanted) ++k;
      if (k == owner->end || space.ghost(k) != wanted) continue;
      places[static_cast<size_t>(masters + i)] = static_cast<std::int32_t>(masters + k);
    }
  }
  return places;
}

// Local indices of a space in ascending order of their global ones. The part's owned elements ascend, and so do each
// owner's ghosts.
std::vector<std::int32_t> order_by_global(const LocalSpace& space) {
  std::vector<std::int32_t> order(static_cast<size_t>(space.total));
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) { return space.global(a) < space.global(b); };
  std::copy(space.place.begin(), space.place.end(), order.begin());
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(space.masters);
  std::sort(middle, order.end(), before);
  std::inplace_merge(order.begin(), middle, order.end(), before);
  return order;
}

void check_shape(const PartMatrix& matrix, size_t rows) {
  const std::vector<std::int64_t>& pointers = matrix.row_pointers;
  const bool whole =
      pointers.size() == rows + 1 && pointers.front() == 0 && std::is_sorted(pointers.begin(), pointers.end());
  const auto has = [&](std::int64_t count) { return whole && pointers.back() == count; };
  if (whole && matrix.on_disk != nullptr) return;
  if (has(std::ssize(matrix.columns)) && (matrix.element.bytes() == 0 || has(matrix.values.count))) return;
  fail(ExitStatus::bad_input, "a matrix part has a wrong number of rows or nonzeros",
       "its dimension, slaves and pointers do not agree", "partition the data again");
}

// Brings the values of nonzeros to their places, and their numbers if the form has them.
class EntryMover {
 public:
  EntryMover(const Array& from, LocalMatrix& to, bool numbered)
      : values_(from, to.values), numbers_(numbered ? to.numbers.own().data() : nullptr) {}

  void move(std::int64_t from, std::int64_t to) const {
    values_.move(from, to);
    if (numbers_ != nullptr) numbers_[to] = static_cast<std::int32_t>(from);
  }
  void move_run(std::int64_t from, std::int64_t to, std::int64_t count) const {
    values_.move_run(from, to, count);
    if (numbers_ != nullptr) std::iota(numbers_ + to, numbers_ + to + count, static_cast<std::int32_t>(from));
  }

 private:
  PlaneMover values_;
  std::int32_t* numbers_;
};

// mxv: outputs are columns. Rows are taken in ascending global order, so that each output's nonzeros ascend, too.
// Nonzeros are counted and placed by the part's own columns, because each lookup of a position would be a random
// access.
void pull_columns(const MatrixSource& source, const LocalSpace& operand, LocalMatrix& local, bool numbered) {
  LargeVector<std::int64_t>& pointers = local.pointers.own();
  LargeVector<std::int64_t> next(source.cols.size(), 0);
  for (const std::int32_t c : source.matrix.columns) {
    if (static_cast<size_t>(c) >= next.size()) MatrixSource::outside();
    ++next[static_cast<size_t>(c)];
  }
  for (size_t c = 0; c < next.size(); ++c) {
    if (next[c] > 0 && source.cols[c] == absent_place) MatrixSource::outside();
    if (source.cols[c] != absent_place) pointers[static_cast<size_t>(source.cols[c]) + 1] = next[c];
  }
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  for (size_t c = 0; c < next.size(); ++c)
    if (source.cols[c] != absent_place) next[c] = pointers[static_cast<size_t>(source.cols[c])];
  LargeVector<size_t> row_at(static_cast<size_t>(operand.total), SIZE_MAX);
  for (size_t r = 0; r < source.rows.size(); ++r) {
    const std::int32_t at = source.row(r);
    if (at != absent_place) row_at[static_cast<size_t>(at)] = r;
  }
  const EntryMover values(source.matrix.values, local, numbered);
  std::int32_t* const indices = local.indices.own().data();
  for (const std::int32_t at : order_by_global(operand)) {
    const size_t r = row_at[static_cast<size_t>(at)];
    if (r == SIZE_MAX) continue;
    for (std::int64_t e = source.matrix.row_pointers[r]; e < source.matrix.row_pointers[r + 1]; ++e) {
      const std::int64_t to = next[static_cast<size_t>(source.matrix.columns[static_cast<size_t>(e)])]++;
      indices[to] = at;
      values.move(e, to);
    }
  }
}

// Copies the operands of a row's nonzeros to `indices`. False if they do not ascend by their global indices. Owned
// elements ascend in the part's numbering, so their global indices need no check.
bool copy_ascending(const MatrixSource& source, const LocalSpace& operand, std::int64_t begin, std::int64_t end,
                    std::int32_t* indices) {
  const auto global = [&](std::int32_t place) { return operand.global(place); };
  std::int32_t before = 0;
  for (std::int64_t e = begin; e < end; ++e, ++indices) {
    const std::int32_t column = source.matrix.columns[static_cast<size_t>(e)];
    *indices = source.col(e);
    const bool masters = column < operand.masters && before < operand.masters;
    if (e > begin && (masters ? column < before : global(indices[0]) < global(indices[-1]))) return false;
    before = column;
  }
  return true;
}

// mxvt: outputs are rows. A row's nonzeros are sorted if ghosts among the columns break the order.
void pull_rows(const MatrixSource& source, const LocalSpace& operand, LocalMatrix& local, bool numbered) {
  LargeVector<std::int64_t>& pointers = local.pointers.own();
  std::int32_t* const indices = local.indices.own().data();
  for (size_t r = 0; r < source.rows.size(); ++r) {
    const std::int32_t at = source.row(r);
    if (at == absent_place) continue;
    pointers[static_cast<size_t>(at) + 1] = source.matrix.row_pointers[r + 1] - source.matrix.row_pointers[r];
  }
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  const EntryMover values(source.matrix.values, local, numbered);
  std::vector<std::pair<std::int64_t, std::int64_t>> row;  // global column, nonzero
  for (size_t r = 0; r < source.rows.size(); ++r) {
    if (source.rows[r] == absent_place) continue;
    std::int64_t to = pointers[static_cast<size_t>(source.rows[r])];
    const std::int64_t begin = source.matrix.row_pointers[r], end = source.matrix.row_pointers[r + 1];
    if (copy_ascending(source, operand, begin, end, indices + to)) {
      values.move_run(begin, to, end - begin);
      continue;
    }
    row.clear();
    for (std::int64_t e = begin; e < end; ++e) row.emplace_back(operand.global(source.col(e)), e);
    std::sort(row.begin(), row.end());
    for (const auto& [global, e] : row) {
      indices[to] = source.col(e);
      values.move(e, to++);
    }
  }
}

// Pointers, indices and values.
std::vector<FormShape> form_shapes(const PartMatrix& matrix, const LocalSpace& operand, const LocalSpace& result) {
  const std::int64_t entries = std::ssize(matrix.columns);
  std::vector<FormShape> shapes{{8 * (result.total + 1)}, {4 * entries, operand.total}};
  if (matrix.element.bytes() > 0) shapes.push_back({storage_bytes(matrix.element, entries)});
  return shapes;
}

LocalMatrix loaded_matrix(const LoadedForm& form, LocalMatrix local, const PartMatrix& matrix) {
  const std::int64_t entries = std::ssize(matrix.columns);
  local.pointers = list_at<std::int64_t>(form, 0, local.outputs + 1);
  local.indices = list_at<std::int32_t>(form, 1, entries);
  if (form.arrays.size() > 2) local.values = array_at(matrix.element, entries, form, 2);
  const bool good = local.pointers.front() == 0 && local.pointers.back() == entries &&
                    std::is_sorted(local.pointers.begin(), local.pointers.end());
  if (good && holds_booleans(local.values)) return local;
  fail(ExitStatus::bad_input, "the kept form of a matrix is not as it was written",
       good ? "a bool is neither true nor false" : "its pointers do not ascend to the number of its nonzeros",
       "partition the data again");
}

}  // namespace

MatrixSource::MatrixSource(const PartMatrix& of, bool transposed, const LocalSpace& operand, const LocalSpace& result)
    : matrix(of) {
  const LocalSpace& row_space = transposed ? result : operand;
  const LocalSpace& col_space = transposed ? operand : result;
  rows = place_axis(row_space.masters, of.row_slaves, row_space);
  cols = place_axis(col_space.masters, of.col_slaves, col_space);
  check_shape(of, rows.size());
}

void MatrixSource::outside() {
  fail(ExitStatus::bad_input, "a matrix part has nonzeros outside the product's spaces",
       "their rows and columns are neither masters nor slaves of it", "partition the data again");
}

LocalMatrix sized_local_matrix(const PartMatrix& matrix, const LocalSpace& operand, const LocalSpace& result) {
  LocalMatrix local;
  local.outputs = result.total;
  local.masters = result.masters;
  local.inputs = operand.total;
  local.element = matrix.element;
  return local;
}

LocalMatrix local_matrix(const PartMatrix& matrix, bool transposed, const LocalSpace& operand, const LocalSpace& result,
                         FormStore* forms, const FormName& name) {
  if (forms == nullptr) return make_local_matrix(matrix, transposed, operand, result);
  if (const auto form = forms->load(name, form_shapes(matrix, operand, result)))
    return loaded_matrix(*form, sized_local_matrix(matrix, operand, result), matrix);
  LocalMatrix made = make_local_matrix(matrix, transposed, operand, result);
  std::vector<std::span<const std::byte>> arrays{bytes_of_list(made.pointers), bytes_of_list(made.indices)};
  if (matrix.element.bytes() > 0) arrays.push_back(bytes_of_list(made.values.bytes));
  forms->keep(name, arrays);
  return made;
}

LocalMatrix make_local_matrix(const PartMatrix& matrix, bool transposed, const LocalSpace& operand,
                              const LocalSpace& result, bool numbered) {
  if (numbered && std::ssize(matrix.columns) > std::numeric_limits<std::int32_t>::max()) {
    fail(ExitStatus::limit, fmt::format("a part with {} nonzeros", matrix.columns.size()),
         "values at nonzeros are numbered by 31 bits on each worker", "partition the data for more workers");
  }
  const MatrixSource source(matrix, transposed, operand, result);
  LocalMatrix local = sized_local_matrix(matrix, operand, result);
  local.pointers.own().assign(static_cast<size_t>(result.total) + 1, 0);
  local.indices.own().resize(matrix.columns.size());
  if (matrix.element.bytes() > 0) {
    local.values = Array(matrix.element, static_cast<std::int64_t>(matrix.columns.size()));
  }
  if (numbered) local.numbers.own().resize(matrix.columns.size());
  if (transposed) {
    pull_rows(source, operand, local, numbered);
  } else {
    pull_columns(source, operand, local, numbered);
  }
  return local;
}

}  // namespace kasen
