// The dimensions of an array in the order of a worker's memory. Internal to libcore/axis.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/axis/axis.h"

namespace kasen {

struct MemoryAxes {
  std::vector<DimId> dims;
  std::vector<std::int64_t> sizes;  // here

  [[nodiscard]] std::int64_t count() const;
  // Elements between neighbours along a dimension; 0 along one that the array lacks.
  [[nodiscard]] std::int64_t stride(DimId dim) const;
};

[[nodiscard]] MemoryAxes memory_axes(const AxisCall& call, ValueId value);

}  // namespace kasen
