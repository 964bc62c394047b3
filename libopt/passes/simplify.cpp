// Why: one value under two names is read twice, and a region cannot see that `s[m - 1]` is the vector that was just
// pushed. Equal pure operators become one (also if the first stands in an enclosing block). A read of a list at a known
// position is followed through push and put to the array that was stored there. The naive way also merges generated
// arrays. But two carried values that start from one array need a copy, and two fills need none, so fills stay.
// Requires level 1; keeps it.
#include <algorithm>
#include <optional>

#include "libcore/scalar/scalar.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

bool mergeable(const Op& op) {
  const OpGroup group = row(op.code).group;
  return op.results.size() == 1 &&
         (group == OpGroup::vector || group == OpGroup::shared || group == OpGroup::product ||
          group == OpGroup::contraction || group == OpGroup::entries || group == OpGroup::join ||
          group == OpGroup::axis || op.code == OpCode::literal || op.code == OpCode::index || op.code == OpCode::size ||
          op.code == OpCode::get || op.code == OpCode::batch);
}

class Simplifier {
 public:
  explicit Simplifier(Module& module)
      : m_(module), with_(module.values.size(), no_value), maker_(module.values.size(), nullptr) {}

  bool run() {
    block(m_.body);
    if (!changed_) return false;
    replace_uses(m_.body, with_);
    return true;
  }

 private:
  [[nodiscard]] ValueId end_of(ValueId v) const {
    while (with_[static_cast<size_t>(v)] != no_value) v = with_[static_cast<size_t>(v)];
    return v;
  }

  void block(Block& b) {
    const size_t visible = known_.size();
    for (Op& op : b.ops) {
      for (ValueId& operand : op.operands) operand = end_of(operand);
      if (op.code == OpCode::get) look_through(op);
      for (Block& inner : op.blocks) block(inner);
      for (const ValueId result : op.results) maker_[static_cast<size_t>(result)] = &op;
      merge(op);
    }
    known_.resize(visible);
  }

  void stands_for(ValueId old, ValueId now) {
    with_[static_cast<size_t>(old)] = now;
    changed_ = true;
  }

  void merge(const Op& op) {
    if (!mergeable(op) || with_[static_cast<size_t>(op.results[0])] != no_value) return;
    for (const Op* before : known_) {
      if (!equal(*before, op)) continue;
      return stands_for(op.results[0], before->results[0]);
    }
    known_.push_back(&op);
  }

  [[nodiscard]] bool equal(const Op& a, const Op& b) const {
    if (a.code != b.code || a.operands != b.operands || a.fns != b.fns || a.over != b.over || a.dim != b.dim ||
        a.at_rows != b.at_rows || a.name != b.name) {
      return false;
    }
    const Type& type = m_.type(a.results[0]);
    if (type != m_.type(b.results[0]) || a.literal.size() != b.literal.size()) return false;
    for (size_t i = 0; i < a.literal.size(); ++i) {
      if (a.literal[i].i != b.literal[i].i) return false;
    }
    return true;
  }

  [[nodiscard]] std::optional<std::int64_t> known_index(ValueId v) const {
    const Op* op = maker_[static_cast<size_t>(v)];
    if (op == nullptr || op->code != OpCode::literal) return std::nullopt;
    return op->literal[0].i;
  }

  // Follows list operators behind which the position that is read certainly holds the same array as before, or its new
  // one.
  void look_through(Op& get) {
    for (;;) {
      const Op* list = maker_[static_cast<size_t>(get.operands[0])];
      if (list == nullptr) return;
      const std::int64_t length = m_.type(get.operands[0]).list;
      const auto at = known_index(get.operands[1]);
      if (list->code == OpCode::push && at && *at == length - 1) {
        return stands_for(get.results[0], end_of(list->operands[1]));
      }
      if (list->code != OpCode::put) return;
      if (list->operands[1] == get.operands[1]) return stands_for(get.results[0], end_of(list->operands[2]));
      const auto put_at = known_index(list->operands[1]);
      if (!at || !put_at) return;
      if (*at == *put_at) return stands_for(get.results[0], end_of(list->operands[2]));
      get.operands[0] = end_of(list->operands[0]);
      changed_ = true;
    }
  }

  Module& m_;
  std::vector<ValueId> with_;
  std::vector<const Op*> maker_;
  std::vector<const Op*> known_;  // visible operators, for merging with equal ones
  bool changed_ = false;
};

}  // namespace

bool pass_simplify(Module& module, PassContext& context) {
  if (!Simplifier(module).run()) return false;
  (void)pass_dead_code(module, context);
  return true;
}

}  // namespace kasen
