#include "libcore/data/arrangement.h"

#include <algorithm>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// Rows and columns of a tile: what a transposition reads stays in the cache until all of it is used.
constexpr std::size_t tile = 32;

std::vector<std::int64_t> taken_last(std::vector<std::vector<std::int64_t>>& axes) {
  if (axes.empty()) return {0};
  std::vector<std::int64_t> last = std::move(axes.back());
  axes.pop_back();
  return last;
}

bool is_run(const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] != offsets[0] + static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

Arrangement::Arrangement(std::vector<std::vector<std::int64_t>> offsets) : outer_(std::move(offsets)) {
  along_ = taken_last(outer_);
  rows_ = taken_last(outer_);
  const auto count = [](const auto& axis) { return static_cast<std::int64_t>(axis.size()); };
  size_ = checked_mul(count(along_), count(rows_), "an array's local size");
  for (const auto& axis : outer_) size_ = checked_mul(size_, count(axis), "an array's local size");
}

// Calls move(place in the array, place in the new order) for each tuple of indices of the outer axes.
template <class Move>
void Arrangement::for_each_plane_of_two(const Move& move) const {
  if (size_ == 0) return;
  std::vector<std::size_t> index(outer_.size(), 0);
  const auto step = static_cast<std::int64_t>(rows_.size() * along_.size());
  for (std::int64_t at = 0; at < size_; at += step) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) place += outer_[axis][index[axis]];
    move(place, at);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < outer_[axis].size()) break;
      index[axis] = 0;
    }
  }
}

// Calls copy(row, first column, end of the columns) for tiles of the last two axes, row by row.
template <class Copy>
void for_tiles(std::size_t rows, std::size_t columns, const Copy& copy) {
  for (std::size_t r0 = 0; r0 < rows; r0 += tile) {
    for (std::size_t c0 = 0; c0 < columns; c0 += tile) {
      for (std::size_t r = r0; r < std::min(r0 + tile, rows); ++r) copy(r, c0, std::min(c0 + tile, columns));
    }
  }
}

template <class T>
void Arrangement::copy_to(const std::byte* array, std::byte* arranged) const {
  const T* const from = reinterpret_cast<const T*>(array);
  const std::size_t rows = rows_.size(), columns = along_.size();
  const bool run = is_run(along_);
  for_each_plane_of_two([&](std::int64_t place, std::int64_t at) {
    T* const to = reinterpret_cast<T*>(arranged) + at;
    if (run) {
      for (std::size_t r = 0; r < rows; ++r)
        std::copy_n(from + place + rows_[r] + along_[0], columns, to + r * columns);
      return;
    }
    for_tiles(rows, columns, [&](std::size_t r, std::size_t first, std::size_t end) {
      const T* const row = from + place + rows_[r];
      for (std::size_t c = first; c < end; ++c) to[r * columns + c] = row[along_[c]];
    });
  });
}

template <class T>
void Arrangement::copy_back(const std::byte* arranged, std::byte* array) const {
  T* const to = reinterpret_cast<T*>(array);
  const std::size_t columns = along_.size();
  for_each_plane_of_two([&](std::int64_t place, std::int64_t at) {
    const T* const from = reinterpret_cast<const T*>(arranged) + at;
    for_tiles(rows_.size(), columns, [&](std::size_t r, std::size_t first, std::size_t end) {
      T* const row = to + place + rows_[r];
      for (std::size_t c = first; c < end; ++c) row[along_[c]] = from[r * columns + c];
    });
  });
}

void Arrangement::arrange(const std::byte* array, std::byte* arranged, std::int64_t scalar_bytes) const {
  switch (scalar_bytes) {
    case 1:
      return copy_to<std::uint8_t>(array, arranged);
    case 4:
      return copy_to<std::uint32_t>(array, arranged);
    case 8:
      return copy_to<std::uint64_t>(array, arranged);
    default:
      throw InternalError("a scalar of another size");
  }
}

void Arrangement::restore(const std::byte* arranged, std::byte* array, std::int64_t scalar_bytes) const {
  switch (scalar_bytes) {
    case 1:
      return copy_back<std::uint8_t>(arranged, array);
    case 4:
      return copy_back<std::uint32_t>(arranged, array);
    case 8:
      return copy_back<std::uint64_t>(arranged, array);
    default:
      throw InternalError("a scalar of another size");
  }
}

}  // namespace kasen
