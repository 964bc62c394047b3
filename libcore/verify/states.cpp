// Level 2: every value has a state, and every result has the state that the rules give (state_rules.h). Carried and
// yielded values have the state of their names. The laws that the plan relies on hold.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/analysis/map_laws.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

class StateCheck {
 public:
  StateCheck(const Module& module, LawChecker& laws, Faults& faults) : m_(module), laws_(laws), faults_(faults) {}

  // The rules read operands' states and functions, so those are checked before any rule is applied.
  void run() {
    declared(m_.body);
    for (const LawUse& use : m_.laws) listed_law(use);
    if (faults_.empty()) block(m_.body);
  }

 private:
  void declared(const Block& b) {
    for (const Op& op : b.ops) {
      for (const ValueId id : op.results) well_formed(op, id);
      for (const Block& inner : op.blocks) {
        for (const ValueId id : inner.args) well_formed(op, id);
        declared(inner);
      }
    }
  }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      states(op);
      for (const Block& inner : op.blocks) block(inner);
    }
  }

  [[nodiscard]] std::string says(ValueId id) const {
    return value_text(m_, id) + " is " + state_text(m_, m_.type(id).state);
  }

  // ---- each state alone

  void well_formed(const Op& op, ValueId id) {
    const Type& type = m_.type(id);
    const State& state = type.state;
    if (!state.placed()) return faults_.add(op, value_text(m_, id) + " has no state", "level 2 places every value");
    if (type.sparse && !state.is_part()) return faults_.add(op, says(id), "a sparse matrix is @part");
    if (state.is_pre()) {
      if (!m_.functions.contains(state.reducer) || m_.fn(state.reducer).result() != type.element ||
          m_.fn(state.reducer).params.size() != 2) {
        return faults_.add(op, says(id), "its reducer does not reduce elements of this type");
      }
    }
    const SlaveSet& set = state.slaves;
    const bool holds = state.is_cons() || state.is_pre();
    const bool whole = Layout(m_, type).is_shared() && (m_.mesh.empty() || is_all(set));
    if (!set.empty() && (!holds || whole)) {
      return faults_.add(op, says(id), "only distributed @cons and @pre values have slaves");
    }
    if (!is_all(set) && mesh_axes_of(m_, set) == all_mesh_axes(m_))
      return faults_.add(op, says(id), "its set names every axis of the mesh", "write {all}");
    for (size_t i = 0; i < set.size(); ++i) {
      if (i > 0 && !(set[i - 1] < set[i])) return faults_.add(op, says(id), "its slaves are not in order");
      atom(op, id, set[i]);
    }
  }

  void atom(const Op& op, ValueId id, const SlaveAtom& a) {
    if (a.axis == Axis::all) {
      const bool alone = m_.type(id).state.slaves.size() == 1 && a.matrix.empty();
      if (!alone) faults_.add(op, says(id), "'all' holds every other slave", "write {all} alone");
      return;
    }
    if (a.axis == Axis::mesh) {
      if (find_mesh_axis(m_, a.matrix) == mesh_rank(m_)) faults_.add(op, says(id), "the mesh has no such axis");
      return;
    }
    for (const Op& source : m_.body.ops) {
      if (source.code != OpCode::input || source.name != a.matrix || gives_values(m_, source)) continue;
      const Type& matrix = m_.type(source.results[0]);
      if (!matrix.sparse) break;
      const DimId axis = matrix_dims(matrix)[a.axis == Axis::rows ? 0 : 1];
      const Layout own(m_, id);
      const AxisCut as_the_matrix{all_mesh_axes(m_), 0};
      if (axis == own.cut() && own.cut_of(static_cast<size_t>(own.cut_axis())) == as_the_matrix) return;
      return faults_.add(op, says(id),
                         fmt::format("the {} of {} are indices of another dimension, {}",
                                     a.axis == Axis::rows ? "rows" : "columns", a.matrix, m_.dim(axis).name));
    }
    faults_.add(op, says(id), fmt::format("there is no sparse input '{}'", a.matrix));
  }

  // ---- operators

  void states(const Op& op) {
    switch (row(op.code).group) {
      case OpGroup::control:
        return control(op);
      case OpGroup::end:
        return output(op);
      default:
        return rule(op);
    }
  }

  void rule(const Op& op) {
    const RuleAnswer answer = apply_rule(m_, op, laws_);
    if (!answer.allowed) {
      return faults_.add(op, "no state rule allows this", answer.why, answer.remedy, answer.rule);
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (may_stand_for(answer.results[i], m_.type(op.results[i]).state)) continue;
      return faults_.add(op, says(op.results[i]), "the operands give " + state_text(m_, answer.results[i]),
                         "declare that, or bring the operands to other states", answer.rule);
    }
    const State& declared = m_.type(op.results[0]).state;
    if (!answer.law || !declared.is_pre()) return;
    if (law_in_force(m_, op) != nullptr) return;
    faults_.add(
        op, fmt::format("it relies on the {} law, which the module does not list", law_name(answer.law->kind)),
        "whoever reads a plan checks the laws that it names",
        fmt::format("add 'law {}({}, {}) operand {} by \"{}\"'", law_name(answer.law->kind), m_.fn(answer.law->fn).name,
                    m_.fn(answer.law->reducer).name, answer.law->operand, answer.law->basis),
        answer.rule);
  }

  // Checks that `from` may be bound to the name `to`: the states are equal, or a C value is read as P.
  void binding(const Op& op, ValueId from, ValueId to) {
    if (may_stand_for(m_.type(from).state, m_.type(to).state)) return;
    faults_.add(op, fmt::format("{}, but {}", says(from), says(to)), "a carried value keeps one state",
                "bring it to that state first", 0);
  }

  void must_be_consistent(const Op& op, ValueId id, const char* what) {
    if (m_.type(id).state.is_cons()) return;
    faults_.add(op, says(id), fmt::format("{} is the same on every worker, or workers disagree and hang", what),
                "gather and scatter it first", 3);
  }

  void loop(const Op& op, size_t first_operand, size_t first_arg) {
    const Block& body = op.blocks[0];
    for (size_t k = 0; k < op.results.size(); ++k) {
      const ValueId arg = body.args[first_arg + k];
      binding(op, op.operands[first_operand + k], arg);
      binding(body.ops.back(), body.ops.back().operands[k], arg);
      if (m_.type(arg).state != m_.type(op.results[k]).state) {
        faults_.add(op, fmt::format("{}, but {}", says(op.results[k]), says(arg)), "a carried value keeps one state",
                    "", 0);
      }
    }
  }

  void control(const Op& op) {
    if (op.code == OpCode::while_loop) {
      loop(op, 0, 0);
      must_be_consistent(op, op.blocks[0].args[static_cast<size_t>(op.test)], "a loop's test");
    } else if (op.code == OpCode::for_loop) {
      loop(op, 2, 1);
      must_be_consistent(op, op.operands[0], "a loop's bound");
      must_be_consistent(op, op.operands[1], "a loop's bound");
      must_be_consistent(op, op.blocks[0].args[0], "a loop's index");
    } else {
      if (op.code == OpCode::if_else) must_be_consistent(op, op.operands[0], "a condition");
      for (const Block& b : op.blocks) {
        for (size_t k = 0; k < op.results.size(); ++k) handed_on(op, b.ops.back(), k);
      }
    }
  }

  // Branches may weaken C to P. A region's result is the same value.
  void handed_on(const Op& op, const Op& yield, size_t k) {
    const State& given = m_.type(yield.operands[k]).state;
    const State& wanted = m_.type(op.results[k]).state;
    if (op.code == OpCode::if_else) return binding(yield, yield.operands[k], op.results[k]);
    if (given == wanted || is_blocks(op)) return;  // verify_blocks
    faults_.add(op, fmt::format("{}, but {}", says(yield.operands[k]), says(op.results[k])),
                "a region hands on what it computes");
  }

  void output(const Op& op) {
    if (op.code != OpCode::output || !m_.type(op.operands[0]).state.is_pre()) return;
    const bool shared = Layout(m_, op.operands[0]).is_shared();
    faults_.add(op, says(op.operands[0]), "results are written from owned elements that hold the value",
                "gather " + value_text(m_, op.operands[0]) + " first", shared ? 2 : 1);
  }

  // ---- laws

  [[nodiscard]] bool assumed(const LawUse& use) const {
    return std::any_of(m_.assumptions.begin(), m_.assumptions.end(), [&](const LawUse& word) {
      return word.kind == use.kind && word.operand == use.operand && same_function(m_, word.fn, use.fn) &&
             same_function(m_, word.reducer, use.reducer);
    });
  }

  void listed_law(const LawUse& use) {
    if (use.kind != LawKind::exchange && use.kind != LawKind::pushdown && use.kind != LawKind::distributive) return;
    const std::string text = fmt::format("law {}({}, {}) of operand {}", law_name(use.kind), m_.fn(use.fn).name,
                                         m_.fn(use.reducer).name, use.operand);
    const LawAnswer answer = laws_.law(m_, use.kind, use.fn, use.reducer, use.operand);
    if (answer.verdict == Verdict::refuted) {
      return faults_.add(text + " does not hold", answer.counterexample, "plan the program again");
    }
    if (answer.verdict == Verdict::proven) return;
    if (use.basis == "assumed" && !assumed(use)) {
      return faults_.add(text + " is said to be assumed", "the module has no such assumption", "add it with 'assume'");
    }
    if (use.basis != "assumed" && use.basis != "proven") {
      faults_.add(text + " is not known to hold", fmt::format("its basis is '{}'", use.basis),
                  "plan the program again");
    }
  }

  const Module& m_;
  LawChecker& laws_;
  Faults& faults_;
};

}  // namespace

void verify_states(const Module& module, LawChecker& laws, Faults& faults) { StateCheck(module, laws, faults).run(); }

}  // namespace kasen
