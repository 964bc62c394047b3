#include "libopt/swapping/write_moves.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/base/error.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen::swapping {
namespace {

Op tier_op(OpCode code, ValueId from, ValueId to, const Location& where) {
  Op op;
  op.code = code;
  op.operands = {from};
  op.results = {to};
  op.where = where;
  return op;
}

// One block, operator by operator: where each object is, and under which name.
class MoveWriter {
 public:
  struct Object {
    ValueId written = no_value;  // its array, as the plan without moves names it
    ValueId memory = no_value, disk = no_value;
  };

  MoveWriter(Module& module, const BlockGraph& block, const BlockPlan& plan)
      : m_(module), block_(block), plan_(plan.swaps), here_(block.objects().size()) {
    for (std::size_t k = 0; k < here_.size(); ++k) {
      by_tensor_.emplace(block.objects()[k].tensor, k);
      for (const ValueId v : block.objects()[k].values) by_value_.emplace(v, k);
    }
    for (const swap::Move& move : plan_.moves) {
      const int before = move.after_move < 0 ? -1 : gaps_.at(static_cast<std::size_t>(move.after_move));
      gaps_.push_back(std::max(move.after_task, before));
    }
  }

  [[nodiscard]] Object& object(std::size_t k) { return here_[k]; }
  [[nodiscard]] bool is_resident(std::size_t k) const {
    const swap::TensorId tensor = block_.objects()[k].tensor;
    return std::binary_search(plan_.residents.begin(), plan_.residents.end(), tensor);
  }
  [[nodiscard]] bool comes(std::size_t k) const {
    return std::any_of(plan_.moves.begin(), plan_.moves.end(),
                       [&](const swap::Move& move) { return move.in && move.tensor == block_.objects()[k].tensor; });
  }
  [[nodiscard]] ValueId now(ValueId v) const {
    const auto known = now_.find(v);
    return known == now_.end() ? v : known->second;
  }
  void rename(ValueId v, ValueId to) { now_[v] = to; }

  // Takes the operators of a block apart and returns them with the moves; a yield stays as it is.
  std::vector<Op> write(std::vector<Op> ops) {
    std::vector<Op> made;
    moves_at(-1, ops.empty() ? Location{} : ops.front().where, made);
    for (std::size_t at = 0; at < ops.size(); ++at) {
      Op& op = ops[at];
      if (op.code == OpCode::yield) {
        made.push_back(std::move(op));
        break;
      }
      const Location where = op.where;
      for_each_operand(op, [&](ValueId& v) { v = now(v); });
      for (const ValueId v : op.results) {
        const auto known = by_value_.find(v);
        if (known != by_value_.end()) here_[known->second] = {v, v, no_value};
      }
      made.push_back(std::move(op));
      moves_at(static_cast<int>(at), where, made);
    }
    return made;
  }

 private:
  void moves_at(int gap, const Location& where, std::vector<Op>& made) {
    for (std::size_t i = 0; i < plan_.moves.size(); ++i) {
      if (gaps_[i] == gap) move(plan_.moves[i], where, made);
    }
  }

  void move(const swap::Move& move, const Location& where, std::vector<Op>& made) {
    Object& here = here_[by_tensor_.at(move.tensor)];
    const ValueId from = move.in ? here.disk : here.memory;
    if (from == no_value || here.written == no_value) throw InternalError("an array moves that is not there");
    const Type type = m_.type(here.written);
    const std::string name = m_.value(here.written).name;
    const ValueId to = m_.add_value(name + (move.in ? "_m" : "_d"), type);
    made.push_back(tier_op(move.in ? OpCode::load : OpCode::store, from, to, where));
    if (move.in) {
      here.memory = to;
      now_[here.written] = to;
    } else {
      here.disk = to;
      here.memory = no_value;
    }
  }

