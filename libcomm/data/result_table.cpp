#include "libcomm/data/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/checked.h"
#include "libcore/error.h"

namespace kasen {
namespace {

std::int64_t product(const std::vector<ResultDim>& dims, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t k = begin; k < end; ++k) result = checked_mul(result, dims[k].size, "an output's size");
  return result;
}

}  // namespace

std::vector<std::int64_t> ResultColumn::extents(const std::vector<ResultDim>& dims) const {
  std::vector<std::int64_t> result;
  for (const ResultDim& dim : dims) result.push_back(dim.size);
  if (small_array) result.push_back(coordinates);
  return result;
}

std::int64_t ResultTable::elements() const { return product(dims, 0, dims.size()); }

bool ResultTable::complete() const {
  return cut < 0 ? come.at(0) : std::all_of(come.begin(), come.end(), [](bool c) { return c; });
}

void ResultTable::take(const std::vector<std::int64_t>& masters, const Array& data) {
  const auto at = static_cast<std::size_t>(std::max(cut, 0));
  const std::int64_t outer = cut < 0 ? 1 : product(dims, 0, at);
  const std::int64_t extent = cut < 0 ? 1 : dims[at].size;
  const std::int64_t inner = cut < 0 ? elements() : product(dims, at + 1, dims.size());
  const std::int64_t indices = cut < 0 ? 1 : static_cast<std::int64_t>(masters.size());
  if (data.count != indices * outer * inner || (data.count > 0 && data.element.planes() != element.planes()))
    throw InternalError(
        fmt::format("output '{}' has {} elements on a worker with {} indices", name, data.count, indices));
  for (ResultColumn& column : columns) {
    const std::int64_t width = scalar_bytes(column.scalar);
    column.bytes.resize(
        static_cast<std::size_t>(checked_mul(elements(), column.coordinates * width, "an output's size")));
    for (std::int64_t p = 0; p < column.coordinates; ++p) {
      const std::byte* from = data.plane(column.first_plane + p);
      for (std::int64_t m = 0; m < indices; ++m) {
        const std::int64_t index = cut < 0 ? 0 : masters[static_cast<std::size_t>(m)];
        for (std::int64_t o = 0; o < outer; ++o) {
          for (std::int64_t i = 0; i < inner; ++i, from += width) {
            const std::int64_t place = ((o * extent + index) * inner + i) * column.coordinates + p;
            std::memcpy(column.bytes.data() + place * width, from, static_cast<std::size_t>(width));
          }
        }
      }
    }
  }
}

ResultTable make_table(const Module& module, const Output& output, const DimsOfWorkers& dims) {
  if (output.type.list > 0)
    fail(ExitStatus::bad_input, fmt::format("output '{}' is a list", output.name), "a file holds single arrays",
         "output the arrays of the list one by one");
  ResultTable table{.name = output.name, .element = output.type.element};
  table.come.resize(dims.size());
  for (const DimId id : output.type.dims) {
    const Dimension& dim = module.dim(id);
    if (table.cut < 0 && !dim.local) table.cut = static_cast<int>(table.dims.size());
    table.dims.push_back({dim.name, dims.at(0).at(dim.name).size});
  }
  const std::vector<Component>& components = output.type.element.components;
  for (std::size_t c = 0; c < components.size(); ++c)
    table.columns.push_back({.scalar = components[c].scalar,
                             .coordinates = components[c].planes(),
                             .small_array = components[c].count > 0,
                             .id_of = components[c].id_of,
                             .first_plane = output.type.element.first_plane(static_cast<int>(c))});
  return table;
}

OriginalIds collect_ids(const DimsOfWorkers& dims) {
  OriginalIds ids;
  for (const auto& worker : dims) {
    for (const auto& [name, dim] : worker) {
      if (dim.original.empty()) continue;
      std::vector<std::int64_t>& all = ids[name];
      all.resize(static_cast<std::size_t>(dim.size));
      for (std::size_t m = 0; m < dim.masters.size(); ++m)
        all.at(static_cast<std::size_t>(dim.masters[m])) = dim.original[m];
    }
  }
  return ids;
}

void name_ids(ResultTable& table, const Module& module, const OriginalIds& ids) {
  for (ResultColumn& column : table.columns) {
    if (column.scalar != Scalar::id) continue;
    const auto names = ids.find(module.dim(column.id_of).name);
    if (names == ids.end()) continue;
    auto* values = reinterpret_cast<std::int64_t*>(column.bytes.data());
    for (std::size_t k = 0; k < column.bytes.size() / sizeof(std::int64_t); ++k)
      if (values[k] >= 0 && std::cmp_less(values[k], names->second.size()))
        values[k] = names->second[static_cast<std::size_t>(values[k])];
  }
}

}  // namespace kasen
