// Why: a value that no iteration of a loop changes is computed once, before it. Operators are total and pure, so one
// that runs although the loop has no iteration costs only time. Products, reductions and functions of shareds leave the
// loop whenever they can. A map leaves it if it is stored in any case (a product reads it), or if an iteration then
// reads no more arrays than before. Fused with its readers it costs the arrays that it alone reads; moved out it costs
// its result. Over a mesh nothing is fused, and every such map leaves the loop. Arrays of one constant and indices are
// generated where they are used: they are copied, not moved. Lists and ranges stay, because reading one may fail.
// Operators of a branch stay in it. Requires level 1; keeps it.
#include <algorithm>

#include "libcore/ir/array_views.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// The invariant operators of one loop's body. The operator of the body that makes a value identifies it.
class Invariants {
 public:
  // `fused`: an operator may run as one with its readers.
  Invariants(Module& module, Block& block, size_t place, bool fused)
      : m_(module), block_(block), place_(place), fused_(fused) {}

  bool run() {
    find();
    readers_.resize(m_.values.size());
    for (size_t i = 0; i < ops().size(); ++i) {
      for_each_operand(ops()[i], [&](ValueId v) { readers_[static_cast<size_t>(v)].push_back(i); });
    }
    chosen_.assign(ops().size(), false);
    for (bool more = true; more;) {  // a chosen operator may make more worth moving
      more = false;
      for (size_t i = ops().size(); i-- > 0;) {
        if (!invariant_[i] || chosen_[i] || !worth_moving(i)) continue;
        choose(i);
        more = true;
      }
    }
    return move();
  }

 private:
  [[nodiscard]] std::vector<Op>& ops() { return block_.ops[place_].blocks[0].ops; }
  [[nodiscard]] int maker(ValueId v) const { return maker_[static_cast<size_t>(v)]; }

  void find() {
    maker_.assign(m_.values.size(), outside);
    std::vector<bool> fixed(m_.values.size(), true);
    const auto changes = [&](ValueId v) { fixed[static_cast<size_t>(v)] = false; };
    for (const ValueId arg : block_.ops[place_].blocks[0].args) {
      maker_[static_cast<size_t>(arg)] = argument;
      changes(arg);
    }
    for (size_t i = 0; i < ops().size(); ++i) {
      const Op& op = ops()[i];
      const OpGroup group = row(op.code).group;
      const bool vector = group == OpGroup::vector && !is_slice(op);
      const bool pure = generates(op) || vector || group == OpGroup::product || group == OpGroup::contraction ||
                        group == OpGroup::entries || group == OpGroup::join || group == OpGroup::shared ||
                        (group == OpGroup::axis && op.code != OpCode::take && !is_grouping(op));  // these may fail
      invariant_.push_back(pure && std::all_of(op.operands.begin(), op.operands.end(),
                                               [&](ValueId v) { return fixed[static_cast<size_t>(v)]; }));
      for (const ValueId result : op.results) {
        maker_[static_cast<size_t>(result)] = static_cast<int>(i);
        if (!invariant_[i]) changes(result);
      }
    }
  }

  [[nodiscard]] const std::vector<size_t>& readers(ValueId v) const { return readers_[static_cast<size_t>(v)]; }

  // Returns true if the value stands before the loop, as far as is known.
  [[nodiscard]] bool before(ValueId v) const {
    return maker(v) == outside || (maker(v) >= 0 && chosen_[static_cast<size_t>(maker(v))]);
  }

  // Marks the operator and the invariant ones that its operands are made of, without generated and already chosen ones.
  [[nodiscard]] std::vector<bool> tree(size_t root) {
    std::vector<bool> member(ops().size(), false);
    member[root] = true;
    for (size_t i = root + 1; i-- > 0;) {
      if (!member[i]) continue;
      for (const ValueId v : ops()[i].operands) {
        if (maker(v) >= 0 && !generates(ops()[static_cast<size_t>(maker(v))]))
          member[static_cast<size_t>(maker(v))] = true;
      }
    }
    return member;
  }

  [[nodiscard]] bool worth_moving(size_t i) {
    const Op& op = ops()[i];
    if (generates(op)) return false;
    const ValueId result = op.results[0];
    if (op.code != OpCode::map || Layout(m_, result).is_shared()) return true;
    const bool stored = std::any_of(readers(result).begin(), readers(result).end(), [&](size_t reader) {
      return (is_product(ops()[reader]) || is_fold(ops()[reader])) && !invariant_[reader];
    });
    if (stored) return true;
    // A value that an iteration hands on would be copied in each iteration, which costs as much as a map.
    if (std::any_of(readers(result).begin(), readers(result).end(),
                    [&](size_t reader) { return row(ops()[reader].code).group == OpGroup::end; })) {
      return false;
    }
    if (!fused_) return true;
    const std::vector<bool> member = tree(i);
    return reads_saved(member) >= results_needed(member);
  }