  Module& m_;
  const BlockGraph& block_;
  const swap::SwapPlan& plan_;
  std::vector<Object> here_;
  std::map<swap::TensorId, std::size_t> by_tensor_;
  std::map<ValueId, std::size_t> by_value_;
  std::map<ValueId, ValueId> now_;
  std::vector<int> gaps_;  // by move: the operator behind which it stands
};

// The program's block around a loop: what is stored before it and loaded behind it.
class AroundLoop {
 public:
  AroundLoop(Module& module, std::size_t at) : m_(module), at_(at) {}

  // A copy of a value on the disk, from behind its last use before the loop on.
  ValueId stored(ValueId v) {
    const std::vector<Op>& ops = m_.body.ops;
    std::size_t last = 0;
    for (std::size_t i = 0; i < at_; ++i) {
      if (count_uses(ops[i], v) > 0 ||
          std::find(ops[i].results.begin(), ops[i].results.end(), v) != ops[i].results.end())
        last = i;
    }
    const ValueId to = m_.add_value(m_.value(v).name + "_d", m_.type(v));
    behind_[last].push_back(tier_op(OpCode::store, v, to, ops[last].where));
    return to;
  }

  // `v` is made of `disk` before its first use behind the loop.
  void loaded(ValueId disk, ValueId v) {
    const std::vector<Op>& ops = m_.body.ops;
    std::size_t first = first_use(v);
    if (first == ops.size()) return;
    while (ops[first].code == OpCode::output && ops[first - 1].code == OpCode::output) --first;  // nothing between them
    before_[first].push_back(tier_op(OpCode::load, disk, v, ops[first].where));
  }

  [[nodiscard]] std::size_t first_use(ValueId v) const {
    const std::vector<Op>& ops = m_.body.ops;
    std::size_t first = at_ + 1;
    while (first < ops.size() && count_uses(ops[first], v) == 0) ++first;
    return first;
  }
  [[nodiscard]] bool is_used_behind(ValueId v) const { return first_use(v) < m_.body.ops.size(); }

  // Behind the loop it has another name.
  void rename(ValueId v, ValueId to) {
    for (std::size_t i = at_ + 1; i < m_.body.ops.size(); ++i) {
      for_each_operand(m_.body.ops[i], [&](ValueId& operand) { operand = operand == v ? to : operand; });
    }
  }

  // What lives across a loop that has no use for it gives its memory away.
  void pass_by(ValueId v) {
    const ValueId disk = stored(v);
    load_again(disk, v);
  }
  void load_again(ValueId disk, ValueId v) {
    if (!is_used_behind(v)) return;
    const ValueId again = m_.add_value(m_.value(v).name + "_m", m_.type(v));
    rename(v, again);
    loaded(disk, again);
  }

  void finish() {
    std::vector<Op> ops;
    for (std::size_t i = 0; i < m_.body.ops.size(); ++i) {
      for (Op& op : before_[i]) ops.push_back(std::move(op));
      ops.push_back(std::move(m_.body.ops[i]));
      for (Op& op : behind_[i]) ops.push_back(std::move(op));
    }
    m_.body.ops = std::move(ops);
  }

 private:
  Module& m_;
  std::size_t at_;
  std::map<std::size_t, std::vector<Op>> before_, behind_;  // by place in the program's block
};

class LoopWriter {
 public:
  LoopWriter(Module& module, std::size_t at, const BlockGraph& block, const BlockPlan& plan)
      : m_(module), at_(at), block_(block), writer_(module, block, plan), around_(module, at) {}

  void run() {
    const std::vector<ValueId> passing = passing_by();
    for (std::size_t k = 0; k < block_.objects().size(); ++k) begin(k);
    std::vector<Op> ops = writer_.write(std::move(loop().blocks[0].ops));
    loop().blocks[0].ops = std::move(ops);
    end();
    for (const ValueId v : passing) around_.pass_by(v);
    around_.finish();
  }

 private:
  [[nodiscard]] Op& loop() { return m_.body.ops[at_]; }

