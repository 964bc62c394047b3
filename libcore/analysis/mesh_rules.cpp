#include "libcore/analysis/mesh_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/axis_ops.h"
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
    if (met[axis] != no_axis) alike |= axes_cut_alike(own.cut_of(axis), to.cut_of(static_cast<size_t>(met[axis])));
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

MeshAxes held_by(const Module& module, const Op& op, std::span<const State> states, size_t operand) {
  return states[operand].is_cons() ? held_axes(module, module.type(op.operands[operand]), states[operand]) : 0;
}

// The axes over which an operand that is cut so along a summed label is cut as the other operand is, or further. All,
// if both have the same indices: K/bc held along b and K/ac held along a, where a and b have as many places.
MeshAxes summed_alike(const Module& module, const Op& op, const Labels& labels, std::span<const State> states,
                      size_t operand, char label, AxisCut own) {
  const Layout layout(module, op.operands[1 - operand]);
  const std::ptrdiff_t axis = ruling_axis(layout, labels.operands[1 - operand], label);
  const AxisCut other = axis == no_axis ? AxisCut() : layout.cut_of(static_cast<std::size_t>(axis));
  const MeshAxes alike = axes_cut_alike(own, other);
  if (alike == other.axes) return own.axes;
  const auto part = [&](AxisCut cut, size_t i) {
    return axis_part(module, no_dim, cut, held_by(module, op, states, i));
  };
  return part(own, operand) == part(other, 1 - operand) ? own.axes : alike;
}

// Of the axes that cut a contraction, those that cut this operand alike.
MeshAxes contracted_alike(const Module& module, const Op& op, const Contraction& c, std::span<const State> states,
                          size_t operand) {
  const Layout own(module, op.operands[operand]), result(module, op.results.at(0));
  const std::string& labels = c.labels.operands[operand];
  MeshAxes alike = 0;
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    const char label = labels[axis];
    if (ruling_axis(own, labels, label) != static_cast<std::ptrdiff_t>(axis)) continue;
    const std::size_t to = c.labels.result.find(label);
    if (to == std::string::npos) {
      alike |= summed_alike(module, op, c.labels, states, operand, label, own.cut_of(axis)) & c.cuts_of(label);
    } else {
      // Where the result is not cut at all, it is at fault (rule 17).
      const AxisCut cut = result.cut_of(to);
      alike |= (axes_cut_alike(own.cut_of(axis), cut) | ~cut.axes) & own.cuts(axis) & c.kept.at(to);
    }
  }
  return alike;
}

// In the default layout a worker multiplies with the rows of a dense matrix that it owns, also where it holds others.
bool by_owned_rows(const Module& module, const Op& op) {
  return module.mesh.empty() && is_product(op) && !names_layouts(module);
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

// No worker would have a block of the label's indices: those of one operand's cut that are in the other's, too.
bool is_cut_apart(const Module& module, const Op& op, const Contraction& c) {
  return std::any_of(c.cuts.begin(), c.cuts.end(), [&](const auto& cut) {
    if (c.labels.is_kept(cut.first)) return false;
    const MeshAxes summed = c.cuts_of(cut.first);
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const Layout own(module, op.operands[i]);
      const std::string& labels = c.labels.operands[i];
      for (std::size_t axis = 0; axis < labels.size(); ++axis) {
        if (labels[axis] == cut.first && (summed & ~own.cuts(axis)) == 0) return false;
      }
    }
    return true;
  });
}

