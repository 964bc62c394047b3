// Sizes of derived dimensions, and inputs over these.
#include <fmt/format.h>

#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/read/source_name.h"
#include "libcore/base/count_text.h"
#include "libcore/ir/derived_dims.h"

namespace kasen {
namespace {

// The indices that the input's file has along one of its dimensions; -1: it does not say.
std::int64_t stated_size(const InputData& input, std::size_t axis) {
  if (axis < input.extents.size()) return input.extents[axis];
  if (input.sparse) {
    if (!input.matrix.declared) return unknown_size;
    return axis == 0 ? input.matrix.row_count : input.matrix.col_count;
  }
  return axis == 0 ? input.table.rows : unknown_size;
}

}  // namespace

void derive_size(DimData& dim, const std::vector<DimData>& dims, const std::vector<InputData>& inputs, int workers) {
  if (dim.derived.kind == Derivation::Kind::none) return;
  const auto source = [&](DimId d) -> const DimData& { return dims.at(static_cast<std::size_t>(d)); };
  const auto size_of = [&](DimId d) { return source(d).size; };
  const auto name_of = [&](DimId d) { return source(d).name; };
  const Dimension declared{dim.name, dim.local, dim.size, dim.derived};
  dim.size = declared.is_workers() ? workers : derived_size(dim.derived, size_of);
  require_whole(declared, size_of, name_of);
  for (const InputData& input : inputs) {
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      const std::int64_t stated = stated_size(input, axis);
      if (input.dims[axis] != dim.name || stated < 0 || stated == dim.size) continue;
      refuse_derived_size(fmt::format("input '{}' ({}) has {} of dimension {}", input.name,
                                      file_of_source(input.source), count_plural(stated, "index", "indices"), dim.name),
                          derivation_text(dim.derived, name_of), dim.size);
    }
  }
}

}  // namespace kasen
