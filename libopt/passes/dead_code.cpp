// Why: the front end and earlier passes leave statements whose results nothing reads. The pass marks backwards
// everything that the outputs need, and removes the rest: operators, carried values, results of branches. A carried
// value that only feeds itself is removed too, which counting uses would not find. Inputs and params stay, since they
// state the data and options that the program takes. Requires nothing, keeps the level.
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// The origin of a value: a result of an operator or an argument of its block, by position.
struct Origin {
  const Op* op = nullptr;
  bool argument = false;
  size_t place = 0;
  int around = -1;  // number of the operator that holds the block in which the value is defined
};

class Marker {
 public:
  explicit Marker(const Module& module) : origins_(module.values.size()), needed_(module.values.size(), false) {
    walk(module.body, -1);
    for (const Op& op : module.body.ops) {
      if (op.code == OpCode::output) need(op.operands[0]);
      if (op.code == OpCode::observe) need(op.results[0]);  // all work over its dimension needs it
    }
    while (!open_.empty()) {
      const ValueId v = open_.back();
      open_.pop_back();
      follow(origins_[static_cast<size_t>(v)]);
    }
  }

  [[nodiscard]] bool needed(ValueId v) const { return needed_[static_cast<size_t>(v)]; }

 private:
  void walk(const Block& block, int around) {
    for (const Op& op : block.ops) {
      const int number = static_cast<int>(ops_.size());
      ops_.push_back(&op);
      around_.push_back(around);
      for (const Block& inner : op.blocks) {
        for (size_t i = 0; i < inner.args.size(); ++i) {
          origins_[static_cast<size_t>(inner.args[i])] = {&op, true, i, number};
        }
        walk(inner, number);
      }
      for (size_t i = 0; i < op.results.size(); ++i) {
        origins_[static_cast<size_t>(op.results[i])] = {&op, false, i, around};
      }
    }
  }

  void need(ValueId v) {
    if (needed_[static_cast<size_t>(v)]) return;
    needed_[static_cast<size_t>(v)] = true;
    open_.push_back(v);
  }

  void need_carried(const Op& loop, size_t i) {
    need(loop.operands[carried_at(loop).operand + i]);
    need(loop.blocks[0].ops.back().operands[i]);
  }

  // Marks the values that decide whether, and how often, the operator's blocks run.
  void need_control(const Op& op) {
    if (op.code == OpCode::while_loop) {
      need(op.blocks[0].args[static_cast<size_t>(op.test)]);
    } else if (op.code == OpCode::for_loop) {
      need(op.operands[0]);
      need(op.operands[1]);
    } else if (op.code == OpCode::if_else) {
      need(op.operands[0]);
    }
  }

  void follow(const Origin& origin) {
    for (int op = origin.around; op >= 0; op = around_[static_cast<size_t>(op)]) {
      need_control(*ops_[static_cast<size_t>(op)]);
    }
    const Op& op = *origin.op;
    if (is_loop(op)) {
      need_control(op);
      const size_t first = origin.argument ? carried_at(op).arg : 0;
      if (origin.place >= first) need_carried(op, origin.place - first);
    } else if (op.code == OpCode::if_else) {
      need_control(op);
      for (const Block& branch : op.blocks) need(branch.ops.back().operands[origin.place]);
    } else if (origin.argument) {
      need(op.operands[origin.place]);
    } else {
      for (const ValueId operand : op.operands) need(operand);
      for (const Block& block : op.blocks) need(block.ops.back().operands[origin.place]);
    }
  }

  std::vector<Origin> origins_;
  std::vector<bool> needed_;
  std::vector<const Op*> ops_;
  std::vector<int> around_;
  std::vector<ValueId> open_;
};

template <class List>
void erase_at(List& list, size_t at) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
}

bool drop_carried(Op& loop, const Marker& marked) {
  const CarriedAt first = carried_at(loop);
  Block& body = loop.blocks[0];
  bool changed = false;
  for (size_t i = loop.results.size(); i-- > 0;) {
    if (marked.needed(loop.results[i]) || marked.needed(body.args[first.arg + i])) continue;
    erase_at(loop.operands, first.operand + i);
    erase_at(body.args, first.arg + i);
    erase_at(body.ops.back().operands, i);
    erase_at(loop.results, i);
    if (loop.test > static_cast<int>(i)) --loop.test;
    changed = true;
  }
  return changed;
}

bool drop_results(Op& op, const Marker& marked) {
  bool changed = false;
  for (size_t i = op.results.size(); i-- > 0;) {
    if (marked.needed(op.results[i])) continue;
    for (Block& branch : op.blocks) erase_at(branch.ops.back().operands, i);
    erase_at(op.results, i);
    changed = true;
  }
  return changed;
}

bool sweep(Block& block, const Marker& marked) {
  const auto dead = [&](const Op& op) {
    if (op.code == OpCode::input || op.code == OpCode::param || row(op.code).group == OpGroup::end) return false;
    for (const ValueId result : op.results) {
      if (marked.needed(result)) return false;
    }
    return true;
  };
  bool changed = std::erase_if(block.ops, dead) > 0;
  for (Op& op : block.ops) {
    if (is_loop(op)) changed = drop_carried(op, marked) || changed;
    if (op.code == OpCode::if_else) changed = drop_results(op, marked) || changed;
    if (op.code == OpCode::region) continue;
    for (Block& inner : op.blocks) changed = sweep(inner, marked) || changed;
  }
  return changed;
}

}  // namespace

bool pass_dead_code(Module& module, PassContext& /*context*/) {
  const Marker marked(module);
  return sweep(module.body, marked);
}

}  // namespace kasen
