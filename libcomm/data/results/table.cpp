#include "libcomm/data/results/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/results/results.h"
#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/sorting/place_axes.h"

namespace kasen {
namespace {

std::int64_t product(const std::vector<ResultDim>& dims, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t k = begin; k < end; ++k) result = checked_mul(result, dims[k].size, "an output's size");
  return result;
}

const Part& part_of(int worker, const std::vector<Part>& parts) {
  for (const Part& part : parts)
    if (part.worker == worker) return part;
  throw InternalError(fmt::format("elements of worker {}, which is not here", worker));
}

// What a worker owns of a box, as it hands it out.
PlaceList places_of(const ResultTable& table, const Output& output, int worker) {
  Elements all;
  for (const ResultDim& dim : table.dims) all.axes.push_back({{0, dim.size}});
  const Elements own = owned_elements(*table.boxes, output.type, worker);
  return own.count() == 0 ? PlaceList() : places_in(own, all);
}

const IndexList* masters_of(const ResultTable& table, const Part& part) {
  if (table.cut < 0) return nullptr;
  return &part.dims.at(table.dims[static_cast<std::size_t>(table.cut)].name).masters;
}

}  // namespace

std::vector<std::string> axis_titles(const Module& module, const std::string& output, const Type& type) {
  const auto& ops = module.body.ops;
  const auto op = std::find_if(ops.begin(), ops.end(),
                               [&](const Op& one) { return one.code == OpCode::output && one.name == output; });
  const PlaceAxes axes(module);
  std::vector<std::string> titles;
  for (const DimId dim : type.dims) {
    const bool places = op != ops.end() && axes.counts_places(op->operands.at(0), titles.size());
    std::string& title = titles.emplace_back(module.dim(dim).name);
    if (places) title += "_place";
    while (places && module.find_dim(title) != no_dim) title += '_';
  }
  return titles;
}

std::vector<std::int64_t> ResultColumn::extents(const std::vector<ResultDim>& dims) const {
  std::vector<std::int64_t> result;
  for (const ResultDim& dim : dims) result.push_back(dim.size);
  if (small_array) result.push_back(coordinates);
  return result;
}

std::int64_t ResultTable::elements() const { return product(dims, 0, dims.size()); }

std::int64_t ResultTable::element_bytes() const {
  std::int64_t bytes = 0;
  for (const ResultColumn& column : columns) bytes += column.bytes();
  return bytes;
}

std::int64_t ResultTable::outer() const { return cut < 0 ? 1 : product(dims, 0, static_cast<std::size_t>(cut)); }

std::int64_t ResultTable::inner() const {
  return cut < 0 ? elements() : product(dims, static_cast<std::size_t>(cut) + 1, dims.size());
}

ResultTable describe_table(const Module& module, const std::string& name, const Type& type) {
  if (type.list > 0)
    fail(ExitStatus::bad_input, fmt::format("output '{}' is a list", name), "a file holds single arrays",
         "output the arrays of the list one by one");
  ResultTable table{.name = name, .tuple = type.element.tuple};
  const std::vector<std::string> titles = axis_titles(module, name, type);
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis)
    table.dims.push_back({module.dim(type.dims[axis]).name, titles.at(axis)});
  const std::vector<Component>& components = type.element.components;
  for (std::size_t c = 0; c < components.size(); ++c)
    table.columns.push_back({.scalar = components[c].scalar,
                             .coordinates = components[c].planes(),
                             .small_array = components[c].count > 0,
                             .id_of = components[c].scalar == Scalar::id ? module.dim(components[c].id_of).name : "",
                             .first_plane = type.element.first_plane(static_cast<int>(c))});
  if (is_over_entries(module, type) && components.size() == 3)
    for (std::size_t c = 0; c < 2; ++c) table.matrix.push_back({table.columns[c].id_of, table.columns[c].id_of});
  return table;
}

ResultTable make_table(const Module& module, const Output& output, const Part& part) {
  ResultTable table = describe_table(module, output.name, output.type);
  table.cut = static_cast<int>(Layout(module, output.type).cut_axis());
  for (ResultDim& dim : table.dims) dim.size = part.dims.at(dim.name).size;
  for (ResultDim& dim : table.matrix) dim.size = part.dims.at(dim.name).size;
  if (names_layouts(module)) table.boxes = std::make_shared<const Module>(sized_for(module, part));
  (void)checked_mul(table.elements(), std::max<std::int64_t>(table.element_bytes(), 1), "an output's size");
  return table;
}

ResultTable make_ids_table(const std::string& dim, const PartDim& facts) {
  ResultTable table{.name = dim + "_ids", .ids = true, .dims = {{dim, dim, facts.size}}, .cut = facts.local ? -1 : 0};
  table.columns.push_back({.scalar = Scalar::i64});
  return table;
}

std::vector<ResultShare> shares_of(const ResultTable& table, const Output& output, const std::vector<Part>& parts) {
  std::vector<ResultShare> shares;
  for (const OutputPart& share : output.parts) {
    if (table.cut < 0 && share.worker != 0) continue;
    ResultShare& mine = shares.emplace_back();
    std::int64_t indices = 1, held = table.elements();
    if (table.boxes && table.cut >= 0) {
      mine.places = places_of(table, output, share.worker);
      held = indices = mine.places->size();
    } else if (mine.masters = masters_of(table, part_of(share.worker, parts)); mine.masters != nullptr) {
      indices = mine.masters->size();
      held = indices * table.outer() * table.inner();
    }
    const bool fits = share.data.count == held;
    if (!fits || (share.data.count > 0 && share.data.element.planes() != output.type.element.planes()))
      throw InternalError(fmt::format("output '{}' has {} elements on worker {}, which has {} indices", output.name,
                                      share.data.count, share.worker, indices));
    for (std::int64_t p = 0; p < output.type.element.planes(); ++p) mine.planes.push_back(share.data.plane(p));
    mine.in_file = !share.data.bytes.is_owned();
  }
  return shares;
}

std::vector<ResultShare> id_shares_of(const ResultTable& table, const std::vector<Part>& parts) {
  std::vector<ResultShare> shares;
  for (const Part& part : parts) {
    if (table.cut < 0 && part.worker != 0) continue;
    const PartDim& dim = part.dims.at(table.dims[0].name);
    shares.push_back({masters_of(table, part), {}, {reinterpret_cast<const std::byte*>(dim.original.data())}});
  }
  return shares;
}

}  // namespace kasen
