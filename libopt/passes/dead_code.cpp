// Why: the front end and earlier passes leave statements whose results nothing reads. Inputs and params stay, since
// they say what data and options the program takes. A loop that only feeds itself goes as a whole; so does a carried
// value that neither the body nor anything after the loop reads, and a result of an `if` that nothing reads.
// Requires nothing, keeps the level.
#include "libopt/pass.h"
#include "libopt/rewrite.h"

namespace kasen {

bool pass_dead_code(Module& module, PassContext& context);

namespace {

bool stays(const Op& op, const std::vector<int>& uses) {
  if (op.code == OpCode::input || op.code == OpCode::param || row(op.code).group == OpGroup::end) return true;
  for (const ValueId result : op.results) {
    if (uses[static_cast<size_t>(result)] > 0) return true;
  }
  return false;
}

template <class List>
void erase_at(List& list, size_t at) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
}

bool drop_carried(Op& loop, const std::vector<int>& uses) {
  const CarriedAt first = carried_at(loop);
  Block& body = loop.blocks[0];
  bool changed = false;
  for (size_t i = loop.results.size(); i-- > 0;) {
    const ValueId arg = body.args[first.arg + i];
    // An argument that the turn only hands on to itself is not read.
    const int own = body.ops.back().operands[i] == arg ? 1 : 0;
    if (uses[static_cast<size_t>(loop.results[i])] > 0 || uses[static_cast<size_t>(arg)] > own) continue;
    if (loop.code == OpCode::while_loop && loop.test == static_cast<int>(i)) continue;
    erase_at(loop.operands, first.operand + i);
    erase_at(body.args, first.arg + i);
    erase_at(body.ops.back().operands, i);
    erase_at(loop.results, i);
    if (loop.test > static_cast<int>(i)) --loop.test;
    changed = true;
  }
  return changed;
}

bool drop_branches(Op& op, const std::vector<int>& uses) {
  bool changed = false;
  for (size_t i = op.results.size(); i-- > 0;) {
    if (uses[static_cast<size_t>(op.results[i])] > 0) continue;
    for (Block& branch : op.blocks) erase_at(branch.ops.back().operands, i);
    erase_at(op.results, i);
    changed = true;
  }
  return changed;
}

bool sweep(Module& module) {
  const std::vector<int> uses = count_uses(module);
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    changed |= std::erase_if(block.ops, [&](const Op& op) { return !stays(op, uses); }) > 0;
    for (Op& op : block.ops) {
      if (is_loop(op)) changed |= drop_carried(op, uses);
      if (op.code == OpCode::if_else) changed |= drop_branches(op, uses);
    }
  });
  return changed;
}

}  // namespace

bool pass_dead_code(Module& module, PassContext& /*context*/) {
  bool changed = false;
  while (sweep(module)) changed = true;
  return changed;
}

}  // namespace kasen
