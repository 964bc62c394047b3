#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "libcomm/data/parallel.h"
#include "libcomm/data/partition_steps.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

// How a row-major table lies over its dimensions: the cut one, with `outer` and `inner` elements around each index.
struct Shape {
  const DimLayout* cut = nullptr;  // none for shareds
  std::int64_t outer = 1, inner = 1;
  [[nodiscard]] std::int64_t elements() const { return outer * (cut == nullptr ? 1 : cut->size) * inner; }
};

Shape shape_of(const InputData& input, const std::vector<DimLayout>& layouts) {
  Shape shape;
  std::int64_t total = input.element.planes();
  for (const std::string& name : input.dims) {
    const DimLayout& dim = find_layout(layouts, input, name);
    total = checked_mul(total, dim.size, "an input's size");
    if (shape.cut == nullptr && !dim.local)
      shape.cut = &dim;
    else
      (shape.cut == nullptr ? shape.outer : shape.inner) *= dim.size;
  }
  return shape;
}

void check_table(const InputData& input, const std::vector<DimLayout>& layouts, const Shape& shape) {
  const RawTable& table = input.table;
  const std::int64_t rows = input.dims.empty() ? 1 : find_layout(layouts, input, input.dims[0]).size;
  if (table.rows != rows)
    fail(ExitStatus::bad_input, fmt::format("input '{}' has {} rows", input.name, table.rows),
         input.dims.empty() ? "it is one value" : fmt::format("dimension {} has {} indices", input.dims[0], rows));
  const std::int64_t scalars = shape.elements() * input.element.planes();
  if (checked_mul(table.rows, table.cols) != scalars)
    fail(ExitStatus::bad_input, fmt::format("input '{}' has {} columns", input.name, table.cols),
         fmt::format("its dimensions and element ask for {}", rows == 0 ? 0 : scalars / rows));
  if (table.values.count != scalars)
    throw InternalError(fmt::format("the table of '{}' is not rows x cols", input.name));
  for (std::int64_t p = 0; p < input.element.planes(); ++p)
    if (input.element.plane_scalar(p) != input.element.plane_scalar(0) ||
        scalar_bytes(input.element.plane_scalar(p)) != scalar_bytes(table.values.element.scalar()))
      fail(ExitStatus::bad_input, fmt::format("the elements of input '{}' mix types", input.name),
           "a table holds numbers of one type", "read the components as separate inputs");
}

// All of the table is one part's, as it stands.
bool is_whole_part(const InputData& input, const Shape& shape, const std::vector<std::int64_t>& masters) {
  if (input.element.planes() != 1) return false;
  return shape.cut == nullptr || (shape.outer == 1 && std::cmp_equal(masters.size(), shape.cut->size));
}

// Indices `masters` of the cut dimension: index m's outer x inner elements side by side, plane by plane.
Array take_rows(const InputData& input, const Shape& shape, const std::vector<std::int64_t>& masters) {
  const std::int64_t planes = input.element.planes(), extent = shape.cut == nullptr ? 1 : shape.cut->size;
  Array data(input.element, static_cast<std::int64_t>(masters.size()) * shape.outer * shape.inner);
  const auto bytes = static_cast<std::size_t>(scalar_bytes(input.table.values.element.scalar()));
  const std::byte* source = input.table.values.plane(0);
  for (std::int64_t p = 0; p < planes; ++p) {
    std::byte* to = data.plane(p);
    for (const std::int64_t index : masters) {
      for (std::int64_t o = 0; o < shape.outer; ++o) {
        for (std::int64_t i = 0; i < shape.inner; ++i, to += bytes) {
          const std::int64_t element = (o * extent + index) * shape.inner + i;
          std::memcpy(to, source + static_cast<std::size_t>(element * planes + p) * bytes, bytes);
        }
      }
    }
  }
  return data;
}

}  // namespace

void place_table(InputData&& from, const std::vector<DimLayout>& layouts, std::vector<Part>& parts) {
  InputData input = std::move(from);
  const Shape shape = shape_of(input, layouts);
  check_table(input, layouts, shape);
  relabel_table(input.table.values, input.element, layouts, input);
  parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t w, int) {
    Part& part = parts[static_cast<std::size_t>(w)];
    const std::vector<std::int64_t> one{0};
    const auto& masters = shape.cut == nullptr ? one : part.dims.at(shape.cut->name).masters;
    const bool last = parts.size() == 1 && is_whole_part(input, shape, masters);
    if (last) input.table.values.element = input.element;
    Array data = last ? std::move(input.table.values) : take_rows(input, shape, masters);
    part.arrays.emplace(input.name, PartArray{.dims = input.dims, .data = std::move(data)});
  });
}

}  // namespace kasen
