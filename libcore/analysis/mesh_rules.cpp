#include "libcore/analysis/mesh_rules.h"

#include <functional>
#include <numeric>

#include "libcore/analysis/whole.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

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

// The axis of a product's operand that is summed. The matrix's other one is the first of the result, and further axes
// of the vector are further ones of the result.
std::size_t summed_axis(const Op& op, size_t operand) { return operand == 1 && op.code == OpCode::mxvt ? 1 : 0; }
std::size_t result_axis(size_t operand, std::size_t axis) { return operand == 1 ? 0 : axis; }

// The axes over which an operand is cut along the summed label as the other operand is, or further.
MeshAxes summed_alike(const Module& module, const Op& op, size_t operand) {
  const auto cuts = [&](size_t i) { return Layout(module, op.operands[i]).cuts(summed_axis(op, i)); };
  const MeshAxes own = cuts(operand), other = cuts(1 - operand), alike = axes_cut_alike(own, other);
  return alike == other ? own : alike;
}

bool is_contraction(const Module& module, const Op& op) { return is_product(op) && is_dense_product(module, op); }

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

Contraction contraction(const Module& module, const Op& product, std::span<const State> states) {
  Contraction c;
  c.kept.resize(module.type(product.results.at(0)).dims.size(), 0);
  MeshAxes taken = 0;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const Type& type = module.type(product.operands[i]);
    const Layout own(module, type);
    const MeshAxes known = taken | (states[i].is_cons() ? held_axes(module, type, states[i]) : 0);
    for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
      (axis == summed_axis(product, i) ? c.summed : c.kept.at(result_axis(i, axis))) |= own.cuts(axis) & ~known;
    }
    taken |= own.all_cuts() & ~known;
  }
  return c;
}

MeshAxes needed_axes(const Module& module, const Op& op, size_t operand, std::span<const State> states) {
  const Type& type = module.type(op.operands.at(operand));
  if (type.sparse) return 0;
  const Layout own(module, type);
  const bool elementwise = op.code == OpCode::map || op.code == OpCode::apply;
  if (!elementwise && !is_contraction(module, op)) return 0;
  const Type& result = module.type(op.results.at(0));
  MeshAxes cut = own.all_cuts() | Layout(module, result).all_cuts(), alike = 0;
  if (elementwise) {
    alike = cut_alike(module, result, type, met_axes(result.dims, type.dims));
  } else {
    const Contraction c = contraction(module, op, states);
    cut = std::accumulate(c.kept.begin(), c.kept.end(), cut | c.summed, std::bit_or<>());
    for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
      if (axis == summed_axis(op, operand)) {
        alike |= summed_alike(module, op, operand) & c.summed;
      } else {
        // Where the result is not cut at all, it is at fault (rule 17).
        const std::size_t to = result_axis(operand, axis);
        const MeshAxes cuts = Layout(module, result).cuts(to);
        alike |= (axes_cut_alike(own.cuts(axis), cuts) | ~cuts) & own.cuts(axis) & c.kept.at(to);
      }
    }
  }
  return cut & ~alike;
}

}  // namespace kasen
