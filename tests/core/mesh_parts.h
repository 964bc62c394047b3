// Parts of whole arrays for plans that name layouts, and whole arrays from the parts of an output.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/data/data.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"
#include "libcore/ir/observed.h"

namespace kasen::testing {

// `module` has sizes and a mesh. `arrays`: by input name, row-major.
[[nodiscard]] inline std::vector<Part> split_over_mesh(const Module& module,
                                                       const std::map<std::string, Array>& arrays) {
  std::vector<Part> parts;
  for (int w = 0; w < mesh_workers(module); ++w) {
    Part& part = parts.emplace_back();
    part.worker = w;
    part.workers = mesh_workers(module);
    for (const DimId id : module.dims.ids()) {
      const Dimension& dim = module.dim(id);
      const bool listed = dim.local && !follows_observed(module.dims, id);
      part.dims[dim.name] = {dim.size, dim.local, IndexList::run(0, listed ? dim.size : 0), {}, false, {}, {}};
    }
    for (const Op& op : module.body.ops) {
      if (op.code != OpCode::input) continue;
      const Type& type = module.type(op.results.at(0));
      const Elements own = elements_of(module, stored_box(module, type), w);
      Elements all = own;
      for (size_t axis = 0; axis < type.dims.size(); ++axis) all.axes[axis] = {{0, module.dim(type.dims[axis]).size}};
      PartArray& made = part.arrays[op.name];
      for (const DimId dim : type.dims) made.dims.push_back(module.dim(dim).name);
      made.data = Array(type.element, own.count());
      const PlaceList places = places_in(own, all);
      for (std::int64_t p = 0; p < type.element.planes(); ++p) {
        const std::int64_t size = scalar_bytes(type.element.plane_scalar(p));
        std::byte* to = made.data.plane(p);
        places.for_each_run(0, places.size(), [&](std::int64_t first, std::int64_t count) {
          to = std::copy_n(arrays.at(op.name).plane(p) + first * size, count * size, to);
        });
      }
    }
  }
  return parts;
}

[[nodiscard]] inline Array joined_from_mesh(const Module& module, const Output& output) {
  Elements all;
  for (const DimId dim : output.type.dims) all.axes.push_back({{0, module.dim(dim).size}});
  Array whole(output.type.element, all.count());
  for (const OutputPart& part : output.parts) {
    const Elements own = owned_elements(module, output.type, part.worker);
    if (own.count() == 0) continue;  // of a shared, worker 0 owns all
    const PlaceList places = places_in(own, all);
    for (std::int64_t p = 0; p < whole.element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(whole.element.plane_scalar(p));
      const std::byte* from = part.data.plane(p);
      places.for_each_run(0, places.size(), [&](std::int64_t first, std::int64_t count) {
        std::copy_n(from, count * size, whole.plane(p) + first * size);
        from += count * size;
      });
    }
  }
  return whole;
}

}  // namespace kasen::testing
