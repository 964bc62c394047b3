// How an array of an operator along an axis lies in memory. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "libcore/axis/axis.h"
#include "libcore/ir/layout.h"

namespace kasen {

// The dimensions of an array in the order of its memory, and their sizes here.
struct MemoryAxes {
  std::vector<DimId> dims;
  std::vector<std::int64_t> sizes;

  [[nodiscard]] std::int64_t count() const {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  }
  // Elements between neighbours along a dimension; 0 along one that the array lacks.
  [[nodiscard]] std::int64_t stride(DimId dim) const {
    std::int64_t stride = 1;
    for (std::size_t i = dims.size(); i-- > 0; stride *= sizes[i]) {
      if (dims[i] == dim) return stride;
    }
    return 0;
  }
};

[[nodiscard]] inline MemoryAxes memory_axes(const AxisCall& call, ValueId value) {
  const Module& module = *call.module;
  const Layout layout(module, value);
  MemoryAxes axes;
  if (layout.is_distributed()) axes = {{layout.cut()}, {call.indices}};
  for (const DimId d : layout.is_distributed() ? layout.whole_dims() : module.type(value).dims) {
    axes.dims.push_back(d);
    axes.sizes.push_back(module.dim(d).size);
  }
  return axes;
}

// The axes of an array in the order of its dimensions: their sizes here, and the elements between neighbours.
struct ArrayAxis {
  std::int64_t size = 1, stride = 1;
};
[[nodiscard]] inline std::vector<ArrayAxis> array_axes(const AxisCall& call, ValueId value) {
  const std::vector<DimId>& dims = call.module->type(value).dims;
  const std::ptrdiff_t cut = Layout(*call.module, value).cut_axis();
  std::vector<ArrayAxis> axes(dims.size());
  std::int64_t behind = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (static_cast<std::ptrdiff_t>(i) == cut) continue;
    axes[i] = {call.module->dim(dims[i]).size, behind};
    behind *= axes[i].size;
  }
  if (cut != no_axis) axes[static_cast<std::size_t>(cut)] = {call.indices, behind};  // outermost
  return axes;
}

}  // namespace kasen
