#include "libkernels/dense/turn_columns.h"

#include <type_traits>

namespace kasen {
namespace {

// Calls move(plane's element, row's element) for every element, in words of the scalar's size. `Bytes`: std::byte, or
// const.
template <class Word, class Bytes, class Move>
void each_word(const View& planes, std::int64_t stride, Range range, Bytes* rows, RowShape shape, const Move& move) {
  auto* plane = reinterpret_cast<Word*>(planes.data) + range.begin;
  auto* row = reinterpret_cast<std::conditional_t<std::is_const_v<Bytes>, const Word, Word>*>(rows);
  for (std::int64_t k = 0; k < shape.columns; ++k) {
    for (std::int64_t i = 0; i < range.size(); ++i) move(plane[k * stride + i], row[i * shape.stride + k]);
  }
}

template <class Bytes, class Move>
void each(Scalar scalar, const View& planes, Range range, Bytes* rows, RowShape shape, const Move& move) {
  const std::int64_t stride = plane_stride(scalar, planes.capacity);
  switch (scalar_bytes(scalar)) {
    case 8:
      return each_word<std::uint64_t>(planes, stride, range, rows, shape, move);
    case 4:
      return each_word<std::uint32_t>(planes, stride, range, rows, shape, move);
    default:
      return each_word<std::uint8_t>(planes, stride, range, rows, shape, move);
  }
}

}  // namespace

std::int64_t plane_stride(Scalar scalar, std::int64_t capacity) {
  return (capacity * scalar_bytes(scalar) + 63) / 64 * 64 / scalar_bytes(scalar);
}

void to_planes(Scalar scalar, const std::byte* rows, const View& planes, Range range, RowShape shape) {
  each(scalar, planes, range, rows, shape, [](auto& plane, const auto& row) { plane = row; });
}

void from_planes(Scalar scalar, const View& planes, Range range, std::byte* rows, std::int64_t columns) {
  each(scalar, planes, range, rows, RowShape(columns), [](const auto& plane, auto& row) { row = plane; });
}

}  // namespace kasen
