#include "libcore/analysis/op_boxes.h"

#include <algorithm>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

OpBoxes of_map(const Module& module, const Op& op) {
  const Type& result = module.type(op.results.at(0));
  OpBoxes boxes{{}, stored_box(module, result), 0, -1};
  const LawUse* law = result.state.is_pre() ? law_in_force(module, op) : nullptr;
  if (law != nullptr && law->kind == LawKind::pushdown) {
    boxes.result = owned_box(module, result);
    boxes.first_only = all_mesh_axes(module) & ~Layout(module, result).all_cuts();
    boxes.handed_on = law->operand;
  }
  for (const ValueId operand : op.operands) {
    Box& read = boxes.operands.emplace_back();
    for (const std::ptrdiff_t axis : met_axes(result.dims, module.type(operand).dims)) {
      read.push_back(boxes.result.at(static_cast<std::size_t>(axis)));
    }
  }
  return boxes;
}

OpBoxes of_view(const Module& module, const Op& op) {
  OpBoxes boxes{{}, stored_box(module, module.type(op.results.at(0))), 0, -1};
  Box& read = boxes.operands.emplace_back();
  const std::vector<DimId>& dims = module.type(viewed(op)).dims;
  const std::vector<size_t> places = view_places(module, op);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const bool sliced = static_cast<std::ptrdiff_t>(axis) == ranged_place(module, op);
    read.push_back(sliced ? axis_part(module, dims[axis], {}, 0) : boxes.result.at(places[axis]));
  }
  for (size_t i = 1; i < op.operands.size(); ++i) boxes.operands.emplace_back();  // the first index of a slice
  return boxes;
}

// Whole lines, and whole matrices, are read where no axis of the result meets theirs, or each element at its owner.
OpBoxes of_axis_op(const Module& module, const Op& op) {
  if (sorts_across(module, op)) {
    const Box own = owned_box(module, module.type(op.operands.at(0)));
    return {{own}, stored_box(module, module.type(op.results.at(0))), 0, -1};
  }
  OpBoxes boxes{{}, stored_box(module, module.type(op.results.at(0))), 0, -1};
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    Box& read = boxes.operands.emplace_back();
    const std::vector<DimId>& dims = module.type(op.operands[i]).dims;
    const std::vector<std::ptrdiff_t> places = is_axis_op(op) ? cut_places(module, op, i) : batch_places(module, op, i);
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const std::ptrdiff_t to = places[axis];
      AxisPart part = to == no_axis ? AxisPart{} : boxes.result.at(static_cast<std::size_t>(to));
      part.dim = dims[axis];  // a part of a product's has the same owners
      read.push_back(part);
    }
  }
  return boxes;
}

// A reduction that crosses workers takes each element at its owner; any other takes what the worker has.
OpBoxes of_reduce(const Module& module, const Op& op) {
  const Type &from = module.type(op.operands.at(0)), &to = module.type(op.results.at(0));
  const bool crosses = to.state.is_pre() && !from.state.is_pre();
  OpBoxes boxes;
  Box read = crosses ? owned_box(module, from) : stored_box(module, from);
  if (crosses) boxes.first_only = all_mesh_axes(module) & ~Layout(module, from).all_cuts();
  const Box result = stored_box(module, to);
  size_t kept = 0;
  for (size_t axis = 0; axis < read.size(); ++axis) {
    if (op.over.empty() || contains(op.over, from.dims[axis])) continue;
    if (!to.state.is_pre()) read[axis] = result.at(kept);
    boxes.result.push_back(read[axis]);
    ++kept;
  }
  boxes.operands = {std::move(read)};
  return boxes;
}

