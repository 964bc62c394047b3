#include "libcore/analysis/state_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "libcore/analysis/map_laws.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

using state_rules::axis_rule, state_rules::check_shared, state_rules::check_shareds, state_rules::of_shareds;
using state_rules::no, state_rules::Question, state_rules::reduce_by_rule, state_rules::yes;

RuleAnswer input_rule(const Question& q) {
  const bool whole = Layout(q.module, q.op.results[0]).is_shared();
  return yes(-1, whole ? State::cons() : State::part());
}

RuleAnswer constant_rule(const Question& /*q*/) { return yes(3, State::cons()); }

// fill and index: any state but PR, as declared.
RuleAnswer generated_rule(const Question& q) {
  const Type& type = q.module.type(q.op.results[0]);
  if (Layout(q.module, type).is_shared()) return yes(3, State::cons());
  if (!type.state.placed()) return yes(-1, State::part());
  if (type.state.is_pre()) {
    return no(-1, "a generated array is never pre-reduced: every copy holds the value itself",
              "declare it @part or @cons");
  }
  return yes(-1, type.state);
}

RuleAnswer apply_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  return of_shareds(q);
}

// Every worker that has all operands has all results.
RuleAnswer linear_rule(const Question& q) {
  if (is_linear_on_workers(q.module, q.op)) return batch_rule(q);
  RuleAnswer answer = apply_rule(q);
  if (answer.allowed) answer.results.resize(q.op.results.size(), answer.results[0]);
  return answer;
}

// ---- reduce: rules 4 and 5, and the reduction within a worker

// The axes of the mesh that cut a dimension which is reduced.
MeshAxes reduced_axes(const Question& q) {
  const Type& type = q.type(0);
  MeshAxes axes = 0;
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    if (q.op.over.empty() || contains(q.op.over, type.dims[axis])) axes |= Layout(q.module, type).cuts(axis);
  }
  return axes;
}

RuleAnswer reduce_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  if (q.shared(0)) return yes(3, q.states[0]);
  const State& state = q.states[0];
  const FnId reducer = q.op.fns[0];
  const MeshAxes reduced = reduced_axes(q);
  const auto contributing = [&](MeshAxes axes) {
    return State::pre(reducer, held_set(q.module, q.module.type(q.op.results.at(0)), axes));
  };
  if (state.is_pre()) {
    if (!same_function(q.module, state.reducer, reducer)) {
      return no(5, fmt::format("{}, which only {} reduces further", q.says(0), q.module.fn(state.reducer).name),
                "gather " + q.name(0) + " first");
    }
    if (reduced == 0) return yes(5, state);
    return yes(5, contributing(reduced | held_axes(q.module, q.type(0), state)));
  }
  if (reduced != 0) return yes(4, contributing(reduced));
  return yes(state.is_part() ? 8 : 9, state);
}

// ---- products: rules 6 and 7; dense ones are contractions (rule 17)

// Of the two factors; `rule`: the number of the operator's own rule.
RuleAnswer contracted(const Question& q, int rule) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (auto broken = check_shared(q, i)) return *broken;
  }
  const Type& result = q.module.type(q.op.results.at(0));
  if (q.shared(0) && q.shared(1)) return of_shareds(q);
  for (const size_t i : {size_t{1}, size_t{0}}) {
    if (!q.states[i].is_pre()) continue;
    return no(rule, q.says(i) + ", but a product reads values", "gather " + q.name(i) + " first");
  }
  const Contraction c = contraction(q.module, q.op, q.states);
  if (is_cut_apart(q.module, q.op, c)) {
    return no(rule,
              fmt::format("{} and {} are cut along one summed dimension over different axes", q.name(0), q.name(1)),
              "cut both alike, or scatter one along its axes first");
  }
  for (size_t axis = 0; axis < c.kept.size(); ++axis) {
    if ((c.kept[axis] & ~Layout(q.module, result).cuts(axis)) == 0) continue;
    const bool second = c.labels.operands[1].find(c.labels.result[axis]) != std::string::npos;
    return no(17,
              fmt::format("{} is cut over {}, and the result is not", q.name(second ? 1 : 0),
                          mesh_axes_text(q.module, c.kept[axis])),
              "cut the result alike, or scatter the operand along these axes first");
  }
  if (c.summed != 0) return yes(rule, State::pre(q.op.fns[1], held_set(q.module, result, c.summed)));
  // All workers that have both have the result: of an array that is reduced onto, its owners alone take it up.
  const MeshAxes held = q.module.mesh.empty() || is_onto(q.op) ? 0 : q.held(0) & q.held(1);
  return yes(rule, held == 0 ? State::part() : held_state(q.module, result, held));
}

