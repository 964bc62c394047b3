// Arrays with columns: operands and results have a row's columns side by side. In loops with a lane for each row, each
// column is a plane (lift_columns.h).
#pragma once

#include "libcore/data/data.h"
#include "libcore/kernels/kernel_set.h"

namespace kasen {

// Elements from one plane of `capacity` to the next.
[[nodiscard]] std::int64_t plane_stride(Scalar scalar, std::int64_t capacity);

// `columns` scalars of each row, side by side; the next row's begin `stride` scalars later.
struct RowShape {
  explicit RowShape(std::int64_t all) : columns(all), stride(all) {}
  RowShape(std::int64_t some, std::int64_t all) : columns(some), stride(all) {}
  std::int64_t columns, stride;
};

// Moves elements `range` of the planes from rows, or to rows; the first row is at `rows`.
void to_planes(Scalar scalar, const std::byte* rows, const View& planes, Range range, RowShape shape);
void from_planes(Scalar scalar, const View& planes, Range range, std::byte* rows, std::int64_t columns);

}  // namespace kasen