// A reduction whose keys are read beside its elements. Any place of keys may get one, so their dimension is whole.
OpBoxes of_grouping(const Module& module, const Op& op) {
  const size_t walked = walked_operand(module, op);
  const Type &from = module.type(op.operands.at(walked)), &to = module.type(op.results.at(0));
  const bool crosses = to.state.is_pre();
  OpBoxes boxes;
  Box read = crosses ? owned_box(module, from) : stored_box(module, from);
  if (crosses) boxes.first_only = all_mesh_axes(module) & ~Layout(module, from).all_cuts();
  boxes.result = stored_box(module, to);
  const std::vector<std::ptrdiff_t> places = grouped_places(module, op);
  for (size_t axis = 0; axis < read.size(); ++axis) {
    if (places[axis] == no_axis) continue;
    AxisPart& made = boxes.result.at(static_cast<size_t>(places[axis]));
    (crosses ? made : read[axis]) = crosses ? read[axis] : made;
  }
  Box& other = boxes.operands.emplace_back();
  for (const DimId d : module.type(op.operands.at(1 - walked)).dims) {
    other.push_back(read.at(static_cast<size_t>(std::find(from.dims.begin(), from.dims.end(), d) - from.dims.begin())));
  }
  boxes.operands.insert(boxes.operands.begin() + static_cast<std::ptrdiff_t>(walked), std::move(read));
  return boxes;
}

// The indices of a summed label that a worker takes: its own over the axes that cut the label.
AxisPart summed_part(const Module& module, const Op& op, const Contraction& c, char label) {
  const MeshAxes summed = c.cuts_of(label);
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const Layout own(module, op.operands[i]);
    const std::string& labels = c.labels.operands[i];
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      const AxisCut cut = own.cut_of(axis);
      if (labels[axis] != label || (summed & ~cut.axes) != 0) continue;
      return axis_part(module, module.type(op.operands[i]).dims[axis], cut, cut.axes & ~summed);
    }
  }
  throw InternalError("a summed label that no operand is cut by");
}

OpBoxes of_contraction(const Module& module, const Op& op) {
  const std::vector<State> states{module.type(op.operands.at(0)).state, module.type(op.operands.at(1)).state};
  const Contraction c = contraction(module, op, states);
  OpBoxes boxes;
  const Type& result = module.type(op.results.at(0));
  boxes.result = stored_box(module, result);
  const bool owners = is_onto(op) && result.state.is_pre() && !module.type(op.operands[2]).state.is_pre();
  if (owners) boxes.first_only = held_axes(module, result, result.state) & ~Layout(module, result).all_cuts();
  for (size_t i = 0; i < 2; ++i) {
    Box& read = boxes.operands.emplace_back();
    for (const char label : c.labels.operands[i]) {
      const size_t kept = c.labels.result.find(label);
      read.push_back(kept == std::string::npos ? summed_part(module, op, c, label) : boxes.result.at(kept));
    }
  }
  if (is_onto(op)) boxes.operands.push_back(owners ? owned_box(module, result) : boxes.result);
  return boxes;
}

OpBoxes boxes_of(const Module& module, const Op& op) {
  if (is_view(op)) return of_view(module, op);
  if (op.code == OpCode::map || op.code == OpCode::apply) return of_map(module, op);
  if (op.code == OpCode::reduce) return of_reduce(module, op);
  if (is_grouping(op)) return of_grouping(module, op);
  if (is_axis_op(op) || is_linear_on_workers(module, op)) return of_axis_op(module, op);
  if (is_contraction(module, op)) return of_contraction(module, op);
  fail(ExitStatus::bad_input, std::string(row(op.code).name) + " in a plan that names layouts",
       "sparse matrices have the default layout", "leave out the mesh and the cuts", op.where);
}

}  // namespace

OpBoxes op_boxes(const Module& module, const Op& op) {
  OpBoxes boxes = boxes_of(module, op);
  boxes.first_only &= ~axes_of_one_place(module);
  return boxes;
}

std::optional<Box> loop_box(const Module& module, const Op& op) {
  const bool reduces = op.code == OpCode::reduce;
  if (!reduces && op.code != OpCode::map && !is_slice(op)) return std::nullopt;
  if (reduces && !module.type(op.results.at(0)).dims.empty()) return std::nullopt;
  const OpBoxes boxes = op_boxes(module, op);
  if (boxes.first_only != 0) return std::nullopt;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (boxes.operands[i] != stored_box(module, module.type(op.operands[i]))) return std::nullopt;
  }
  if (boxes.result != stored_box(module, module.type(op.results[0]))) return std::nullopt;
  const Box& box = reduces ? boxes.operands[0] : boxes.result;
  return box.empty() ? std::nullopt : std::optional(box);
}

}  // namespace kasen
