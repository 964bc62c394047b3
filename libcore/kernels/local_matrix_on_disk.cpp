#include "libcore/kernels/local_matrix_on_disk.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/kernels/plane_mover.h"

namespace kasen {

FormOnDisk::FormOnDisk(const PartMatrix& matrix, bool transposed, const LocalSpace& operand, const LocalSpace& result)
    : matrix_(matrix),
      transposed_(transposed),
      operand_(operand),
      result_(result),
      source_(matrix, transposed, operand, result) {}

LocalMatrix FormOnDisk::numbered() const {
  LocalMatrix form = sized_local_matrix(matrix_, operand_, result_);
  LargeVector<std::int64_t>& pointers = form.pointers.own();
  pointers.assign(static_cast<std::size_t>(form.outputs) + 1, 0);
  const auto count = [&](std::int32_t place, std::int64_t entries) {
    if (place == absent_place && entries > 0) MatrixSource::outside();
    if (place != absent_place) pointers[static_cast<std::size_t>(place) + 1] = entries;
  };
  if (transposed_) {
    for (std::size_t r = 0; r < source_.rows.size(); ++r)
      count(source_.row(r), matrix_.row_pointers[r + 1] - matrix_.row_pointers[r]);
  } else {
    const std::vector<std::uint32_t>& in_column = matrix_.on_disk->in_column;
    if (in_column.size() > source_.cols.size()) MatrixSource::outside();
    for (std::size_t c = 0; c < in_column.size(); ++c) count(source_.cols[c], in_column[c]);
  }
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  return form;
}

std::vector<FormPiece> FormOnDisk::pieces(const LocalMatrix& form, std::int64_t first, std::int64_t last,
                                          std::int64_t most) const {
  std::vector<FormPiece> found;
  if (first >= last) return found;
  const std::int64_t* const pointers = form.pointers.data();
  const std::int64_t* const end = pointers + form.outputs + 1;
  const std::int64_t stop = std::lower_bound(pointers, end, last) - pointers;
  for (std::int64_t at = std::upper_bound(pointers, end, first) - pointers - 1; at < stop;) {
    const std::int64_t fitting = std::upper_bound(pointers + at, end, pointers[at] + most) - pointers - 1;
    const std::int64_t next = std::min(stop, std::max(at + 1, fitting));
    found.push_back({at, next, 0, matrix_.entries()});
    at = next;
  }
  if (!transposed_) return found;
  // The rows that have a piece's outputs need not be all.
  for (FormPiece& piece : found) std::swap(piece.first_source, piece.last_source);
  for (std::size_t r = 0; r < source_.rows.size(); ++r) {
    const std::int64_t place = source_.rows[r], begin = matrix_.row_pointers[r], until = matrix_.row_pointers[r + 1];
    if (begin == until || place < found.front().first_output || place >= stop) continue;
    const auto piece = std::upper_bound(found.begin(), found.end(), place,
                                        [](std::int64_t p, const FormPiece& f) { return p < f.last_output; });
    piece->first_source = std::min(piece->first_source, begin);
    piece->last_source = std::max(piece->last_source, until);
  }
  return found;
}

void FormOnDisk::fill(const LocalMatrix& form, const FormPiece& piece, stream::MatrixEntries& entries,
                      std::int32_t* indices, Array& values) {
  if (transposed_) {
    fill_rows(form, piece, entries, indices, values);
  } else {
    fill_columns(form, piece, entries, indices, values);
  }
  if (operand_.total > operand_.masters) sort(form, piece, indices, values);
}

void FormOnDisk::fill_columns(const LocalMatrix& form, const FormPiece& piece, stream::MatrixEntries& entries,
                              std::int32_t* indices, Array& values) {
  const auto inside = [&](std::int32_t place) { return place >= piece.first_output && place < piece.last_output; };
  next_.resize(source_.cols.size());
  for (std::size_t c = 0; c < next_.size(); ++c)
    if (inside(source_.cols[c])) next_[c] = form.pointers[static_cast<std::size_t>(source_.cols[c])];
  const PlaneMover mover(entries.values(), values);
  const auto take = [&](std::size_t row, std::int64_t begin, std::int64_t end) {
    const std::int32_t at = source_.row(row);
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int32_t column = entries.columns()[e], place = source_.place_of_column(column);
      if (!inside(place)) continue;
      const std::int64_t to = next_[static_cast<std::size_t>(column)]++;
      if (to >= form.pointers[static_cast<std::size_t>(place) + 1])
        MatrixSource::outside();  // it was counted otherwise
      indices[to] = at;
      mover.move(e, to);
    }
  };
  entries.each_of_rows(piece.first_source, piece.last_source, take);
}

void FormOnDisk::fill_rows(const LocalMatrix& form, const FormPiece& piece, stream::MatrixEntries& entries,
                           std::int32_t* indices, Array& values) const {
  const PlaneMover mover(entries.values(), values);
  const auto take = [&](std::size_t row, std::int64_t begin, std::int64_t end) {
    const std::int32_t place = source_.row(row);
    if (place < piece.first_output || place >= piece.last_output) return;
    const std::int64_t to = form.pointers[static_cast<std::size_t>(place)] + begin - matrix_.row_pointers[row];
    for (std::int64_t e = begin; e < end; ++e) indices[to + e - begin] = source_.place_of_column(entries.columns()[e]);
    mover.move_run(begin, to, end - begin);
  };
  entries.each_of_rows(piece.first_source, piece.last_source, take);
}

// Ghosts come behind owned elements, by owner: the nonzeros of an output then do not ascend by their global indices.
void FormOnDisk::sort(const LocalMatrix& form, const FormPiece& piece, std::int32_t* indices, Array& values) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;  // global index, place
  for (std::int64_t o = piece.first_output; o < piece.last_output; ++o) {
    const std::int64_t begin = form.pointers[static_cast<std::size_t>(o)];
    const std::int64_t count = form.pointers[static_cast<std::size_t>(o) + 1] - begin;
    std::int32_t* const own = indices + begin;
    order.clear();
    for (std::int64_t k = 0; k < count; ++k) order.emplace_back(operand_.global(own[k]), k);
    if (std::is_sorted(order.begin(), order.end())) continue;
    std::sort(order.begin(), order.end());
    const std::vector<std::int32_t> before(own, own + count);
    Array moved(values.element, values.count > 0 ? count : 0);
    const PlaneMover away(values, moved), back(moved, values);
    if (moved.count > 0) away.move_run(begin, 0, count);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t from = order[static_cast<std::size_t>(k)].second;
      own[k] = before[static_cast<std::size_t>(from)];
      if (moved.count > 0) back.move(from, begin + k);
    }
  }
}

}  // namespace kasen