  // Arrays in memory that live across the loop, which does not read them.
  [[nodiscard]] std::vector<ValueId> passing_by() {
    const Liveness live(m_);
    std::vector<ValueId> found;
    for (std::size_t i = 0; i < at_; ++i) {
      for (const ValueId v : m_.body.ops[i].results) {
        const Value& value = m_.value(v);
        const bool array = value.buffer != no_buffer && !m_.buffers[value.buffer].on_disk && value.type.list == 0;
        if (array && !live.is_view(v) && count_uses(loop(), v) == 0 && around_.is_used_behind(v)) found.push_back(v);
      }
    }
    return found;
  }

  void begin(std::size_t k) {
    const Object& object = block_.objects()[k];
    if (object.carried) return carry(k);
    if (object.outside) outside(k);
  }

  void carry(std::size_t k) {
    const ValueId arg = block_.objects()[k].values.front();
    MoveWriter::Object& here = writer_.object(k);
    here.written = arg;
    if (writer_.is_resident(k)) {
      here.memory = arg;
      return;
    }
    std::vector<ValueId>& args = loop().blocks[0].args;
    const auto place = static_cast<std::size_t>(std::find(args.begin(), args.end(), arg) - args.begin());
    const std::size_t i = place - carried_at(loop()).arg;
    here.disk = m_.add_value(m_.value(arg).name + "_d", m_.type(arg));
    loop().blocks[0].args[place] = here.disk;
    on_disk_.emplace(i, k);
    ValueId& initial = loop().operands[carried_at(loop()).operand + i];
    initial = around_.stored(initial);
    const ValueId result = loop().results[i], disk = m_.add_value(m_.value(result).name + "_d", m_.type(result));
    loop().results[i] = disk;
    around_.loaded(disk, result);
  }

  void outside(std::size_t k) {
    const ValueId v = block_.objects()[k].values.front();
    MoveWriter::Object& here = writer_.object(k);
    here.written = v;
    const bool resident = writer_.is_resident(k), comes = writer_.comes(k);
    if (resident) here.memory = v;
    if (resident && !comes) return;
    here.disk = around_.stored(v);
    if (!resident) return around_.load_again(here.disk, v);
    const ValueId arg = m_.add_value(m_.value(v).name, m_.type(v)), result = m_.add_value(m_.value(v).name, m_.type(v));
    loop().operands.push_back(v);
    loop().blocks[0].args.push_back(arg);
    loop().results.push_back(result);
    around_.rename(v, result);
    writer_.rename(v, arg);
    here.memory = arg;
    returned_.push_back(k);
  }

  void end() {
    std::vector<ValueId>& yielded = loop().blocks[0].ops.back().operands;
    for (std::size_t i = 0; i < yielded.size(); ++i) {
      const auto known = on_disk_.find(i);
      yielded[i] = known == on_disk_.end() ? writer_.now(yielded[i]) : writer_.object(known->second).disk;
      if (yielded[i] == no_value) throw InternalError("an array that a loop carries is not on the disk");
    }
    for (const std::size_t k : returned_) yielded.push_back(writer_.object(k).memory);
  }

  Module& m_;
  std::size_t at_;
  const BlockGraph& block_;
  MoveWriter writer_;
  AroundLoop around_;
  std::map<std::size_t, std::size_t>
      on_disk_;                        // the object of a carried value that lies on the disk between iterations
  std::vector<std::size_t> returned_;  // objects that are carried from now on, in memory
};

}  // namespace

void write_program(Module& module, const BlockGraph& block, const BlockPlan& plan) {
  MoveWriter writer(module, block, plan);
  std::vector<Op> ops = writer.write(std::move(module.body.ops));
  module.body.ops = std::move(ops);
}

void write_loop(Module& module, std::size_t at, const BlockGraph& block, const BlockPlan& plan) {
  LoopWriter(module, at, block, plan).run();
}

}  // namespace kasen::swapping
