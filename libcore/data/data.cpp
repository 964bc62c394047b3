#include "libcore/data/data.h"

#include <algorithm>
#include <utility>

#include "libcore/base/checked.h"

namespace kasen {
namespace {

std::int64_t plane_bytes(Scalar scalar, std::int64_t capacity) {
  const std::int64_t bytes = checked_mul(capacity, scalar_bytes(scalar), "an array's size");
  return checked_add(bytes, 63, "an array's size") / 64 * 64;
}

}  // namespace

std::int64_t plane_offset(const ElementType& element, std::int64_t capacity, std::int64_t plane) {
  std::int64_t offset = 0;
  for (const Component& c : element.components) {
    const std::int64_t here = std::min(plane, c.planes());
    offset = checked_add(offset, checked_mul(here, plane_bytes(c.scalar, capacity), "an array's size"));
    plane -= here;
    if (plane == 0) break;
  }
  return offset;
}

std::int64_t storage_bytes(const ElementType& element, std::int64_t capacity) {
  return plane_offset(element, capacity, element.planes());
}

PartMatrix batch_of(const PartMatrix& matrix, std::int64_t batch) {
  const std::int64_t rows = (std::ssize(matrix.row_pointers) - 1) / std::max<std::int64_t>(matrix.batches, 1);
  const auto first = matrix.row_pointers.begin() + batch * rows;
  const std::int64_t begin = first[0], count = first[rows] - begin;
  PartMatrix made;
  made.row_dim = matrix.row_dim;
  made.col_dim = matrix.col_dim;
  made.element = matrix.element;
  made.row_slaves = matrix.row_slaves;
  made.col_slaves = matrix.col_slaves;
  made.row_pointers.assign(first, first + rows + 1);
  for (std::int64_t& pointer : made.row_pointers) pointer -= begin;
  made.columns.assign(matrix.columns.begin() + begin, matrix.columns.begin() + begin + count);
  if (matrix.values.count == 0) return made;
  made.values = Array(matrix.element, count);
  for (std::int64_t p = 0; p < matrix.element.planes(); ++p) {
    const std::int64_t bytes = scalar_bytes(matrix.element.plane_scalar(p));
    std::copy_n(matrix.values.plane(p) + begin * bytes, count * bytes, made.values.plane(p));
  }
  return made;
}

void next_index(std::vector<std::int64_t>& index, const std::vector<std::int64_t>& shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return;
    index[d] = 0;
  }
}

std::optional<CompressedBytes> compressed_bytes(const PartArray& array) {
  if (!array.compressed) return array.compressed_bytes;
  return CompressedBytes{array.compressed->stored_bytes(), array.compressed->distinct_bytes()};
}

Array::Array(ElementType type, std::int64_t n, Bytes there)
    : element(std::move(type)), count(n), bytes(std::move(there)) {}

Array::Array(ElementType type, std::int64_t n) : element(std::move(type)), count(n), bytes(storage_bytes(element, n)) {}

std::int64_t list_bytes(const Part& part) {
  std::int64_t bytes = 0;
  for (const auto& [name, dim] : part.dims)
    bytes += dim.masters.bytes() + dim.others.bytes() + bytes_of_lists(dim.original, dim.other_owners);
  for (const auto& [name, matrix] : part.matrices) {
    for (const AxisSlaves* axis : {&matrix.row_slaves, &matrix.col_slaves})
      bytes += bytes_of_lists(axis->slaves, axis->slave_owners, axis->mirrors, axis->mirror_holders);
  }
  return bytes;
}

}  // namespace kasen