// The array onto which terms are reduced: its owners take it up once, or it holds contributions as the terms do.
std::optional<RuleAnswer> check_onto(const Question& q, const State& made) {
  const Type& type = q.type(2);
  const Layout own(q.module, type), result(q.module, q.op.results.at(0));
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    if (own.cut_of(axis) == result.cut_of(axis)) continue;
    return no(17, q.name(2) + " is cut otherwise than the result", "relayout " + q.name(2) + " first");
  }
  const State& state = q.states[2];
  if (state.is_pre()) {
    const bool alike = made.is_pre() && same_function(q.module, state.reducer, made.reducer) &&
                       q.held(2) == held_axes(q.module, type, made);
    if (alike) return std::nullopt;
    return no(17, fmt::format("{}, but the product is {}", q.says(2), state_text(q.module, made)),
              "gather " + q.name(2) + " first");
  }
  return check_shared(q, 2);
}

RuleAnswer contract_rule(const Question& q) {
  RuleAnswer answer = contracted(q, 17);
  if (!answer.allowed || !is_onto(q.op)) return answer;
  return check_onto(q, answer.results.at(0)).value_or(answer);
}

RuleAnswer product_rule(const Question& q) {
  const bool transposed = q.op.code == OpCode::mxvt;
  const int rule = transposed ? 7 : 6;
  if (!q.type(1).sparse) return contracted(q, rule);
  if (!q.states[1].is_part()) return no(rule, q.says(1) + ", but a matrix is @part", "declare the matrix @part");
  if (has_whole_lines(q.module, q.type(1))) return contracted(q, rule);
  const std::string& matrix = matrix_name(q.module, q.op.operands[1]);
  const SlaveSet rows{{matrix, Axis::rows}};
  const SlaveSet cols{{matrix, Axis::cols}};
  const SlaveSet& read = transposed ? cols : rows;
  if (!q.states[0].is_cons() || !set_contains(q.states[0].slaves, read)) {
    const std::string atom = matrix + (transposed ? ".cols" : ".rows");
    const std::string verb = q.states[0].is_pre() ? "gather {} and scatter it to {}" : "scatter {} to {}";
    return no(rule, fmt::format("{}, but {} reads @cons{{{}}}", q.says(0), row(q.op.code).name, atom),
              fmt::format(fmt::runtime(verb), q.name(0), '{' + atom + "} first"));
  }
  return yes(rule, State::pre(q.op.fns[1], transposed ? rows : cols));
}

// ---- folds of entries: rules 6 and 7 with operands on both sides

// Of a matrix with a local dimension: its nonzeros are where the other one's indices are owned.
std::optional<RuleAnswer> check_owned_side(const Question& q, size_t i, int rule) {
  if (q.shared(i)) return check_shared(q, i);
  if (!q.states[i].is_pre()) return std::nullopt;
  return no(rule, fmt::format("{}, but {} reads values", q.says(i), row(q.op.code).name), "gather it first");
}

// Checks one operand of a fold: it is read where nonzeros are, and numbered like the other operands of its side. On the
// result's own side an operand has the set of its axis. On the other side all have one set that holds their axis.
std::optional<RuleAnswer> check_side(const Question& q, size_t i, int rule) {
  const EntrySide side = entry_side(q.module, q.op, i);
  if (side == EntrySide::shared) return std::nullopt;
  if (side == EntrySide::entries) {
    if (!q.states[i].is_pre()) return std::nullopt;
    return no(rule, fmt::format("{}, but {} reads it at its nonzeros", q.says(i), row(q.op.code).name),
              "gather it first");
  }
  if (has_whole_lines(q.module, q.type(0))) return check_owned_side(q, i, rule);
  const SlaveSet axis = entry_slaves(q.module, q.op, side);
  const std::string set = '{' + slaves_text(axis) + '}';
  const State& state = q.states[i];
  if (!state.is_cons() || !set_contains(state.slaves, axis)) {
    return no(rule, fmt::format("{}, but {} reads @cons{}", q.says(i), row(q.op.code).name, set),
              fmt::format("{} {} to {} first", state.is_pre() ? "gather and scatter" : "scatter", q.name(i), set));
  }
  if (!is_across(q.module, q.op, i)) {
    if (state.slaves == axis) return std::nullopt;
    return no(rule, fmt::format("{}, but the result has the ghosts {} alone", q.says(i), set),
              fmt::format("scatter {} to {}", q.name(i), set));
  }
  for (size_t k = 1; k < i; ++k) {
    if (!is_across(q.module, q.op, k) || q.states[k].slaves == state.slaves) continue;
    return no(rule, q.says(k) + ", but " + q.says(i), "scatter both to one set of ghosts");
  }
  return std::nullopt;
}