Contraction contraction(const Module& module, const Op& op, std::span<const State> states) {
  Contraction c;
  c.labels = labels_of(module, op);
  MeshAxes taken = 0;
  for (const size_t i : {size_t{1}, size_t{0}}) {
    const Type& type = module.type(op.operands[i]);
    const Layout own(module, type);
    const bool held = states[i].is_cons() && !(i == 1 && by_owned_rows(module, op));
    const MeshAxes known = taken | (held ? held_axes(module, type, states[i]) : 0);
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

namespace {

// The keys, or a single value, are read beside the elements that are walked over.
MeshAxes keys_needed(const Module& module, const Op& op, size_t operand) {
  const size_t walked = walked_operand(module, op);
  if (operand == walked) return 0;
  const Type &along = module.type(op.operands.at(walked)), &type = module.type(op.operands[operand]);
  std::vector<std::ptrdiff_t> met;
  for (const DimId d : type.dims)
    met.push_back(std::find(along.dims.begin(), along.dims.end(), d) - along.dims.begin());
  return (Layout(module, type).all_cuts() | Layout(module, along).all_cuts()) & ~cut_alike(module, along, type, met);
}

}  // namespace

bool sorts_across(const Module& module, const Op& op) {
  if (op.code != OpCode::sort && op.code != OpCode::argsort) return false;
  const Layout from(module, op.operands.at(0)), to(module, op.results.at(0));
  const std::size_t rank = module.type(op.operands[0]).dims.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (from.cut_of(axis) != to.cut_of(axis)) return false;
  }
  const AxisCut along = from.cut_of(worked_place(module, op));
  return along.block == 0 && (along.axes & ~axes_of_one_place(module)) != 0;
}

MeshAxes needed_axes(const Module& module, const Op& op, size_t operand, std::span<const State> states) {
  const Type& type = module.type(op.operands.at(operand));
  if (type.sparse) return 0;
  const Layout own(module, type);
  const bool elementwise = op.code == OpCode::map || op.code == OpCode::apply;
  const bool is_linear = is_linear_on_workers(module, op);
  if (!elementwise && !is_linear && !is_axis_op(op) && !is_contraction(module, op)) return 0;
  const Type& result = module.type(op.results.at(0));
  MeshAxes cut = own.all_cuts() | Layout(module, result).all_cuts();
  if (is_grouping(op)) return keys_needed(module, op, operand);
  if (sorts_across(module, op)) return 0;
  if (is_axis_op(op)) {
    return cut & ~cut_alike(module, result, type, cut_places(module, op, operand)) & ~axes_of_one_place(module);
  }
  if (is_linear) return cut & ~cut_alike(module, result, type, batch_places(module, op, operand));
  if (operand > 1 && !elementwise) return 0;  // what terms are reduced onto has a rule of its own
  if (elementwise) return cut & ~cut_alike(module, result, type, met_axes(result.dims, type.dims));
  const Contraction c = contraction(module, op, states);
  for (const auto& [label, axes] : c.cuts) cut |= axes;
  return cut & ~contracted_alike(module, op, c, states, operand);
}

}  // namespace kasen

