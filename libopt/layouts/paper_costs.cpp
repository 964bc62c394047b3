#include "libopt/layouts/paper_costs.h"

#include <algorithm>
#include <cmath>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {

using tiling::Assignment;
using tiling::VariableId;

namespace {

// Rows, columns, ...; then blocks.
std::vector<Cuts> paper_cuts(const Module& module, const std::vector<DimId>& dims) {
  std::vector<Cuts> all;
  std::vector<std::size_t> free;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (module.dim(dims[axis]).local) continue;
    free.push_back(axis);
    all.emplace_back(dims.size())[axis].axes = all_mesh_axes(module);
  }
  if (free.size() >= 2 && mesh_rank(module) == 2) {
    Cuts& blocks = all.emplace_back(dims.size());
    blocks[free[0]].axes = 1;
    blocks[free[1]].axes = 2;
  }
  return all;
}

const char* name_of(std::size_t choice) {
  constexpr const char* names[] = {"R", "C"};
  return choice < 2 ? names[choice] : "B";
}

}  // namespace

PaperProblem::PaperProblem(const Module& sized, const std::map<ValueId, Cuts>& fixed, bool budget)
    : m_(sized), moves_(m_), workers_(mesh_workers(m_)) {
  variable_of_.resize(m_.values.size(), VariableId(-1));
  for (const ValueId v : m_.values.ids()) make_variable(v, fixed, budget);
  for_each_op(m_, [&](const Op& op, int number, int) {
    number_ = number;
    one(op);
  });
}

void PaperProblem::make_variable(ValueId value, const std::map<ValueId, Cuts>& fixed, bool budget) {
  const Type& type = m_.type(value);
  const std::vector<Cuts> cuts = paper_cuts(m_, type.dims);
  if (cuts.empty()) return;
  tiling::Variable variable{m_.value(value).name, {}};
  std::vector<Choice> choices;
  const auto asked = fixed.find(value);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (asked != fixed.end() && asked->second != cuts[i]) continue;
    variable.choices.push_back({name_of(i), 0});
    choices.push_back({cuts[i], false});
  }
  if (choices.empty()) {
    variable.choices.push_back({"as asked", 0});
    choices.push_back({asked->second, false});
  }
  if (choices.size() > 1 && type.list == 0) {
    variable.choices.push_back({"D", budget ? std::ceil(bytes(value) / workers_) : 0});
    choices.push_back({cuts[0], true});
  }
  variable_of_[value] = graph_.add(std::move(variable));
  choices_.push_back(std::move(choices));
  arrays_.push_back(value);
  add_factor({value}, VariableId(-1), false,
             [&](const Assignment& at) { return choice(value, at).both ? bytes(value) : 0; });
}

template <class Price>
void PaperProblem::add_factor(const std::vector<ValueId>& values, VariableId form, bool is_view, const Price& price) {
  std::vector<VariableId> among;
  if (form >= 0) among.push_back(form);
  for (const ValueId v : values) {
    if (is_variable(v) && !contains(among, variable_of_[v])) among.push_back(variable_of_[v]);
  }
  if (among.empty()) return;
  std::optional<tiling::Factor> factor = priced_factor(graph_, std::move(among), price);
  if (!factor) return;
  factor->is_view = is_view;
  graph_.add(*std::move(factor));
  ops_.push_back(number_);
}

const PaperProblem::Choice& PaperProblem::choice(ValueId v, const Assignment& at) const {
  return choices_[variable_of_[v]].at(at[variable_of_[v]]);
}

// The axes of `a` are cut as those of `b` that they meet.
bool PaperProblem::is_cut_as(ValueId a, const Choice& one, ValueId b, const Choice& other) const {
  const std::vector<std::ptrdiff_t> met = met_axes(m_.type(b).dims, m_.type(a).dims);
  for (std::size_t axis = 0; axis < met.size(); ++axis) {
    const AxisCut cut = met[axis] == no_axis ? AxisCut() : other.cuts[static_cast<std::size_t>(met[axis])];
    if (one.cuts[axis] != cut) return false;
  }
  return true;
}

void PaperProblem::alike(ValueId from, ValueId to) {
  if (!is_variable(from) || !is_variable(to)) return;
  add_factor({from, to}, VariableId(-1), false, [&](const Assignment& at) {
    const Choice &one = choice(from, at), &other = choice(to, at);
    return one.both || is_cut_as(from, one, to, other) ? 0 : bytes(from);
  });
}

// Element by element, each axis of an operand as the result's axis of its label.
void PaperProblem::alike_by_labels(const Op& op) {
  const Labels labels = labels_of(m_, op);
  const ValueId made = op.results[0];
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const ValueId v = op.operands[i];
    if (!is_variable(v) || !is_variable(made)) continue;
    add_factor({v, made}, VariableId(-1), false, [&](const Assignment& at) {
      const Choice &from = choice(v, at), &to = choice(made, at);
      bool same = true;
      for (std::size_t axis = 0; axis < from.cuts.size(); ++axis) {
        const std::size_t place = labels.result.find(labels.operands[i][axis]);
        same = same && from.cuts[axis] == (place == std::string::npos ? AxisCut() : to.cuts[place]);
      }
      return same || from.both ? 0 : bytes(v);
    });
  }
}

