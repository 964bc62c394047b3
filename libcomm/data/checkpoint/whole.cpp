#include "libcomm/data/checkpoint/whole.h"

#include <algorithm>

#include "libcomm/data/cut/partition.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/schedule/schedule.h"

namespace kasen {
namespace {

Elements owned(const Module& layouts, const Type& type, bool blocks, int worker) {
  Elements own = owned_elements(layouts, type, worker);
  const std::ptrdiff_t axis = Layout(layouts, type).cut_axis();
  if (!blocks || axis == no_axis) return own;
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t size = layouts.dim(type.dims[at]).size;
  const std::int64_t each = indices_of_a_block(size, mesh_workers(layouts)), first = std::min(size, worker * each);
  own.axes[at].clear();
  if (const std::int64_t count = std::min(each, size - first); count > 0) own.axes[at].push_back({first, count});
  return own;
}

}  // namespace

std::optional<WholePlan> whole_plan(const Module& plan, const Part& part, bool in_blocks) {
  WholePlan whole{plan, names_layouts(plan), {}};
  const auto is_sparse = [](const Value& value) { return value.type.sparse; };
  if ((!whole.boxes && !in_blocks) || std::any_of(plan.values.begin(), plan.values.end(), is_sparse))
    return std::nullopt;
  Module sized = sized_for(plan, part);
  derive_sizes(sized.dims, "the data", part.workers);
  if (whole.boxes) whole.module.mesh = sized.mesh;
  whole.module.dims = sized.dims;
  if (plan.level < 4) write_schedule(whole.module);
  whole.borders = borders_behind(whole.module);
  whole.module.mesh = sized.mesh;
  return whole;
}

Module layouts_of(const CheckpointManifest& manifest) {
  Module layouts;
  layouts.mesh = manifest.mesh;
  for (std::size_t d = 0; d < manifest.dims.size(); ++d)
    layouts.dims.push_back({.name = manifest.dims[d], .size = d < manifest.sizes.size() ? manifest.sizes[d] : -1});
  return layouts;
}

Elements elements_saved(const Module& layouts, bool blocks, const CheckpointValue& value, int worker) {
  Type type;
  type.element = value.element;
  type.dims = value.dims;
  type.cuts = value.cuts;
  return owned(layouts, type, blocks, worker);
}

Elements elements_wanted(const WholePlan& plan, const HeldValue& held, int worker) {
  const Type& type = plan.module.type(held.value);
  if (plan.boxes) return needed_elements(plan.module, type, worker);
  return owned(plan.module, type, true, held.shared ? 0 : worker);
}

}  // namespace kasen