namespace kasen::state_rules {
namespace {

// Rule 3 for an operand that is not cut like the operator, over some axes of the mesh: all along those hold it.
std::optional<RuleAnswer> check_axes(const Question& q, size_t i) {
  const MeshAxes needed = needed_axes(q.module, q.op, i, q.states);
  const bool held = q.states[i].is_cons() && (needed & ~held_axes(q.module, q.type(i), q.states[i])) == 0;
  if (needed == 0 || held) return std::nullopt;
  const std::string set = slaves_text(set_of_mesh_axes(q.module, needed));
  const std::string remedy =
      q.states[i].is_pre() ? "gather {0} and scatter it to {{{1}}} first" : "scatter {0} to {{{1}}} first";
  const std::string who =
      needed == all_mesh_axes(q.module) ? "every worker holds" : "all workers along these axes hold";
  return no(3, fmt::format("{}, but it is read whole: {} all of it (@cons{{{}}})", q.says(i), who, set),
            fmt::format(fmt::runtime(remedy), q.name(i), set));
}

}  // namespace

std::optional<RuleAnswer> check_shared(const Question& q, size_t i) {
  if (q.shared(i) && !q.states[i].is_cons()) {
    const std::string remedy = q.states[i].is_pre() ? "gather and scatter " : "scatter ";
    return no(3, q.says(i) + ", but a shared is used when every worker holds it (@cons)",
              remedy + q.name(i) + " first");
  }
  return check_axes(q, i);
}

std::optional<RuleAnswer> check_shareds(const Question& q) {
  for (size_t i = 0; i < q.op.operands.size(); ++i) {
    if (auto answer = check_shared(q, i)) return answer;
  }
  return std::nullopt;
}

RuleAnswer of_shareds(const Question& q) {
  MeshAxes held = all_mesh_axes(q.module);
  for (size_t i = 0; i < q.op.operands.size(); ++i) held &= q.held(i);
  return yes(3, held_state(q.module, q.module.type(q.op.results.at(0)), held));
}

RuleAnswer axis_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  const Type& made = q.module.type(q.op.results.at(0));
  const Layout result(q.module, made);
  MeshAxes held = all_mesh_axes(q.module);
  bool distributed = result.is_distributed();
  for (size_t i = 0; i < q.op.operands.size(); ++i) {
    held &= q.held(i);  // of a shared, too: it may be at some workers alone
    if (q.shared(i)) continue;
    distributed = true;
    if (q.states[i].is_pre()) {
      return no(18, fmt::format("{}, but {} reads values", q.says(i), row(q.op.code).name),
                "gather " + q.name(i) + " first");
    }
  }
  if (!distributed) return of_shareds(q);
  if (sorts_across(q.module, q.op)) return yes(18, State::part());
  if (carried_axes(q.module, q.op) != 0) return yes(18, State::part());
  const AxisRange whole = whole_axes(q.module, q.op);
  const bool sorts = q.op.code == OpCode::sort || q.op.code == OpCode::argsort;
  for (std::size_t axis = 0; axis < made.dims.size(); ++axis) {
    if (!whole.has(axis) || (result.cuts(axis) & ~axes_of_one_place(q.module)) == 0) continue;
    return no(18,
              fmt::format("its result is cut over '{}', and each line is made as a whole",
                          q.module.dim(made.dims[axis]).name),
              sorts ? "cut its operand alike, or leave the dimension whole and relayout the result"
                    : "leave the dimension whole, and relayout the result");
  }
  return yes(18, held == 0 ? State::part() : held_state(q.module, made, held));
}

RuleAnswer batch_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  MeshAxes held = all_mesh_axes(q.module);
  for (size_t i = 0; i < q.op.operands.size(); ++i) {
    if (q.states[i].is_pre()) {
      return no(18, fmt::format("{}, but {} reads values", q.says(i), row(q.op.code).name),
                "gather " + q.name(i) + " first");
    }
    held &= q.held(i);
  }
  RuleAnswer answer = yes(18, State::part());
  answer.results.clear();
  for (const ValueId v : q.op.results) {
    answer.results.push_back(held == 0 ? State::part() : held_state(q.module, q.module.type(v), held));
  }
  return answer;
}

RuleAnswer reduce_by_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  const size_t walked = walked_operand(q.module, q.op);
  MeshAxes held = all_mesh_axes(q.module);
  for (size_t i = 0; i < q.op.operands.size(); ++i) {
    if (q.states[i].is_pre()) {
      return no(4, fmt::format("{}, but reduce_by reads values", q.says(i)), "gather " + q.name(i) + " first");
    }
    held &= q.held(i);
  }
  if (q.shared(walked)) return of_shareds(q);
  const Type &from = q.type(walked), &made = q.module.type(q.op.results.at(0));
  const Layout own(q.module, from);
  MeshAxes reduced = 0;
  for (size_t axis = 0; axis < from.dims.size(); ++axis) {
    if (contains(q.op.over, from.dims[axis])) reduced |= own.cuts(axis);
  }
  if (reduced != 0) return yes(4, State::pre(q.op.fns[0], held_set(q.module, made, reduced)));
  return yes(4, held == 0 ? State::part() : held_state(q.module, made, held));
}

}  // namespace kasen::state_rules