// Reductions read along their lines. Views show the operand's layout.
void PaperProblem::passed_on(const Op& op) {
  const ValueId v = op.operands[is_grouping(op) ? walked_operand(m_, op) : 0], made = op.results[0];
  if (!is_variable(v)) return;
  const bool reduces = op.code == OpCode::reduce || is_grouping(op);
  add_factor({v, made}, VariableId(-1), !reduces, [&](const Assignment& at) {
    const Choice& from = choice(v, at);
    const std::vector<DimId>& dims = m_.type(v).dims;
    if (reduces) {
      bool cut = false;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        cut = cut || (!from.cuts[axis].is_whole() && (op.over.empty() || contains(op.over, dims[axis])));
      }
      return cut && !from.both ? bytes(v) : 0;
    }
    if (!is_variable(made)) return 0.0;
    const Choice& to = choice(made, at);
    Module shown = m_;
    shown.value(v).type.cuts = from.cuts;
    const bool same = to.both == from.both && (from.both || view_cuts(shown, op) == to.cuts);
    return same ? 0 : tiling::forbidden;
  });
}

double PaperProblem::product_cost(const Op& op, bool whole, const Assignment& at) const {
  const Labels labels = labels_of(m_, op);
  const ValueId made = op.results[0];
  const bool cut_result = is_variable(made);
  const auto along = [&](std::size_t operand, bool kept) {
    const ValueId v = op.operands[operand];
    if (!is_variable(v)) return true;
    const Choice& from = choice(v, at);
    if (from.both) return true;
    for (std::size_t axis = 0; axis < from.cuts.size(); ++axis) {
      const bool is_kept = labels.result.find(labels.operands[operand][axis]) != std::string::npos;
      if (!from.cuts[axis].is_whole() && is_kept != kept) return false;
    }
    return true;
  };
  const auto read = [&](std::size_t operand) {
    return is_variable(op.operands[operand]) ? bytes(op.operands[operand]) : 0;
  };
  if (!whole) {
    const double updated = workers_ * bytes(made) + (cut_result && choice(made, at).both ? bytes(made) : 0);
    return (along(0, false) ? 0 : read(0)) + (along(1, false) ? 0 : read(1)) + updated;
  }
  double cost = along(0, true) ? 0 : read(0);
  const bool everywhere = !is_variable(op.operands[1]) || choice(op.operands[1], at).both;
  if (!everywhere) cost += workers_ * read(1);
  if (!cut_result) return cost;
  const Choice& to = choice(made, at);
  for (std::size_t axis = 0; axis < to.cuts.size(); ++axis) {
    const bool from_first = labels.operands[0].find(labels.result[axis]) != std::string::npos;
    if (!to.cuts[axis].is_whole() && !from_first) return cost + bytes(made);
  }
  return cost;
}

// Which of the two forms it takes is a variable of its own (the paper's intermediate nodes).
void PaperProblem::product(const Op& op) {
  bool any = false;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) any = any || is_variable(op.operands[i]);
  if (!any) return;
  const VariableId form = graph_.add({m_.value(op.results[0]).name + " (form)", {{"a", 0}, {"b", 0}}});
  choices_.push_back(std::vector<Choice>(2));
  arrays_.push_back(no_value);
  add_factor({op.operands[0], op.operands[1], op.results[0]}, form, false,
             [&](const Assignment& at) { return product_cost(op, at[form] == 0, at); });
  if (is_onto(op)) alike(op.operands[2], op.results[0]);
}

void PaperProblem::one(const Op& op) {
  switch (row(op.code).group) {
    case OpGroup::vector:
      if (op.code == OpCode::reduce || is_view(op)) return passed_on(op);
      for (const ValueId v : op.operands) alike(v, op.results[0]);
      return;
    case OpGroup::axis:  // the paper's map and scan; its views cost nothing
      if (is_grouping(op)) return passed_on(op);
      if (op.code != OpCode::take && !is_rearrangement(op)) alike(op.operands[0], op.results[0]);
      return;
    case OpGroup::product:
    case OpGroup::contraction:
      return labels_of(m_, op).summed().empty() ? alike_by_labels(op) : product(op);
    case OpGroup::list:
      if (op.code == OpCode::put) alike(op.operands[2], op.results[0]);
      if (op.code == OpCode::push) alike(op.operands[1], op.results[0]);
      return alike(op.operands[0], op.results[0]);
    case OpGroup::control: {
      const std::size_t bounds = op.code == OpCode::for_loop ? 2 : 0, first_arg = op.code == OpCode::for_loop ? 1 : 0;
      for (std::size_t k = 0; k < op.results.size(); ++k) {
        if (op.code != OpCode::if_else) {
          alike(op.operands[bounds + k], op.blocks[0].args[first_arg + k]);
          alike(op.blocks[0].args[first_arg + k], op.results[k]);
        }
        for (const Block& block : op.blocks) alike(block.ops.back().operands[k], op.results[k]);
      }
      return;
    }
    default:
      return;
  }
}

TilingDecisions PaperProblem::decisions(const Assignment& choices) const {
  TilingDecisions decided;
  for (const ValueId v : m_.values.ids()) {
    if (is_variable(v)) decided.cuts[v] = choice(v, choices).cuts;
  }
  return decided;
}

}  // namespace kasen
