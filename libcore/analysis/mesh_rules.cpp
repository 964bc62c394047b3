#include "libcore/analysis/mesh_rules.h"

#include <string>

#include "libcore/analysis/whole.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

// The axes of the mesh that cut both an axis of the operand and the axis of `along` that it meets.
MeshAxes cut_alike(const Module& module, const Type& along, const Type& operand,
                   const std::vector<std::ptrdiff_t>& met) {
  const Layout to(module, along), own(module, operand);
  MeshAxes alike = 0;
  for (size_t axis = 0; axis < met.size(); ++axis) {
    if (met[axis] != no_axis) alike |= axes_cut_alike(own.cuts(axis), to.cuts(static_cast<size_t>(met[axis])));
  }
  return alike;
}

// The axis by which an operand with the label is cut, or no_axis.
std::ptrdiff_t ruling_axis(const Layout& own, const std::string& labels, char label) {
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    if (labels[axis] == label && own.cuts(axis) != 0) return static_cast<std::ptrdiff_t>(axis);
  }
  return no_axis;
}

// The axes over which an operand that is cut so along a summed label is cut as the other operand is, or further.
MeshAxes summed_alike(const Module& module, const Op& op, const Labels& labels, size_t operand, char label,
                      MeshAxes own) {
  const Layout layout(module, op.operands[1 - operand]);
  const std::ptrdiff_t axis = ruling_axis(layout, labels.operands[1 - operand], label);
  const MeshAxes other = axis == no_axis ? 0 : layout.cuts(static_cast<std::size_t>(axis));
  const MeshAxes alike = axes_cut_alike(own, other);
  return alike == other ? own : alike;
}

// Of the axes that cut a contraction, those that cut this operand alike.
MeshAxes contracted_alike(const Module& module, const Op& op, const Contraction& c, size_t operand) {
  const Layout own(module, op.operands[operand]), result(module, op.results.at(0));
  const std::string& labels = c.labels.operands[operand];
  MeshAxes alike = 0;
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    const char label = labels[axis];
    if (ruling_axis(own, labels, label) != static_cast<std::ptrdiff_t>(axis)) continue;
    const std::size_t to = c.labels.result.find(label);
    if (to == std::string::npos) {
      alike |= summed_alike(module, op, c.labels, operand, label, own.cuts(axis)) & c.cuts_of(label);
    } else {
      // Where the result is not cut at all, it is at fault (rule 17).
      const MeshAxes cuts = result.cuts(to);
      alike |= (axes_cut_alike(own.cuts(axis), cuts) | ~cuts) & own.cuts(axis) & c.kept.at(to);
    }
  }
  return alike;
}

}  // namespace

MeshAxes held_axes(const Module& module, const Type& type, const State& state) {
  if (!state.is_cons() && !state.is_pre()) return 0;
  if (state.slaves.empty() && Layout(module, type).is_shared()) return all_mesh_axes(module);
  return mesh_axes_of(module, state.slaves);
}

SlaveSet held_set(const Module& module, const Type& type, MeshAxes axes) {
  if (axes == all_mesh_axes(module) && Layout(module, type).is_shared()) return {};
  return set_of_mesh_axes(module, axes);
}

State held_state(const Module& module, const Type& type, MeshAxes axes) {
  if (axes == 0 && Layout(module, type).is_shared()) return State::part();
  return State::cons(held_set(module, type, axes));
}

MeshAxes Contraction::cuts_of(char label) const {
  MeshAxes axes = 0;
  for (const auto& [of, some] : cuts) axes |= of == label ? some : 0;
  return axes;
}

Contraction contraction(const Module& module, const Op& op, std::span<const State> states) {
  Contraction c;
  c.labels = labels_of(module, op);
  MeshAxes taken = 0;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const Type& type = module.type(op.operands[i]);
    const Layout own(module, type);
    const MeshAxes known = taken | (states[i].is_cons() ? held_axes(module, type, states[i]) : 0);
    std::string seen;
    for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
      const char label = c.labels.operands[i][axis];
      const MeshAxes fresh = own.cuts(axis) & ~known;
      if (fresh == 0 || seen.find(label) != std::string::npos) continue;
      seen += label;
      c.cuts.emplace_back(label, fresh);
      taken |= fresh;
    }
  }
  for (const auto& [label, axes] : c.cuts) c.summed |= c.labels.is_kept(label) ? 0 : axes;
  for (const char label : c.labels.result) c.kept.push_back(c.cuts_of(label));
  return c;
}

MeshAxes needed_axes(const Module& module, const Op& op, size_t operand, std::span<const State> states) {
  const Type& type = module.type(op.operands.at(operand));
  if (type.sparse) return 0;
  const Layout own(module, type);
  const bool elementwise = op.code == OpCode::map || op.code == OpCode::apply;
  if (!elementwise && !is_contraction(module, op)) return 0;
  const Type& result = module.type(op.results.at(0));
  MeshAxes cut = own.all_cuts() | Layout(module, result).all_cuts();
  if (operand > 1 && !elementwise) return 0;  // what terms are reduced onto has a rule of its own
  if (elementwise) return cut & ~cut_alike(module, result, type, met_axes(result.dims, type.dims));
  const Contraction c = contraction(module, op, states);
  for (const auto& [label, axes] : c.cuts) cut |= axes;
  return cut & ~contracted_alike(module, op, c, operand);
}

}  // namespace kasen
