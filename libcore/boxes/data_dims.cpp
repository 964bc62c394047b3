#include "libcore/boxes/data_dims.h"

#include <fmt/format.h>

#include "libcore/base/error.h"

namespace kasen {

std::set<DimId> used_dims(const Module& module) {
  std::set<DimId> used;
  for (const Value& value : module.values) used.insert(value.type.dims.begin(), value.type.dims.end());
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.dim != no_dim) used.insert(op.dim);
  });
  for (auto d = std::ssize(module.dims); d-- > 0;) {  // sources come first
    const std::vector<DimId>& sources = module.dim(DimId(d)).derived.sources;
    if (used.contains(DimId(d))) used.insert(sources.begin(), sources.end());
  }
  return used;
}

void require_size_of_data(const Dimension& dim, std::int64_t size) {
  if (dim.size < 0 || dim.size == size) return;
  fail(ExitStatus::bad_input, fmt::format("dimension '{}' has {} indices in the data", dim.name, size),
       fmt::format("the plan was made for {}", dim.size), "plan again, or partition other data");
}

}  // namespace kasen
