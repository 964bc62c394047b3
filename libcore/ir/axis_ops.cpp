#include "libcore/ir/axis_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"

namespace kasen {

std::size_t worked_place(const Module& module, const Op& op) {
  const std::vector<DimId>& dims = module.type(op.operands.at(0)).dims;
  return static_cast<std::size_t>(std::find(dims.begin(), dims.end(), worked_dim(op)) - dims.begin());
}

OpCode rearrangement_of(const Module& module, const Op& op) {
  if (!rearranges_on_the_way(op)) return op.code;
  if (op.over.size() == 1) {  // concatenations have more sources
    if (op.operands.size() == 3) return OpCode::pick;
    const bool renames = !is_part(module, op.dim, op.over[0]) && is_product_of(module, op.dim, op.over);
    return renames ? OpCode::reshape : OpCode::slice;
  }
  const Derivation& derived = module.dim(op.dim).derived;
  return derived.kind == Derivation::Kind::sum && derived.sources == op.over ? OpCode::concat : OpCode::reshape;
}

std::vector<DimId> worked_dims(const Module& module, const Op& op, std::size_t operand) {
  const OpCode code = rearrangement_of(module, op);
  if (code == OpCode::concat) return {op.over.at(operand)};
  if (code == OpCode::reshape && contains(module.type(op.operands.at(0)).dims, op.dim)) return {op.dim};
  const bool along = operand == 0 || (code == OpCode::pick && operand == 1);
  return along ? op.over : std::vector<DimId>();
}

std::vector<DimId> made_dims(const Module& module, const Op& op) {
  if (op.code == OpCode::take) return {};
  if (!is_rearrangement(op) && !rearranges_on_the_way(op)) return op.over;
  if (rearrangement_of(module, op) == OpCode::reshape && contains(module.type(op.operands.at(0)).dims, op.dim))
    return op.over;
  return {op.dim};
}

MeshAxes carried_axes(const Module& module, const Op& op) {
  if (op.code != OpCode::scan) return 0;
  const AxisCut along = Layout(module, op.results.at(0)).cut_of(worked_place(module, op));
  MeshAxes axes = along.block == 0 ? along.axes : 0;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if (module.mesh[axis].size == 1) axes &= ~(MeshAxes{1} << axis);
  }
  return axes;
}

namespace {

AxisRange range_of(const std::vector<DimId>& dims, const std::vector<DimId>& some) {
  const auto at = std::search(dims.begin(), dims.end(), some.begin(), some.end());
  return {static_cast<std::size_t>(at - dims.begin()), some.size()};
}

}  // namespace

AxisRange worked_axes(const Module& module, const Op& op, std::size_t operand) {
  return range_of(module.type(op.operands.at(operand)).dims, worked_dims(module, op, operand));
}

AxisRange made_axes(const Module& module, const Op& op) {
  if (op.code == OpCode::take) return {};
  if (!is_rearrangement(op) && !rearranges_on_the_way(op)) return range_of(module.type(op.results.at(0)).dims, op.over);
  return {worked_axes(module, op, 0).first, made_dims(module, op).size()};
}

bool keeps_owners(const Module& module, const Op& op) {
  const bool rearranges = is_rearrangement(op) || rearranges_on_the_way(op);
  return rearranges && rearrangement_of(module, op) == OpCode::reshape && module.dim(op.over.at(0)).is_workers();
}

AxisRange whole_axes(const Module& module, const Op& op) {
  AxisRange axes = made_axes(module, op);
  if (keeps_owners(module, op)) ++axes.first, --axes.count;
  return axes;
}

void displace(Op& slice, std::int64_t displacement) {
  slice.literal.clear();
  if (displacement != 0) slice.literal = {Word::integer(displacement)};
}

namespace {

bool is_own_slice(const Module& module, DimId part, DimId whole) {
  const Derivation& derived = module.dim(part).derived;
  return derived.kind == Derivation::Kind::slice && derived.sources == std::vector<DimId>{whole};
}

SizeOf sizes_of(const Module& module) {
  return [&module](DimId dim) { return module.dim(dim).size; };
}

// The indices of a sum before or behind one of its parts; -1 if some size is not known.
std::int64_t size_beside(const Module& module, DimId part, DimId whole, bool behind, const SizeOf& size_of) {
  const std::vector<DimId>& parts = module.dim(whole).derived.sources;
  const auto at = std::find(parts.begin(), parts.end(), part);
  const std::vector<DimId> beside(behind ? at + 1 : parts.begin(), behind ? parts.end() : at);
  std::int64_t size = 0;
  for (const DimId dim : beside) {
    if (size_of(dim) < 0) return -1;
    size = checked_add(size, size_of(dim), "a dimension's size");
  }
  return size;
}

}  // namespace

