// Why: the first statements of an iteration read values that the end of the last iteration has just made. In one region
// with that end they cost no read. So they are computed before the loop for the initial values, at the end of each
// iteration for the yielded ones, and carried. The last iteration computes them in vain, so the loop has to be
// `likely`; a result never changes. The pass moves element-wise maps (they cannot fail and use no network) that
// something other than a vector operator reads, so that they are stored anyway. Their carried operands are made
// element-wise at the end of the iteration: other maps would gain nothing. Maps that only those read go with them.
// Requires level 1; keeps it.
#include <algorithm>

#include "libcore/ir/layout.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class Rotation {
 public:
  Rotation(Module& module, Block& block, size_t place)
      : m_(module), block_(block), place_(place), first_(carried_at(block.ops[place])) {}

  bool run() {
    find_candidates();
    find_seeds();
    if (seeds_.empty()) return false;
    close_over_operands();
    rotate();
    return true;
  }

 private:
  enum class Made : std::uint8_t { outside, argument, early, late };

  [[nodiscard]] Op& loop() { return block_.ops[place_]; }
  [[nodiscard]] Block& body() { return loop().blocks[0]; }
  [[nodiscard]] Made made(ValueId v) const { return made_[static_cast<size_t>(v)]; }

  void find_candidates() {
    made_.assign(m_.values.size(), Made::outside);
    maker_.assign(m_.values.size(), -1);
    for (const ValueId arg : body().args) made_[static_cast<size_t>(arg)] = Made::argument;
    if (first_.arg > 0) made_[static_cast<size_t>(body().args[0])] = Made::late;  // the index of a `for`
    for (size_t i = 0; i < body().ops.size(); ++i) {
      const Op& op = body().ops[i];
      const bool simple =
          op.code == OpCode::map || op.code == OpCode::apply || op.code == OpCode::literal || op.code == OpCode::size;
      const bool early = simple && std::none_of(op.operands.begin(), op.operands.end(),
                                                [&](ValueId v) { return made(v) == Made::late; });
      for (const ValueId result : op.results) {
        made_[static_cast<size_t>(result)] = early ? Made::early : Made::late;
        maker_[static_cast<size_t>(result)] = static_cast<int>(i);
      }
    }
  }

  [[nodiscard]] const Op* maker(ValueId v) {
    const int at = maker_[static_cast<size_t>(v)];
    return at < 0 ? nullptr : &body().ops[static_cast<size_t>(at)];
  }

  // Stored in any case: an operator reads it that no region of vector operators holds.
  [[nodiscard]] bool stored(ValueId v) {
    return std::any_of(body().ops.begin(), body().ops.end(), [&](const Op& op) {
      return op.code != OpCode::yield && row(op.code).group != OpGroup::vector && count_uses(op, v) > 0;
    });
  }

  // Returns true if `v` is made from a carried array that the end of the iteration makes element by element.
  [[nodiscard]] bool follows_the_end(ValueId v) {
    if (made(v) == Made::argument) {
      const auto at = static_cast<size_t>(std::find(body().args.begin(), body().args.end(), v) - body().args.begin());
      const ValueId next = body().ops.back().operands[at - first_.arg];
      const Op* end = maker(next);
      return Layout(m_, v).is_distributed() && end != nullptr && end->code == OpCode::map;
    }
    if (made(v) != Made::early) return false;
    const Op* op = maker(v);
    return std::any_of(op->operands.begin(), op->operands.end(), [&](ValueId u) { return follows_the_end(u); });
  }

  void find_seeds() {
    for (const Op& op : body().ops) {
      if (op.code != OpCode::map || Layout(m_, op.results[0]).is_shared()) continue;
      const ValueId v = op.results[0];
      if (made(v) == Made::early && stored(v) && follows_the_end(v)) seeds_.push_back(v);
    }
  }

  void close_over_operands() {
    moved_.assign(body().ops.size(), false);
    std::vector<ValueId> open = seeds_;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      if (made(v) != Made::early) continue;
      moved_[static_cast<size_t>(maker_[static_cast<size_t>(v)])] = true;
      for (const ValueId operand : maker(v)->operands) open.push_back(operand);
    }
  }

  // Copies the moved operators, with `now` in place of the carried arguments.
  std::vector<Op> copies(std::vector<ValueId>& now, bool speculated) {
    std::vector<Op> ops;
    for (size_t i = 0; i < moved_.size(); ++i) {
      if (!moved_[i]) continue;
      Op op = body().ops[i];
      for (ValueId& operand : op.operands) {
        if (now[static_cast<size_t>(operand)] != no_value) operand = now[static_cast<size_t>(operand)];
      }
      const ValueId old = op.results[0];
      op.results[0] = m_.add_value(m_.value(old).name + (speculated ? "_next" : "_first"), m_.type(old));
      op.speculated = speculated;
      now[static_cast<size_t>(old)] = op.results[0];
      ops.push_back(std::move(op));
    }
    return ops;
  }

  void rotate() {
    std::vector<ValueId> first(m_.values.size(), no_value);
    std::vector<ValueId> next = first;
    std::vector<ValueId> carried = first;
    for (size_t i = 0; i < loop().results.size(); ++i) {
      const auto arg = static_cast<size_t>(body().args[first_.arg + i]);
      first[arg] = loop().operands[first_.operand + i];
      next[arg] = body().ops.back().operands[i];
    }
    std::vector<Op> before = copies(first, false);
    std::vector<Op> after = copies(next, true);
    Block& inside = body();
    inside.ops.insert(inside.ops.end() - 1, std::make_move_iterator(after.begin()),
                      std::make_move_iterator(after.end()));
    for (const ValueId seed : seeds_) {
      const auto at = static_cast<size_t>(seed);
      carried[at] = m_.add_value(m_.value(seed).name + "_carried", m_.type(seed));
      loop().operands.push_back(first[at]);
      inside.args.push_back(carried[at]);
      inside.ops.back().operands.push_back(next[at]);
      loop().results.push_back(m_.add_value(m_.value(seed).name + "_last", m_.type(seed)));
    }
    replace_uses(inside, carried);
    block_.ops.insert(block_.ops.begin() + static_cast<std::ptrdiff_t>(place_), std::make_move_iterator(before.begin()),
                      std::make_move_iterator(before.end()));
  }

  Module& m_;
  Block& block_;
  size_t place_;
  CarriedAt first_;
  std::vector<Made> made_;
  std::vector<int> maker_;  // by value: position in the body
  std::vector<ValueId> seeds_;
  std::vector<bool> moved_;
};

}  // namespace

bool pass_speculate(Module& module, PassContext& context) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const OpCode code = block.ops[i].code;
      if (code != OpCode::for_loop && (code != OpCode::while_loop || !block.ops[i].likely)) continue;
      const size_t before = block.ops.size();
      changed |= Rotation(module, block, i).run();
      i += block.ops.size() - before;
    }
  });
  if (changed) (void)pass_dead_code(module, context);  // removes moved operators, which nothing reads any more
  return changed;
}

}  // namespace kasen