  // Counts the arrays from before the loop that only the members and the chosen operators read.
  [[nodiscard]] size_t reads_saved(const std::vector<bool>& member) {
    std::vector<bool> seen(m_.values.size(), false);
    size_t saved = 0;
    for (size_t i = 0; i < member.size(); ++i) {
      if (!member[i]) continue;
      for (const ValueId v : ops()[i].operands) {
        if (!before(v) || seen[static_cast<size_t>(v)]) continue;
        seen[static_cast<size_t>(v)] = true;
        const Type& type = m_.type(v);
        if (!type.sparse && Layout(m_, type).is_distributed() && !stay_behind(v, member)) ++saved;
      }
    }
    return saved;
  }

  // Counts the members whose results are read by something that stays in the loop.
  [[nodiscard]] size_t results_needed(const std::vector<bool>& member) {
    size_t needed = 0;
    for (size_t i = 0; i < member.size(); ++i) {
      if (member[i] && stay_behind(ops()[i].results[0], member)) ++needed;
    }
    return needed;
  }

  // Returns true if the value has a reader that is neither a member nor chosen.
  [[nodiscard]] bool stay_behind(ValueId v, const std::vector<bool>& member) const {
    return std::any_of(readers(v).begin(), readers(v).end(),
                       [&](size_t reader) { return !member[reader] && !chosen_[reader]; });
  }

  void choose(size_t root) {
    const std::vector<bool> member = tree(root);
    for (size_t i = 0; i < member.size(); ++i) chosen_[i] = chosen_[i] || member[i];
  }

  // Moves the chosen operators before the loop, with copies of the generated values that they read.
  bool move() {
    if (std::find(chosen_.begin(), chosen_.end(), true) == chosen_.end()) return false;
    std::vector<Op> moved, kept;
    std::vector<ValueId> copy(m_.values.size(), no_value);
    for (size_t i = 0; i < ops().size(); ++i) {
      Op& op = ops()[i];
      if (!chosen_[i]) continue;
      for (ValueId& v : op.operands) {
        const int made = maker(v);
        if (made >= 0 && !chosen_[static_cast<size_t>(made)])
          v = copied(v, ops()[static_cast<size_t>(made)], copy, moved);
      }
      moved.push_back(op);
    }
    for (size_t i = 0; i < ops().size(); ++i) {
      if (!chosen_[i]) kept.push_back(std::move(ops()[i]));
    }
    ops() = std::move(kept);
    block_.ops.insert(block_.ops.begin() + static_cast<std::ptrdiff_t>(place_), std::make_move_iterator(moved.begin()),
                      std::make_move_iterator(moved.end()));
    return true;
  }

  ValueId copied(ValueId v, const Op& generator, std::vector<ValueId>& copy, std::vector<Op>& moved) {
    if (copy[static_cast<size_t>(v)] == no_value) {
      const std::vector<Op> again = clone_ops(m_, {&generator, 1}, copy);
      moved.push_back(again.front());
    }
    return copy[static_cast<size_t>(v)];
  }

  static constexpr int outside = -1, argument = -2;

  Module& m_;
  Block& block_;
  size_t place_;
  bool fused_;
  std::vector<int> maker_;                    // by value: position in the body, outside or argument
  std::vector<bool> invariant_, chosen_;      // by position in the body
  std::vector<std::vector<size_t>> readers_;  // by value: positions in the body, once for each operand
};

// Moves operators out of every loop, of the inner ones first.
bool move_out(Module& module, bool fused) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      if (!is_loop(block.ops[i])) continue;
      const size_t before = block.ops.size();
      changed |= Invariants(module, block, i, fused).run();
      i += block.ops.size() - before;
    }
  });
  return changed;
}

}  // namespace

bool pass_loop_invariant(Module& module, PassContext& context) {
  const bool over_mesh = !context.options.mesh.empty() || names_layouts(module);
  bool changed = false;
  while (move_out(module, !over_mesh)) {
    (void)pass_dead_code(module, context);  // of generated values that only moved operators read: more may pay now
    changed = true;
  }
  return changed;
}

}  // namespace kasen
