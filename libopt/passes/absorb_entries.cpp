// Why: a name of stored entries that is read again is stored (docs/language.md). Each fold that reads it could compute
// it instead, beside what it computes of a nonzero anyway:
//
//   R = X / (U @ V'), A = R @ V, B = R' @ U    # two passes over X instead of three, and nothing stored
//
// This is the choice at a materialization point. fuse-no-redundancy and greedy store, fuse-all computes again, and cost
// asks for the price of the whole plan, one value after the other. A value is absorbed if all that reads it is folds of
// its matrix in its block. Requires unplaced values; keeps the level.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/entries.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/price.h"

namespace kasen {
namespace {

// The operands and the function of a fold that reads `stored`, with the operator that makes it put in its place.
class Joined {
 public:
  Joined(Module& module, const Op& fold, const Op& stored) : m_(module), fold_(fold), stored_(stored) {
    params_.push_back(m_.fn(fold.fns[0]).params[0]);
    for (const EntrySide side : {EntrySide::rows, EntrySide::cols, EntrySide::entries, EntrySide::shared}) {
      for (const Op* op : {&fold, &stored}) add_operands(*op, side);
    }
  }

  [[nodiscard]] Op made() {
    Op made = fold_;
    made.operands = {fold_.operands[0]};
    made.at_rows = 0;
    for (const Slot& slot : slots_) {
      made.operands.push_back(slot.value);
      if (slot.side == EntrySide::rows) ++made.at_rows;
    }
    const Expr value = substitute(m_.fn(stored_.fns[0]).body, arguments(stored_, nullptr));
    ScalarFunction fn = m_.fn(fold_.fns[0]);
    fn.body = substitute(fn.body, arguments(fold_, &value));
    fn.params = params_;
    made.fns[0] = m_.add_function(std::move(fn));
    return made;
  }

 private:
  struct Slot {
    ValueId value;
    EntrySide side;
    friend bool operator==(const Slot&, const Slot&) = default;
  };

  [[nodiscard]] bool is_stored(const Op& op, size_t i) const { return op.operands[i] == stored_.results[0]; }

  void add_operands(const Op& op, EntrySide side) {
    for (size_t i = 1; i < op.operands.size(); ++i) {
      const Slot slot{op.operands[i], entry_side(m_, op, i)};
      const bool known = std::find(slots_.begin(), slots_.end(), slot) != slots_.end();
      if (slot.side != side || is_stored(op, i) || known) continue;
      slots_.push_back(slot);
      ScalarParam param = m_.fn(op.fns[0]).params[i];
      const auto clashes = [&](const ScalarParam& other) { return other.name == param.name; };
      while (std::any_of(params_.begin(), params_.end(), clashes)) param.name += "_e";
      params_.push_back(std::move(param));
    }
  }

  // By parameter of the operator's function: the new parameter, or `value` for the stored entries.
  [[nodiscard]] std::vector<Expr> arguments(const Op& op, const Expr* value) const {
    std::vector<Expr> made{make_param(0, params_[0].type)};
    for (size_t i = 1; i < op.operands.size(); ++i) {
      if (is_stored(op, i)) {
        made.push_back(*value);
        continue;
      }
      const Slot slot{op.operands[i], entry_side(m_, op, i)};
      const auto at = 1 + (std::find(slots_.begin(), slots_.end(), slot) - slots_.begin());
      made.push_back(make_param(static_cast<int>(at), params_[static_cast<size_t>(at)].type));
    }
    return made;
  }

  Module& m_;
  const Op &fold_, &stored_;
  std::vector<Slot> slots_;
  std::vector<ScalarParam> params_;  // the nonzero, then one for each slot
};

bool reads(const Op& op, const Op& stored) {
  return is_fold(op) && op.operands[0] == stored.operands[0] && contains(op.operands, stored.results[0]);
}

// True if nothing but folds of its matrix in the same block reads what the operator stores.
bool may_be_absorbed(const Block& block, const Op& op, const std::vector<int>& uses) {
  if (!gives_entries(op)) return false;
  const int all = uses[static_cast<size_t>(op.results[0])];
  std::ptrdiff_t by_folds = 0;
  for (const Op& other : block.ops) {
    if (reads(other, op)) by_folds += std::count(other.operands.begin(), other.operands.end(), op.results[0]);
  }
  return all > 0 && by_folds == all;
}

// The values that may be absorbed, in program order.
std::vector<ValueId> candidates(Module& module) {
  std::vector<ValueId> found;
  const std::vector<int> uses = count_uses(module);
  for_each_block(module, [&](Block& block) {
    for (const Op& op : block.ops) {
      if (may_be_absorbed(block, op, uses)) found.push_back(op.results[0]);
    }
  });
  return found;
}

// Returns in how many operators the value is computed then; 0: none, as it may not be absorbed (any more).
int absorb(Module& module, ValueId value) {
  int readers = 0;
  const std::vector<int> uses = count_uses(module);
  for_each_block(module, [&](Block& block) {
    const auto at = std::find_if(block.ops.begin(), block.ops.end(),
                                 [&](const Op& op) { return gives_entries(op) && op.results[0] == value; });
    if (at == block.ops.end() || !may_be_absorbed(block, *at, uses)) return;
    const Op stored = *at;
    for (Op& op : block.ops) {
      if (!reads(op, stored)) continue;
      op = Joined(module, op, stored).made();
      ++readers;
    }
    block.ops.erase(at);
  });
  return readers;
}

double seconds_of(Module plan, PassContext& context) {
  OptimizeOptions options = quiet(context.options);
  if (options.sync == SyncMode::automatic) options.sync = SyncMode::hybrid;
  PassContext quietly{context.laws, options};
  compact_values(plan);
  run_behind("absorb-entries", plan, quietly);
  return Pricing(options.sizes, options.machine)(plan).actual.seconds;
}

}  // namespace

bool pass_absorb_entries(Module& module, PassContext& context) {
  const Strategy strategy = context.options.strategy;
  const bool by_cost = strategy == Strategy::mpskip || strategy == Strategy::cost;
  if (!by_cost && strategy != Strategy::fuse_all) return false;
  bool changed = false;
  for (const ValueId value : candidates(module)) {
    Module other = module;
    const int readers = absorb(other, value);
    if (readers == 0 || (by_cost && !dearer(seconds_of(module, context), seconds_of(other, context)))) continue;
    if (context.options.notes != nullptr) {
      const std::string& name = module.value(value).name;
      context.options.notes->fusion.push_back(
          {"entries of a sparse matrix", {fmt::format("{} in {} operators", name, readers)}, {}, {}});
    }
    module = std::move(other);
    changed = true;
  }
  if (changed) compact_values(module);
  return changed;
}

}  // namespace kasen