bool is_part(const Module& module, DimId part, DimId whole) {
  const Derivation& derived = module.dim(whole).derived;
  const std::vector<DimId>& parts = derived.sources;
  const bool of_sum = derived.kind == Derivation::Kind::sum && std::count(parts.begin(), parts.end(), part) == 1;
  return of_sum || is_own_slice(module, part, whole);
}

SlicedIndices sliced_by(const Module& module, const Op& op, const SizeOf& size_of) {
  const DimId part = op.dim, whole = worked_dim(op);
  const bool own = is_own_slice(module, part, whole);
  SlicedIndices indices = own ? sliced_indices(module.dim(part).derived, size_of(whole))
                              : SlicedIndices{size_beside(module, part, whole, false, size_of), size_of(part)};
  if (indices.count > 0) indices.first = checked_add(indices.first, displacement(op), "the index of a slice");
  return indices;
}

SlicedIndices sliced_by(const Module& module, const Op& op) { return sliced_by(module, op, sizes_of(module)); }

OutsideFault outside_fault(const Module& module, DimId part, DimId whole, std::int64_t displacement,
                           const SizeOf& size_of) {
  const std::string& name = module.dim(whole).name;
  if (is_own_slice(module, part, whole)) {
    return outside_fault(module.dim(part).derived, displacement, size_of(whole), name);
  }
  const bool behind = displacement > 0;
  const std::int64_t room = size_beside(module, part, whole, behind, size_of);
  if (displacement == 0 || room < 0 || size_of(part) == 0) return {};
  if (behind ? displacement <= room : displacement >= -room) return {};
  return {fmt::format("a slice displaced by {} lies outside of '{}'", displacement, name),
          fmt::format("'{}' is {}, with {} {} {} '{}'", name, derivation_text(module, whole), room,
                      room == 1 ? "index" : "indices", behind ? "behind" : "before", module.dim(part).name),
          "add a larger dimension there"};
}

void require_inside(const Module& module, const Op& slice, const SizeOf& size_of) {
  const OutsideFault fault = outside_fault(module, slice.dim, worked_dim(slice), displacement(slice), size_of);
  if (!fault.what.empty()) fail(ExitStatus::bad_input, fault.what, fault.why, fault.remedy, slice.where);
}

void require_inside(const Module& module) {
  for_each_op(module, [&](const Op& op, int, int) {
    if (rearrangement_of(module, op) == OpCode::slice) require_inside(module, op, sizes_of(module));
  });
}

std::optional<std::vector<DimId>> with_replaced(const std::vector<DimId>& dims, const std::vector<DimId>& from,
                                                const std::vector<DimId>& to) {
  const auto at = std::search(dims.begin(), dims.end(), from.begin(), from.end());
  if (at == dims.end() || std::search(at + 1, dims.end(), from.begin(), from.end()) != dims.end()) return std::nullopt;
  std::vector<DimId> replaced(dims.begin(), at);
  replaced.insert(replaced.end(), to.begin(), to.end());
  replaced.insert(replaced.end(), at + std::ssize(from), dims.end());
  return replaced;
}

std::vector<DimId> taken_dims(const std::vector<DimId>& array, DimId along, const std::vector<DimId>& places) {
  std::vector<DimId> rest = array, dims;
  rest.erase(std::remove(rest.begin(), rest.end(), along), rest.end());
  for (const DimId d : array) {
    if (d != along) {
      dims.push_back(d);
      continue;
    }
    std::copy_if(places.begin(), places.end(), std::back_inserter(dims), [&](DimId p) { return !contains(rest, p); });
  }
  return dims;
}