RuleAnswer fold_rule(const Question& q) {
  const int rule = result_side(q.op) == EntrySide::rows ? 7 : 6;
  if (!q.states[0].is_part()) return no(rule, q.says(0) + ", but a matrix is @part", "declare the matrix @part");
  if (auto broken = check_shareds(q)) return *broken;
  for (size_t i = 1; i < q.op.operands.size(); ++i) {
    if (auto broken = check_side(q, i, rule)) return *broken;
  }
  const bool at_owners = has_whole_lines(q.module, q.type(0)) && Layout(q.module, q.op.results.at(0)).is_distributed();
  if (gives_entries(q.op) || at_owners) return yes(rule, State::part());
  return yes(rule, State::pre(q.op.fns[1], entry_slaves(q.module, q.op, result_side(q.op))));
}

// ---- joins: a worker has the nonzeros of all matrices at an index, and factors of a product as a whole

RuleAnswer align_rule(const Question& q) {
  for (const size_t i : {size_t{0}, size_t{1}})
    if (!q.states[i].is_part()) return no(7, q.says(i) + ", but a matrix is @part", "declare the matrix @part");
  if (q.op.operands.size() > 2 && q.states[2].is_pre()) {
    return no(7, q.says(2) + ", but align reads values", "gather " + q.name(2) + " first");
  }
  return yes(7, State::part());
}

RuleAnswer meet_rule(const Question& q) {
  if (q.states[0].is_pre()) return no(7, q.says(0) + ", but meet reads places", "gather " + q.name(0) + " first");
  for (size_t i = 1; i < q.op.operands.size(); ++i) {
    if (q.states[i].is_cons() && is_all(q.states[i].slaves)) continue;
    return no(7, q.says(i) + ", but meet reads @cons{all}", "scatter " + q.name(i) + " to {all} first");
  }
  return yes(7, State::part());
}

// ---- map: rules 8 to 15

RuleAnswer no_law(const Question& q, const MapOperands& seen, const std::vector<LawRule>& tried,
                  const std::string& because) {
  const size_t at = static_cast<size_t>(seen.pre);
  std::string names;
  for (const LawRule& law : tried) names += (names.empty() ? "" : " or the ") + std::string(law_name(law.kind));
  std::string why = fmt::format("{}, and {} is not known to obey the {} law with {}", q.says(at),
                                q.module.fn(q.op.fns[0]).name, names, q.module.fn(q.states[at].reducer).name);
  if (!seen.covered && seen.all_cons) why += " (the distributive law needs @cons operands that hold its ghosts)";
  if (!because.empty()) why += ": " + because;
  return no(tried.front().rule, why, "gather " + q.name(at) + " first");
}

RuleAnswer pre_map(const Question& q, const MapOperands& seen) {
  const size_t at = static_cast<size_t>(seen.pre);
  const State& state = q.states[at];
  const std::vector<LawRule> laws = candidates(seen);
  const ScalarFunction& fn = q.module.fn(q.op.fns[0]);
  const ScalarFunction& reducer = q.module.fn(state.reducer);
  if (fn.result() != reducer.result()) {
    return no_law(q, seen, laws,
                  fmt::format("the result of {} is not of the type that {} reduces", fn.name, reducer.name));
  }
  LawUse use{LawKind::exchange, q.op.fns[0], state.reducer, seen.pre, {}, {}};
  for (const LawRule& law : laws) {
    use.kind = law.kind;
    if (const LawUse* listed = find_law(q.module, q.module.laws, use)) return yes(law.rule, state, *listed);
  }
  std::string because;
  for (const LawRule& law : laws) {
    use.kind = law.kind;
    const LawAnswer answer = q.laws.law(q.module, law.kind, use.fn, use.reducer, use.operand);
    const bool assumed = find_law(q.module, q.module.assumptions, use) != nullptr;
    use.basis = answer.verdict == Verdict::proven ? answer.basis : "assumed";
    if (answer.verdict == Verdict::proven || (assumed && answer.verdict == Verdict::unknown)) {
      return yes(law.rule, state, use);
    }
    if (because.empty()) because = answer.counterexample;
  }
  return no_law(q, seen, laws, because);
}

RuleAnswer map_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  const MapOperands seen = look_at(q.module, q.op, q.states);
  if (seen.distributed == 0) return of_shareds(q);
  if (seen.pre_count > 1) {
    return no(14, "more than one operand is pre-reduced", "gather all of them but one, or all");
  }
  if (seen.pre >= 0) return pre_map(q, seen);
  const bool single = seen.distributed == 1;
  if (seen.all_cons) return yes(single ? 9 : 13, State::cons(seen.common));
  return yes(single ? 8 : 12, State::part());
}

