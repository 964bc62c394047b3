// The state rules axis by axis: which axes of the mesh an operator needs its operands on, and which its result is on.
// For each axis m of the mesh and each value v:
//
//   m cuts v   m in v's set   meaning
//   yes        no             an element is at its owner along m
//   yes        yes            also at all others along m: copies that agree (C), or contributions (PR)
//   no         no             it is at place 0 along m
//   no         yes            at every place along m; a shared without a set is so along all axes
//
// Internal to the state rules (state_rules.cpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/analysis/state_rules.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"

namespace kasen {

// The axes along which every worker holds a C value, or contributes to a PR one. None for P.
[[nodiscard]] MeshAxes held_axes(const Module& module, const Type& type, const State& state);

// The set that says so for a value of this type: empty for a shared along all axes.
[[nodiscard]] SlaveSet held_set(const Module& module, const Type& type, MeshAxes axes);

// C along these axes; P for a shared along none, which is at place 0 of all.
[[nodiscard]] State held_state(const Module& module, const Type& type, MeshAxes axes);

// How the mesh cuts a contraction (rule 17; libcore/ir/contraction.h). An axis of the mesh cuts one label: that of the
// axis of operands[1] which it cuts, unless that operand is held along it, else that of operands[0]. Of two axes of one
// operand with one label, the first that is cut counts.
struct Contraction {
  Labels labels;
  std::vector<std::pair<char, MeshAxes>> cuts;  // by label; labels that are not cut may be missing
  MeshAxes summed = 0;                          // axes that cut summed labels: the result is PR over them
  std::vector<MeshAxes> kept;                   // for each axis of the result

  [[nodiscard]] MeshAxes cuts_of(char label) const;
};
[[nodiscard]] Contraction contraction(const Module& module, const Op& op, std::span<const State> states);
/// True if the operands cut a summed label over different axes: refused, since no worker has a block of its indices.
[[nodiscard]] bool is_cut_apart(const Module& module, const Op& op, const Contraction& c);

// The axes along which the operand has to be held, since they cut the operator, but not the operand alike. For map,
// apply, contractions and operators along an axis; none for others.
[[nodiscard]] MeshAxes needed_axes(const Module& module, const Op& op, size_t operand, std::span<const State> states);

// True for a sort or argsort along a dimension that the mesh cuts in equal runs, where its operand and its result are
// cut alike: the workers sort together (libcore/sorting/sort_plan.h), and no line is whole anywhere.
[[nodiscard]] bool sorts_across(const Module& module, const Op& op);

namespace state_rules {

// What a rule is asked: may the operator have operands in these states?
struct Question {
  const Module& module;
  const Op& op;
  std::span<const State> states;
  LawChecker& laws;

  [[nodiscard]] const Type& type(size_t i) const { return module.type(op.operands[i]); }
  [[nodiscard]] bool shared(size_t i) const { return Layout(module, type(i)).is_shared(); }
  [[nodiscard]] MeshAxes held(size_t i) const { return held_axes(module, type(i), states[i]); }
  [[nodiscard]] std::string name(size_t i) const { return '%' + module.value(op.operands[i]).name; }
  // "%x is @part"
  [[nodiscard]] std::string says(size_t i) const { return name(i) + " is " + state_text(module, states[i]); }
};

inline RuleAnswer yes(int rule, State result, std::optional<LawUse> law = std::nullopt) {
  return RuleAnswer{true, rule, {std::move(result)}, std::move(law), {}, {}};
}

inline RuleAnswer no(int rule, std::string why, std::string remedy) {
  return RuleAnswer{false, rule, {}, std::nullopt, std::move(why), std::move(remedy)};
}

// Rule 3 for one operand: every worker has to hold a shared that is read, and an operand that is not cut like the
// operator is held along the axes that cut it.
[[nodiscard]] std::optional<RuleAnswer> check_shared(const Question& q, size_t i);
[[nodiscard]] std::optional<RuleAnswer> check_shareds(const Question& q);
// C along the axes along which all operands are.
[[nodiscard]] RuleAnswer of_shareds(const Question& q);

// Rule 18: each line is whole where an element of it is made, or a scan of it takes up carries.
[[nodiscard]] RuleAnswer axis_rule(const Question& q);

// Rule 18 for linear algebra: each matrix is whole where it is worked on.
[[nodiscard]] RuleAnswer batch_rule(const Question& q);

// Rule 4 for reduce_by: contributions over the axes that cut a dimension which the keys replace.
[[nodiscard]] RuleAnswer reduce_by_rule(const Question& q);

}  // namespace state_rules

}  // namespace kasen
