#include "libcore/ir/layout.h"

#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"

namespace kasen {
namespace {

constexpr std::string_view only_axis = "w";

}  // namespace

std::size_t mesh_rank(const Module& module) { return std::max<std::size_t>(module.mesh.size(), 1); }

std::string_view mesh_axis_name(const Module& module, std::size_t axis) {
  return module.mesh.empty() ? only_axis : std::string_view(module.mesh.at(axis).name);
}

std::size_t find_mesh_axis(const Module& module, std::string_view name) {
  std::size_t axis = 0;
  while (axis < mesh_rank(module) && mesh_axis_name(module, axis) != name) ++axis;
  return axis;
}

MeshAxes all_mesh_axes(const Module& module) { return (MeshAxes{1} << mesh_rank(module)) - 1; }

MeshAxes axes_cut_alike(AxisCut a, AxisCut b) {
  if (a.block != b.block) return 0;
  const MeshAxes other = a.axes ^ b.axes;  // the first of these cuts one of them alone
  const MeshAxes first = other & (~other + 1);
  return a.axes & b.axes & (first - 1);  // all, if there is none
}

AxisCut cut_over(AxisCut cut, MeshAxes axes) {
  cut.axes &= axes;
  return cut.is_whole() ? AxisCut() : cut;
}

std::string cut_text(const Module& module, AxisCut cut) {
  if (cut.is_whole()) return {};
  const std::string axes = '/' + mesh_axes_text(module, cut.axes);
  return cut.block == 0 ? axes : axes + ':' + std::to_string(cut.block);
}

std::string mesh_axes_text(const Module& module, MeshAxes axes) {
  std::string text;
  for (std::size_t axis = 0; axis < mesh_rank(module); ++axis) {
    if ((axes >> axis & 1) != 0) text += mesh_axis_name(module, axis);
  }
  return text;
}

MeshAxes mesh_axes_of(const Module& module, const SlaveSet& set) {
  if (is_all(set)) return all_mesh_axes(module);
  MeshAxes axes = 0;
  for (const SlaveAtom& atom : set) {
    if (atom.axis == Axis::mesh) axes |= MeshAxes{1} << find_mesh_axis(module, atom.matrix);
  }
  return axes & all_mesh_axes(module);
}

SlaveSet set_of_mesh_axes(const Module& module, MeshAxes axes) {
  if (axes == all_mesh_axes(module)) return all_slaves();
  SlaveSet set;
  for (std::size_t axis = 0; axis < mesh_rank(module); ++axis) {
    if ((axes >> axis & 1) != 0) set.push_back({std::string(mesh_axis_name(module, axis)), Axis::mesh});
  }
  std::sort(set.begin(), set.end());
  return set;
}

namespace {

// Operators that the default layout does not have.
bool needs_mesh(const Module& module, const Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
    return op.code == OpCode::contract || op.code == OpCode::relayout ||
           (is_axis_op(op) && crosses_workers(module, op)) || is_linear_on_workers(module, op) ||
           std::any_of(op.blocks.begin(), op.blocks.end(),
                       [&](const Block& inner) { return needs_mesh(module, inner); });
  });
}

}  // namespace

bool names_layouts(const Module& module) {
  const auto named = [](const auto& holder) { return !holder.cuts.empty(); };
  return !module.mesh.empty() || workers_dim(module.dims) != no_dim ||
         std::any_of(module.buffers.begin(), module.buffers.end(), named) ||
         std::any_of(module.values.begin(), module.values.end(), [&](const Value& v) { return named(v.type); }) ||
         needs_mesh(module, module.body);
}

void require_default_layouts(const Module& module) {
  if (!names_layouts(module)) return;
  fail(ExitStatus::bad_input, "the plan names a mesh of workers, or cuts of arrays",
       "passes and partitions take the default layout alone", "measure and run it as it is, or leave out both",
       Location{module.text_name, 0, 0});
}

Layout::Layout(const Module& module, std::span<const DimId> dims, std::span<const AxisCut> cuts)
    : module_(&module), dims_(dims), cuts_(cuts), cut_axis_(no_axis) {
  if (cuts.empty()) {
    cut_axis_ = cut_axis_of(dims, [&](DimId dim) { return module.dim(dim).local; });
  } else {
    const auto cut = std::find_if(cuts.begin(), cuts.end(), [](AxisCut one) { return !one.is_whole(); });
    if (cut != cuts.end()) cut_axis_ = cut - cuts.begin();
  }
}

AxisCut Layout::cut_of(std::size_t axis) const {
  if (!cuts_.empty()) return cuts_[axis];
  return {static_cast<std::ptrdiff_t>(axis) == cut_axis_ ? all_mesh_axes(*module_) : 0, 0};
}

MeshAxes Layout::all_cuts() const {
  MeshAxes axes = 0;
  for (std::size_t axis = 0; axis < dims_.size(); ++axis) axes |= cuts(axis);
  return axes;
}

std::ptrdiff_t Layout::axis_cut_by(std::size_t mesh_axis) const {
  for (std::size_t axis = 0; axis < dims_.size(); ++axis) {
    if ((cuts(axis) >> mesh_axis & 1) != 0) return static_cast<std::ptrdiff_t>(axis);
  }
  return no_axis;
}

std::vector<DimId> Layout::whole_dims() const {
  std::vector<DimId> dims;
  for (std::size_t axis = 0; axis < dims_.size(); ++axis) {
    if (!is_cut(axis)) dims.push_back(dims_[axis]);
  }
  return dims;
}

AroundCut Layout::around() const {
  const auto size_of = [&](DimId dim) { return std::max<std::int64_t>(module_->dim(dim).size, 0); };
  return around_cut(dims_, cut_axis_, size_of, "an array's local size");
}

}  // namespace kasen