std::vector<std::ptrdiff_t> axis_op_places(const Module& module, const Op& op, std::size_t operand) {
  const std::vector<DimId>&dims = module.type(op.operands.at(operand)).dims, &made = module.type(op.results.at(0)).dims;
  std::vector<std::ptrdiff_t> places;
  if (is_rearrangement(op) || rearranges_on_the_way(op)) {
    const AxisRange worked = worked_axes(module, op, operand);
    const std::size_t longer = made_axes(module, op).count;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const auto place = static_cast<std::ptrdiff_t>(axis < worked.first ? axis : axis + longer - worked.count);
      places.push_back(worked.has(axis) ? no_axis : place);
    }
    return places;
  }
  std::vector<DimId> worked = worked_dims(module, op, operand);
  if (carried_axes(module, op) != 0) worked.clear();
  for (const DimId d : dims) {
    places.push_back(contains(worked, d) ? no_axis : std::find(made.begin(), made.end(), d) - made.begin());
  }
  return places;
}

std::vector<std::ptrdiff_t> cut_places(const Module& module, const Op& op, std::size_t operand) {
  std::vector<std::ptrdiff_t> places = axis_op_places(module, op, operand);
  if (keeps_owners(module, op)) {
    places.at(worked_axes(module, op, operand).first) = static_cast<std::ptrdiff_t>(made_axes(module, op).first);
  }
  return places;
}

std::size_t walked_operand(const Module& module, const Op& op) {
  return module.type(op.operands.at(0)).dims.empty() ? 1 : 0;
}

std::size_t key_place(const Module& module, const Op& op) {
  const std::vector<DimId>& dims = module.type(op.operands.at(walked_operand(module, op))).dims;
  const auto first = std::find_if(dims.begin(), dims.end(), [&](DimId d) { return contains(op.over, d); });
  return static_cast<std::size_t>(first - dims.begin());
}

DimId key_dim(const Module& module, const Op& op) {
  return module.type(op.results.at(0)).dims.at(key_place(module, op));
}

std::vector<DimId> grouped_dims(const std::vector<DimId>& walked, const std::vector<DimId>& over, DimId keys) {
  std::vector<DimId> dims;
  bool seen = false;
  for (const DimId d : walked) {
    const bool replaced = contains(over, d);
    if (!replaced) dims.push_back(d);
    if (replaced && !seen) dims.push_back(keys);
    seen = seen || replaced;
  }
  return dims;
}

std::vector<std::ptrdiff_t> grouped_places(const Module& module, const Op& op) {
  std::vector<std::ptrdiff_t> places;
  std::ptrdiff_t next = 0;
  bool seen = false;
  for (const DimId d : module.type(op.operands.at(walked_operand(module, op))).dims) {
    const bool replaced = contains(op.over, d);
    places.push_back(replaced ? no_axis : next);
    if (!replaced || !seen) ++next;
    seen = seen || replaced;
  }
  return places;
}

namespace {

bool is_cut_twice(const Module& module, const std::vector<DimId>& dims) {
  return std::count_if(dims.begin(), dims.end(), [&](DimId d) { return !module.dim(d).local; }) > 1;
}

}  // namespace

bool crosses_workers(const Module& module, const Op& op) {
  if (is_grouping(op)) {
    const std::vector<DimId>& walked = module.type(op.operands.at(walked_operand(module, op))).dims;
    return !module.dim(key_dim(module, op)).local || is_cut_twice(module, walked);
  }
  std::vector<DimId> along = op.over;
  if (is_rearrangement(op)) along.push_back(op.dim);
  if (std::any_of(along.begin(), along.end(), [&](DimId d) { return !module.dim(d).local; })) return true;
  const DimId cut = Layout(module, op.results.at(0)).cut();
  std::vector<ValueId> values = op.operands;
  values.push_back(op.results[0]);
  return std::any_of(values.begin(), values.end(), [&](ValueId v) {
    const Layout layout(module, v);
    return is_cut_twice(module, module.type(v).dims) || (layout.is_distributed() && layout.cut() != cut);
  });
}

std::size_t batch_rank(const Module& module, const Op& op) { return module.type(op.operands.at(0)).dims.size() - 2; }

std::vector<std::ptrdiff_t> batch_places(const Module& module, const Op& op, std::size_t operand) {
  std::vector<std::ptrdiff_t> places(module.type(op.operands.at(operand)).dims.size(), no_axis);
  std::iota(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(batch_rank(module, op)), std::ptrdiff_t{0});
  return places;
}

bool is_linear_on_workers(const Module& module, const Op& op) {
  return row(op.code).group == OpGroup::linear && Layout(module, op.operands.at(0)).is_distributed();
}

}  // namespace kasen
