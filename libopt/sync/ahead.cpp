#include "libopt/sync/ahead.h"

#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class Walk {
 public:
  explicit Walk(const Module& module) : made_(module.values.size(), nullptr) {
    block(module.body, Wanted(module.values.size(), nullptr));
  }

  IdMap<ValueId, const Op*> take() { return std::move(made_); }

 private:
  using Wanted = IdMap<ValueId, const Op*>;  // the likely `if` behind this position whose first branch reads it

  void block(const Block& block, Wanted wanted) {
    backwards(block, wanted);
    for (const Op& op : block.ops) {
      if (op.code == OpCode::region) continue;
      for (const Block& inner : op.blocks) this->block(inner, Wanted(wanted.size(), nullptr));
    }
  }

  void backwards(const Block& block, Wanted& wanted) {
    for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op) {
      if (op->code == OpCode::if_else && op->likely) {
        for (const Op& inner : op->blocks[0].ops) {
          for_each_operand(inner, [&](ValueId v) { wanted[v] = &*op; });
        }
      }
      if (op->code == OpCode::region) {
        const std::vector<ValueId>& yielded = op->blocks[0].ops.back().operands;
        for (size_t i = 0; i < yielded.size(); ++i) {
          const Op* by = wanted[op->results[i]];
          if (by != nullptr) wanted[yielded[i]] = by;
        }
        backwards(op->blocks[0], wanted);
      }
      if (op->speculated) speculated(*op, wanted);
    }
  }

  void speculated(const Op& op, Wanted& wanted) {
    const ValueId at = op.results.at(0);
    if (wanted[at] == nullptr) return;
    made_[at] = wanted[at];
    for (const ValueId v : op.operands) wanted[v] = wanted[at];
  }

  IdMap<ValueId, const Op*> made_;
};

}  // namespace

IdMap<ValueId, const Op*> made_ahead(const Module& module) { return Walk(module).take(); }

}  // namespace kasen