// Like a map of the array by itself, except for a pre-reduced one: that is gathered first, as a whole and once.
RuleAnswer view_rule(const Question& q) {
  if (auto broken = check_shareds(q)) return *broken;
  if (q.shared(0)) return yes(3, q.states[0]);
  if (q.states[0].is_pre()) return no(8, q.says(0) + ", but a view shows values", "gather " + q.name(0) + " first");
  return yes(q.states[0].is_part() ? 8 : 9, q.states[0]);
}

// ---- transitions: rules 1 and 2

RuleAnswer gather_rule(const Question& q) {
  const int rule = q.shared(0) ? 2 : 1;
  if (q.states[0].is_pre()) return yes(rule, State::part());
  return no(rule, q.says(0) + ", but only a pre-reduced value is gathered", "use " + q.name(0) + " as it is");
}

RuleAnswer scatter_rule(const Question& q) {
  const bool shared = q.shared(0);
  const int rule = shared ? 2 : 1;
  if (q.states[0].is_pre()) {
    return no(rule, q.says(0) + ", but only owned elements that hold the value itself are scattered",
              "gather " + q.name(0) + " first");
  }
  const State& declared = q.module.type(q.op.results[0]).state;
  return yes(rule, State::cons(declared.is_cons() ? declared.slaves : SlaveSet{}));
}

// Each element goes to its owner; what a worker has as a copy stays where it is.
RuleAnswer relayout_rule(const Question& q) {
  for (size_t i = 0; i < q.op.operands.size(); ++i) {
    if (!q.states[i].is_pre()) continue;
    return no(16, q.says(i) + ", but only values change their owners, not contributions",
              "gather " + q.name(i) + " first");
  }
  for (size_t i = moved_operands(q.module, q.op); i < q.op.operands.size(); ++i) {
    if (q.held(i) == all_mesh_axes(q.module)) continue;
    return no(16, q.says(i) + ", but every worker reads all of a mask, and its size",
              "scatter " + q.name(i) + " first");
  }
  return yes(16, State::part());
}

// What is on a disk is what was in memory.
RuleAnswer stored_rule(const Question& q) { return yes(-1, q.states[0]); }

// ---- lists keep one state; an array of another state may enter only by rule 0

RuleAnswer make_list_rule(const Question& q) { return yes(-1, q.states[0]); }

RuleAnswer get_rule(const Question& q) {
  if (auto broken = check_shared(q, 1)) return *broken;
  return yes(-1, q.states[0]);
}

RuleAnswer replace_rule(const Question& q) {
  const bool put = q.op.code == OpCode::put;
  if (put) {
    if (auto broken = check_shared(q, 1)) return *broken;
  }
  const size_t item = put ? 2 : 1;
  if (may_stand_for(q.states[item], q.states[0])) return yes(-1, q.states[0]);
  if (may_stand_for(q.states[0], q.states[item])) return yes(0, q.states[item]);
  return no(0, fmt::format("{}, but {}; the arrays of a list have one state", q.says(0), q.says(item)),
            "bring both to one state first");
}

RuleAnswer declared_rule(const Question& q) {
  RuleAnswer answer{true, -1, {}, std::nullopt, {}, {}};
  for (const ValueId result : q.op.results) answer.results.push_back(q.module.type(result).state);
  return answer;
}

constexpr std::array<RuleAnswer (*)(const Question&), operator_count> rules{
#define IR_OP(code, name, level, group, counts, text, types, states, ranges, run, doc) states##_rule,
#include "libcore/ir/operators.def"
#undef IR_OP
};

}  // namespace

RuleAnswer apply_rule(const Module& module, const Op& op, std::span<const State> operands, LawChecker& laws) {
  const Question q{module, op, operands, laws};
  return rules.at(static_cast<size_t>(op.code))(q);
}

RuleAnswer apply_rule(const Module& module, const Op& op, LawChecker& laws) {
  std::vector<State> states;
  states.reserve(op.operands.size());
  for (const ValueId id : op.operands) states.push_back(module.type(id).state);
  return apply_rule(module, op, states, laws);
}

bool may_stand_for(const State& given, const State& wanted) {
  return given == wanted || (given.is_cons() && wanted.is_part());
}

std::string state_text(const Module& module, const State& state) {
  if (!state.placed()) return "@?";
  if (state.is_part()) return "@part";
  std::string text = "@cons";
  if (state.is_pre()) {
    const bool known = module.functions.contains(state.reducer);
    text = fmt::format("@pre({})", known ? module.fn(state.reducer).name : "?");
  }
  return state.slaves.empty() ? text : text + '{' + slaves_text(state.slaves) + '}';
}

}  // namespace kasen
