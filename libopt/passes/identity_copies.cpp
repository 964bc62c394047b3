// Why: `pr = new_pr` is a map of the identity, which reads and writes a whole vector, though in SSA form both names can
// stand for one value. The naive way forwards every copy. But a name that is handed on together with its source (two
// carried values that get the same array) needs storage of its own. The map, which may be fused, is then cheaper than
// the copy at the binding. Requires placed values; keeps the level.
#include <algorithm>

#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Values that two bindings need at once after forwarding. One yield or one loop takes them more than once, or they come
// from outside of the block that yields them (the next iteration needs them again).
class Copies {
 public:
  explicit Copies(Module& module)
      : m_(module), with_(module.values.size(), no_value), depth_(module.values.size(), 0) {}

  bool run() {
    measure(m_.body, 0);
    mark_inputs();
    forward(m_.body);
    bool changed = false;
    for_each_block(m_, [&](Block& block) {
      changed |= std::erase_if(block.ops, [&](const Op& op) {
                   return op.code == OpCode::map && with_[static_cast<size_t>(op.results[0])] != no_value;
                 }) > 0;
    });
    if (changed) replace_uses(m_.body, with_);
    return changed;
  }

 private:
  ValueId end_of(ValueId value) const {
    while (with_[static_cast<size_t>(value)] != no_value) value = with_[static_cast<size_t>(value)];
    return value;
  }

  void measure(const Block& block, int depth) {
    for (const ValueId arg : block.args) depth_[static_cast<size_t>(arg)] = depth;
    for (const Op& op : block.ops) {
      for (const Block& inner : op.blocks) measure(inner, depth + 1);
      for (const ValueId result : op.results) depth_[static_cast<size_t>(result)] = depth;
    }
  }

  // Inputs that the bundle holds have no storage to hand on.
  void mark_inputs() {
    fixed_.assign(m_.values.size(), false);
    for (const Op& op : m_.body.ops) {
      if (op.code == OpCode::input) fixed_[static_cast<size_t>(op.results[0])] = true;
    }
  }

  bool is_copy(const Op& op) const {
    return op.code == OpCode::map && op.operands.size() == 1 && is_identity(m_.fn(op.fns[0])) &&
           m_.type(op.operands[0]) == m_.type(op.results[0]);
  }

  // Returns true if a binding copies inside a loop when `source` is handed on where `copy` is handed on now.
  bool bound_twice(const Block& block, ValueId copy, ValueId source, int depth) const {
    for (const Op& op : block.ops) {
      const bool binds = op.code == OpCode::yield || is_loop(op);
      if (!binds || std::find(op.operands.begin(), op.operands.end(), copy) == op.operands.end()) continue;
      const auto same = std::count_if(op.operands.begin(), op.operands.end(),
                                      [&](ValueId operand) { return operand == copy || end_of(operand) == source; });
      if (same > 1 || depth_[static_cast<size_t>(source)] < depth || fixed_[static_cast<size_t>(source)]) return true;
      if (is_loop(op) && used_behind(block, op, source)) return true;
    }
    return false;
  }

  bool used_behind(const Block& block, const Op& loop, ValueId source) const {
    bool behind = false;
    bool used = false;
    for (const Op& op : block.ops) {
      const auto look = [&](ValueId value) { used = used || end_of(value) == source; };
      if (behind) for_each_operand(op, look);
      if (&op != &loop) continue;
      behind = true;
      for (const Op& inner : op.blocks[0].ops) for_each_operand(inner, look);
    }
    return used;
  }

  void forward(const Block& block, int depth = 0) {
    for (const Op& op : block.ops) {
      for (const Block& inner : op.blocks) forward(inner, depth + 1);
      if (!is_copy(op)) continue;
      const ValueId source = end_of(op.operands[0]);
      if (!bound_twice(block, op.results[0], source, depth)) with_[static_cast<size_t>(op.results[0])] = source;
    }
  }

  Module& m_;
  std::vector<ValueId> with_;
  std::vector<int> depth_;
  std::vector<bool> fixed_;
};

}  // namespace

bool pass_identity_copies(Module& module, PassContext& /*context*/) { return Copies(module).run(); }

}  // namespace kasen
