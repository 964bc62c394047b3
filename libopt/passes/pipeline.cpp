// Why: an iteration of a `for` may begin with a reduction of a carried vector (each step of a two-loop recursion does).
// Then it reads again the data that the last iteration has just written, for the reduction's result stands between any
// two regions of one iteration. With known bounds the reduction can move to the end of the iteration before, without
// doing anything in vain:
//
//   for i: T(i); B(i)    becomes    T(first); for all i but the last: { B(i); T(next i) }; B(last)
//
// T is the reductions that depend on carried values, the index and the outside alone, with the maps that they reduce.
// B(last) then meets the operators behind the loop. If a carried vector starts from one that is needed elsewhere, the
// first iteration is taken out as well, since the loop would begin with a copy otherwise. Requires level 1; keeps it.
#include <algorithm>
#include <optional>

#include "libcore/ir/layout.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class Pipeline {
 public:
  Pipeline(Module& module, Block& block, size_t place) : m_(module), block_(block), place_(place) {}

  bool run(const std::vector<std::optional<std::int64_t>>& literals, const std::vector<int>& uses) {
    const auto lo = literals[static_cast<size_t>(loop().operands[0])];
    const auto hi = literals[static_cast<size_t>(loop().operands[1])];
    if (!lo || !hi || *hi - *lo < 2) return false;
    find_reductions();
    if (reduced_.empty()) return false;
    first_ = loop().down ? *hi - 1 : *lo;
    last_ = loop().down ? *lo : *hi - 1;
    const bool peel = starts_from_a_needed_array(uses);
    if (peel && *hi - *lo == 2) {
      unroll();
    } else {
      transform(peel);
    }
    return true;
  }

 private:
  enum class Made : std::uint8_t { outside, carried, early, late };

  [[nodiscard]] Op& loop() { return block_.ops[place_]; }
  [[nodiscard]] Block& body() { return loop().blocks[0]; }
  [[nodiscard]] Made made(ValueId v) const { return made_[static_cast<size_t>(v)]; }

  [[nodiscard]] bool reads_nothing_late(const Op& op) const {
    return std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return made(v) == Made::late; });
  }

  void find_reductions() {
    made_.assign(m_.values.size(), Made::outside);
    maker_.assign(m_.values.size(), -1);
    for (const ValueId arg : body().args) made_[static_cast<size_t>(arg)] = Made::carried;
    for (size_t i = 0; i < body().ops.size(); ++i) {
      const Op& op = body().ops[i];
      const bool simple = op.code == OpCode::map || op.code == OpCode::apply || op.code == OpCode::get ||
                          op.code == OpCode::literal || op.code == OpCode::size;
      for (const ValueId result : op.results) {
        made_[static_cast<size_t>(result)] = simple && reads_nothing_late(op) ? Made::early : Made::late;
        maker_[static_cast<size_t>(result)] = static_cast<int>(i);
      }
    }
    for (const Op& op : body().ops) {
      const bool whole = op.code == OpCode::reduce && Layout(m_, op.results[0]).is_shared();
      if (!whole || !reads_nothing_late(op) || !follows_the_end(op.operands[0])) continue;
      if (used_in_the_iteration(op.results[0])) reduced_.push_back(op.results[0]);
    }
  }

  // A reduction that is only handed on already stands at the end of its iteration.
  [[nodiscard]] bool used_in_the_iteration(ValueId v) {
    return std::any_of(body().ops.begin(), body().ops.end() - 1, [&](const Op& op) { return count_uses(op, v) > 0; });
  }

  // Returns true if `v` is made from a carried array that the end of the iteration makes element by element.
  [[nodiscard]] bool follows_the_end(ValueId v) {
    if (made(v) == Made::carried) {
      const auto at = static_cast<size_t>(std::find(body().args.begin(), body().args.end(), v) - body().args.begin());
      if (at == 0 || Layout(m_, v).is_shared()) return false;
      const int end = maker_[static_cast<size_t>(body().ops.back().operands[at - 1])];
      return end >= 0 && body().ops[static_cast<size_t>(end)].code == OpCode::map;
    }
    if (made(v) != Made::early) return false;
    const Op& op = body().ops[static_cast<size_t>(maker_[static_cast<size_t>(v)])];
    return op.code == OpCode::map &&
           std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId u) { return follows_the_end(u); });
  }

  [[nodiscard]] bool starts_from_a_needed_array(const std::vector<int>& uses) {
    for (size_t i = 2; i < loop().operands.size(); ++i) {
      ValueId v = loop().operands[i];
      if (Layout(m_, v).is_shared() || m_.type(v).list > 0) continue;
      for (const Op& op : block_.ops) {
        const bool copy = op.code == OpCode::map && op.results[0] == v && is_identity(m_.fn(op.fns[0]));
        if (copy) v = op.operands[0];
      }
      if (uses[static_cast<size_t>(v)] > 1) return true;
    }
    return false;
  }

  // ---- the transformation; `now` gives the values that replace the body's arguments

  ValueId literal(std::int64_t value, std::vector<Op>& ops) {
    Op op;
    op.code = OpCode::literal;
    op.literal = {Word::integer(value)};
    op.where = loop().where;
    op.results = {m_.add_value("i", m_.type(body().args[0]))};
    ops.push_back(op);
    return op.results[0];
  }

  std::vector<ValueId> with_arguments(ValueId index, const std::vector<ValueId>& carried) {
    std::vector<ValueId> now(m_.values.size(), no_value);
    now[static_cast<size_t>(body().args[0])] = index;
    for (size_t i = 0; i < carried.size(); ++i) now[static_cast<size_t>(body().args[i + 1])] = carried[i];
    return now;
  }

  static ValueId mapped(const std::vector<ValueId>& now, ValueId v) {
    return static_cast<size_t>(v) < now.size() && now[static_cast<size_t>(v)] != no_value ? now[static_cast<size_t>(v)]
                                                                                          : v;
  }

  static void append(std::vector<Op>& ops, std::vector<Op> more) {
    ops.insert(ops.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  // Appends all of the body but its yield, and returns the yielded values.
  std::vector<ValueId> iteration(std::vector<Op>& ops, std::vector<ValueId>& now) {
    const std::vector<Op>& inside = body().ops;
    append(ops, clone_ops(m_, std::span(inside).first(inside.size() - 1), now));
    std::vector<ValueId> yielded;
    for (const ValueId v : inside.back().operands) yielded.push_back(mapped(now, v));
    return yielded;
  }

  // Appends the reductions with all operators that they are made of, and returns their results.
  std::vector<ValueId> reductions(std::vector<Op>& ops, std::vector<ValueId> now) {
    std::vector<char> moved(body().ops.size(), 0);
    std::vector<ValueId> open = reduced_;
    while (!open.empty()) {
      const ValueId v = open.back();
      open.pop_back();
      const int at = maker_[static_cast<size_t>(v)];
      if (at < 0 || moved[static_cast<size_t>(at)] != 0) continue;
      moved[static_cast<size_t>(at)] = 1;
      const auto& operands = body().ops[static_cast<size_t>(at)].operands;
      open.insert(open.end(), operands.begin(), operands.end());
    }
    for (size_t i = 0; i < moved.size(); ++i) {
      if (moved[i] != 0) append(ops, clone_ops(m_, std::span(body().ops).subspan(i, 1), now));
    }
    std::vector<ValueId> results;
    for (const ValueId v : reduced_) results.push_back(mapped(now, v));
    return results;
  }

  // Makes two iterations, one after the other.
  void unroll() {
    std::vector<Op> ops;
    std::vector<ValueId> state(loop().operands.begin() + 2, loop().operands.end());
    for (const std::int64_t index : {first_, last_}) {
      std::vector<ValueId> now = with_arguments(literal(index, ops), state);
      state = iteration(ops, now);
    }
    hand_on(std::move(ops), state);
  }

  void transform(bool peel) {
    const std::int64_t step = loop().down ? -1 : 1;
    std::vector<Op> before;
    std::vector<ValueId> initial(loop().operands.begin() + 2, loop().operands.end());
    if (peel) {
      std::vector<ValueId> now = with_arguments(literal(first_, before), initial);
      initial = iteration(before, now);
      first_ += step;
    }
    std::vector<ValueId> known = reductions(before, with_arguments(literal(first_, before), initial));

    Op inner = loop();  // all iterations but the last
    inner.operands = {literal(loop().down ? last_ + 1 : first_, before),
                      literal(loop().down ? first_ + 1 : last_, before)};
    inner.operands.insert(inner.operands.end(), initial.begin(), initial.end());
    inner.operands.insert(inner.operands.end(), known.begin(), known.end());
    for (ValueId& result : inner.results) result = m_.add_value(m_.value(result).name, m_.type(result));
    std::vector<ValueId> carried(m_.values.size(), no_value);
    std::vector<ValueId> left;  // the last values of the reductions
    for (const ValueId v : reduced_) {
      const ValueId arg = m_.add_value(m_.value(v).name, m_.type(v));
      carried[static_cast<size_t>(v)] = arg;
      inner.blocks[0].args.push_back(arg);
      left.push_back(m_.add_value(m_.value(v).name, m_.type(v)));
      inner.results.push_back(left.back());
    }

    std::vector<Op> after;  // the last iteration
    const std::vector<ValueId> results(inner.results.begin(),
                                       inner.results.end() - static_cast<std::ptrdiff_t>(left.size()));
    std::vector<ValueId> now = with_arguments(literal(last_, after), results);
    std::vector<ValueId> yielded = iteration(after, now);
    std::vector<ValueId> with(m_.values.size(), no_value);
    for (size_t i = 0; i < left.size(); ++i) with[static_cast<size_t>(mapped(now, reduced_[i]))] = left[i];
    for (Op& op : after) {
      for_each_operand(op, [&](ValueId& v) { v = mapped(with, v); });
    }
    for (ValueId& v : yielded) v = mapped(with, v);

    end_of_iteration(inner, carried, step);
    before.push_back(std::move(inner));
    append(before, std::move(after));
    hand_on(std::move(before), yielded);
  }

  // Puts the next iteration's reductions at the end of this one.
  void end_of_iteration(Op& inner, const std::vector<ValueId>& carried, std::int64_t step) {
    std::vector<Op> ops;
    const ValueId index = body().args[0];
    ScalarFunction next;
    next.name = "next_index";
    const Expr i = make_param(0, m_.type(index).element);
    next.params = {{"i", i.type}};
    next.body = make_op(ScalarOp::add, {i, make_literal(i.type.scalar(), Word::integer(step))});
    Op advance;
    advance.code = OpCode::apply;
    advance.where = loop().where;
    advance.fns = {m_.add_function(std::move(next))};
    advance.operands = {index};
    advance.results = {m_.add_value("i_next", m_.type(index))};
    ops.push_back(advance);
    const std::vector<ValueId> known = reductions(ops, with_arguments(advance.results[0], body().ops.back().operands));
    Block& inside = inner.blocks[0];
    Op yield = std::move(inside.ops.back());
    inside.ops.pop_back();
    yield.operands.insert(yield.operands.end(), known.begin(), known.end());
    append(inside.ops, std::move(ops));
    inside.ops.push_back(std::move(yield));
    replace_uses(inside, carried);
  }

  // Puts `ops` in the place of the loop, and `yielded` in the place of its results.
  void hand_on(std::vector<Op> ops, const std::vector<ValueId>& yielded) {
    std::vector<ValueId> with(m_.values.size(), no_value);
    for (size_t i = 0; i < yielded.size(); ++i) with[static_cast<size_t>(loop().results[i])] = yielded[i];
    const auto at = block_.ops.begin() + static_cast<std::ptrdiff_t>(place_);
    const auto rest = block_.ops.erase(at);
    block_.ops.insert(rest, std::make_move_iterator(ops.begin()), std::make_move_iterator(ops.end()));
    replace_uses(block_, with);
  }

  Module& m_;
  Block& block_;
  size_t place_;
  std::int64_t first_ = 0, last_ = 0;
  std::vector<Made> made_;
  std::vector<int> maker_;  // by value: position in the body
  std::vector<ValueId> reduced_;
};

std::vector<std::optional<std::int64_t>> integer_literals(Module& module) {
  std::vector<std::optional<std::int64_t>> literals(module.values.size());
  for_each_block(module, [&](Block& block) {
    for (const Op& op : block.ops) {
      if (op.code == OpCode::literal && module.type(op.results[0]).element.is(Scalar::i64)) {
        literals[static_cast<size_t>(op.results[0])] = op.literal[0].i;
      }
    }
  });
  return literals;
}

// Changes one loop; returns false if none is left to change.
bool change_one(Module& module) {
  const auto literals = integer_literals(module);
  const std::vector<int> uses = count_uses(module);
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (size_t i = 0; i < block.ops.size() && !changed; ++i) {
      if (block.ops[i].code != OpCode::for_loop) continue;
      changed = Pipeline(module, block, i).run(literals, uses);
    }
  });
  return changed;
}

}  // namespace

bool pass_pipeline(Module& module, PassContext& context) {
  bool changed = false;
  while (change_one(module)) {
    (void)pass_dead_code(module, context);  // removes the reductions at their old positions
    (void)pass_simplify(module, context);   // the last iteration's results may now be known
    changed = true;
  }
  return changed;
}

}  // namespace kasen
