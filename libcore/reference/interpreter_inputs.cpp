// Assembles the whole inputs from all parts of one bundle, for the plain interpreter.
#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"
#include "libcore/reference/interpreter.h"

namespace kasen {
namespace {

std::int64_t global_of(const PartDim& dim, const AxisSlaves& axis, std::int64_t local) {
  const std::int64_t masters = dim.masters.size();
  return local < masters ? dim.masters[local] : axis.slaves.at(static_cast<size_t>(local - masters));
}

void append_entries(const Part& part, const PartMatrix& matrix, WholeMatrix& whole, std::vector<Word>& words) {
  const PartDim& row_dim = part.dims.at(matrix.row_dim);
  const PartDim& col_dim = part.dims.at(matrix.col_dim);
  const std::size_t rows = (std::max<std::size_t>(matrix.row_pointers.size(), 1) - 1) /
                           static_cast<std::size_t>(std::max<std::int64_t>(matrix.batches, 1));
  for (size_t r = 0; r + 1 < matrix.row_pointers.size(); ++r) {
    for (std::int64_t e = matrix.row_pointers[r]; e < matrix.row_pointers[r + 1]; ++e) {
      whole.batches.push_back(static_cast<std::int64_t>(r / rows));
      whole.rows.push_back(global_of(row_dim, matrix.row_slaves, static_cast<std::int64_t>(r % rows)));
      whole.cols.push_back(global_of(col_dim, matrix.col_slaves, matrix.columns.at(static_cast<size_t>(e))));
      for (std::int64_t p = 0; p < matrix.element.planes() && matrix.element.bytes() > 0; ++p) {
        const Scalar s = matrix.element.plane_scalar(p);
        words.push_back(load_word(s, matrix.values.plane(p) + e * scalar_bytes(s)));
      }
    }
  }
}

WholeMatrix whole_matrix(const std::vector<Part>& parts, const std::string& name) {
  WholeMatrix whole;
  std::vector<Word> words;
  for (const Part& part : parts) append_entries(part, part.matrices.at(name), whole, words);
  const ElementType& element = parts.at(0).matrices.at(name).element;
  if (element.bytes() == 0) return whole;
  whole.values = Array(element, static_cast<std::int64_t>(whole.rows.size()));
  const std::int64_t planes = element.planes();
  for (size_t w = 0; w < words.size(); ++w) {
    const auto plane = static_cast<std::int64_t>(w) % planes, at = static_cast<std::int64_t>(w) / planes;
    const Scalar s = element.plane_scalar(plane);
    store_word(s, whole.values.plane(plane) + at * scalar_bytes(s), words[w]);
  }
  return whole;
}

// A part's array has its cut dimension outermost; the whole array is row-major over its dimensions as declared.
void place_part(const Part& part, const PartArray& array, const Array& data, Array& whole) {
  const std::ptrdiff_t axis = cut_axis_of(array.dims, [&](const std::string& dim) { return part.dims.at(dim).local; });
  const size_t cut = axis == no_axis ? array.dims.size() : static_cast<size_t>(axis);
  std::vector<std::int64_t> shape;    // in the order of the part's storage
  std::vector<std::int64_t> strides;  // of these dimensions in the whole
  std::vector<size_t> order;
  if (cut < array.dims.size()) order.push_back(cut);
  for (size_t d = 0; d < array.dims.size(); ++d) {
    if (d != cut) order.push_back(d);
  }
  const IndexList* rows = cut < array.dims.size() ? &part.dims.at(array.dims[cut]).masters : nullptr;
  for (const size_t d : order) {
    std::int64_t stride = 1;
    for (size_t later = d + 1; later < array.dims.size(); ++later) stride *= part.dims.at(array.dims[later]).size;
    strides.push_back(stride);
    shape.push_back(d == cut ? rows->size() : part.dims.at(array.dims[d]).size);
  }
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < data.count; ++i, next_index(index, shape)) {
    std::int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      const bool is_row = rows != nullptr && d == 0;
      at += strides[d] * (is_row ? (*rows)[index[0]] : index[d]);
    }
    for (std::int64_t p = 0; p < whole.element.planes(); ++p) {
      const Scalar s = whole.element.plane_scalar(p);
      store_word(s, whole.plane(p) + at * scalar_bytes(s), load_word(s, data.plane(p) + i * scalar_bytes(s)));
    }
  }
}

Array whole_array(const std::vector<Part>& parts, const std::string& name) {
  const PartArray& first = parts.at(0).arrays.at(name);
  std::int64_t count = 1;
  for (const std::string& dim : first.dims) count = checked_mul(count, parts[0].dims.at(dim).size, "an array's size");
  Array whole(first.data.element, count);
  for (const Part& part : parts) {
    const PartArray& array = part.arrays.at(name);
    if (!array.compressed) {
      place_part(part, array, array.data, whole);
      continue;
    }
    Array dense(array.data.element, checked_mul(array.compressed->rows, array.compressed->cols));
    expand_rows(*array.compressed, 0, array.compressed->rows, dense.bytes.data());
    place_part(part, array, dense, whole);
  }
  return whole;
}

}  // namespace

WholeInputs whole_inputs(const std::vector<Part>& parts) {
  WholeInputs whole;
  if (parts.empty()) return whole;
  for (const auto& [name, dim] : parts[0].dims) whole.dims[name] = dim.size;
  for (const auto& [name, matrix] : parts[0].matrices) whole.matrices.emplace(name, whole_matrix(parts, name));
  for (const auto& [name, array] : parts[0].arrays) whole.arrays.emplace(name, whole_array(parts, name));
  return whole;
}

}  // namespace kasen
