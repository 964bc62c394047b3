// Level 3: every distributed array has a buffer that is large enough for it, and every shared array may have one. No
// buffer is written while it holds a value that is still needed. liveness.h defines when a value is needed. Bindings
// exchange or copy whole buffers at once, so among the values of one binding any exchange of buffers is right.
//
// Values without a buffer are single values, inputs (they live in the bundle's data), views of lists, and values inside
// regions. One exception has a buffer: the rows of a product_epilogue that wait for its gather.
#include <fmt/format.h>

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/liveness.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

// The point where a value is defined: an operator's result, or an argument of its block.
struct Birth {
  int op = -1;        // preorder number of the defining operator (arguments: of the one that holds the block)
  int block = -1;     // number of the block in which the value lives
  bool owns = false;  // it has a buffer to check
};

struct BlockPlace {
  int parent_op = -1;     // number of the operator that holds it
  int parent_block = -1;  // the block of that operator
};

class BufferCheck {
 public:
  BufferCheck(const Module& module, Faults& faults)
      : m_(module), faults_(faults), live_(module), places_(module.values.size()), uses_(module.values.size()) {}

  void run() {
    walk(m_.body, -1, -1, nullptr);
    for (const ValueId v : places_.ids()) {
      if (places_[v].op >= 0) room(v);
    }
    if (!faults_.empty()) return;
    collect();
    for (const std::vector<ValueId>& values : holders_) {
      for (size_t i = 0; i < values.size(); ++i) {
        for (size_t j = i + 1; j < values.size(); ++j) pair(values[i], values[j]);
      }
    }
  }

 private:
  // ---- positions of values

  void place(ValueId id, int op, int block, bool owns) {
    const Type& type = m_.type(id);
    const bool array = !type.dims.empty() && !type.sparse && !live_.is_view(id);
    places_[id] = {op, block, owns && array};
  }

  // Inside a region only the rows that wait in a product_epilogue have memory.
  [[nodiscard]] static bool has_room(const Op* region, const Op& op) {
    if (region == nullptr) return op.code != OpCode::input;
    return is_epilogue(*region) && (&op == &epilogue_product(*region) || &op == &epilogue_gather(*region));
  }

  void walk(const Block& b, int parent_op, int parent_block, const Op* region) {
    const int here = static_cast<int>(blocks_.size());
    blocks_.push_back({parent_op, parent_block});
    for (const ValueId arg : b.args) place(arg, parent_op, here, region == nullptr);
    for (const Op& op : b.ops) {
      const int number = static_cast<int>(ops_.size());
      ops_.push_back(&op);
      for (const ValueId id : op.operands) use(id, here);
      const Op* around = op.code == OpCode::region ? &op : region;
      for (const Block& inner : op.blocks) walk(inner, number, here, around);
      for (const ValueId id : op.results) place(id, number, here, has_room(region, op));
    }
  }

  // A use of a view is a use of its list.
  void use(ValueId id, int block) {
    for (; id != no_value; id = live_.is_view(id) ? live_.viewed_list(id) : no_value) {
      uses_[id].push_back(block);
    }
  }

  // ---- sizes of buffers

  [[nodiscard]] const Op& maker(ValueId id) const { return *ops_[static_cast<size_t>(places_[id].op)]; }

  void room(ValueId id) {
    const Value& v = m_.value(id);
    const Op& op = maker(id);
    if (!places_[id].owns) {
      if (v.buffer != no_buffer) {
        faults_.add(op, fmt::format("{} has a buffer", value_text(m_, id)),
                    "single values, inputs, views of lists and values inside of a region own none "
                    "(but the product and the gather of a product_epilogue)");
      }
      return;
    }
    if (v.buffer == no_buffer && Layout(m_, v.type).is_shared()) return;  // as in plans of earlier versions
    if (v.buffer == no_buffer) {
      return faults_.add(op, value_text(m_, id) + " has no buffer", "every distributed array of level 3 owns one");
    }
    const BufferId last(v.buffer + static_cast<int>(std::max<std::int64_t>(v.type.list, 1)) - 1);
    if (!m_.buffers.contains(last)) {
      return faults_.add(op,
                         fmt::format("{} needs buffers up to ~b{}, which is not declared", value_text(m_, id), last));
    }
    for (BufferId b = v.buffer; b <= last; ++b) fits(op, id, b);
  }

  void fits(const Op& op, ValueId id, BufferId b) {
    const BufferDecl& buffer = m_.buffers[b];
    const Type& type = m_.type(id);
    if (buffer.element != type.element || buffer.dims != type.dims || buffer.cuts != type.cuts) {
      return faults_.add(op, fmt::format("{} does not fit into ~b{}", value_text(m_, id), b),
                         "the buffer has another element type, or other dimensions or cuts");
    }
    const SlaveSet& set = type.state.slaves;
    const bool held = set.empty() || std::any_of(buffer.holds.begin(), buffer.holds.end(),
                                                 [&](const SlaveSet& h) { return set_contains(h, set); });
    if (!held) faults_.add(op, fmt::format("~b{} has no room for the slaves of {}", b, value_text(m_, id)));
  }

  void collect() {
    holders_.resize(m_.buffers.size());
    for (const ValueId v : places_.ids()) {
      const Value& value = m_.values[v];
      if (!places_[v].owns || value.buffer == no_buffer) continue;
      const std::int64_t count = std::max<std::int64_t>(value.type.list, 1);
      for (std::int64_t k = 0; k < count; ++k) {
        holders_[BufferId(value.buffer + k)].push_back(v);
      }
    }
  }

  // ---- conflicts

  // The operator of `outer` that holds `inner` (at any depth), or -1.
  [[nodiscard]] int holder_in(int outer, int inner) const {
    while (inner >= 0 && blocks_[static_cast<size_t>(inner)].parent_block != outer) {
      inner = blocks_[static_cast<size_t>(inner)].parent_block;
    }
    return inner < 0 ? -1 : blocks_[static_cast<size_t>(inner)].parent_op;
  }

  [[nodiscard]] bool used_inside(ValueId id, int op) const {
    const int block = places_[id].block;
    for (const int where : uses_[id]) {
      if (where != block && holder_in(block, where) == op) return true;
    }
    return false;
  }

  void pair(ValueId a, ValueId b) {
    const Birth& p = places_[a];
    const Birth& q = places_[b];
    if (p.block == q.block) {
      if (p.op == q.op) return conflict(a, b);
      return p.op < q.op ? same_block(a, b) : same_block(b, a);
    }
    if (const int op = holder_in(p.block, q.block); op >= 0) return nested(a, b, op);
    if (const int op = holder_in(q.block, p.block); op >= 0) return nested(b, a, op);
  }

  // `later` is made after `held` in the same block.
  void same_block(ValueId held, ValueId later) {
    const int made = places_[later].op;
    const int end = live_.last_use(held);
    if (in_one_batch(places_[held].op, made)) return conflict(held, later);
    if (end < made) return;
    if (end == made && may_reuse(*ops_[static_cast<size_t>(made)], held, later)) return;
    conflict(held, later);
  }

  // True if one exchange makes the results of both operators.
  [[nodiscard]] bool in_one_batch(int first, int last) const {
    const auto begin = ops_.begin() + first;
    return std::all_of(begin, ops_.begin() + last + 1,
                       [&](const Op* op) { return op->code == (*begin)->code && is_shared_transition(m_, *op); });
  }

  // `inner` is made inside `op`, an operator of the block of `held`.
  void nested(ValueId held, ValueId inner, int op) {
    const bool result = places_[held].op == op;
    if (result && ops_[static_cast<size_t>(op)]->code == OpCode::region) return conflict(inner, held);
    if (places_[held].op >= op) return;
    const int end = live_.last_use(held);
    if (end > op || (end == op && used_inside(held, op))) conflict(held, inner);
  }

  // True if the operator may write its result where it reads an operand for the last time.
  [[nodiscard]] bool may_reuse(const Op& op, ValueId held, ValueId result) const {
    switch (op.code) {
      case OpCode::while_loop:
      case OpCode::for_loop:
      case OpCode::if_else:
        return true;  // the result is bound when the blocks have ended
      case OpCode::gather:
      case OpCode::scatter:
        return true;  // owned elements stay where they are
      case OpCode::map:
        return same_elements(held, result);
      case OpCode::contract:
        return may_write_over(op, held) && same_elements(held, result) &&
               stored_box(m_, m_.type(held)) == stored_box(m_, m_.type(result));
      case OpCode::put:
      case OpCode::push:
        return held == op.operands[0] && m_.value(held).buffer == m_.value(result).buffer;
      case OpCode::region:
        // A shared result is written while other elements are still read.
        return Layout(m_, result).is_distributed() && may_write_over(op, held) && same_elements(held, result);
      default:
        return false;
    }
  }

  // Element i of both has one position. This always holds for owned elements, and for ghosts if the sets are the same.
  [[nodiscard]] bool same_elements(ValueId a, ValueId b) const {
    const Type& s = m_.type(a);
    const Type& t = m_.type(b);
    const bool slaves = s.state.slaves.empty() || t.state.slaves.empty() || s.state.slaves == t.state.slaves;
    return slaves && s.element == t.element && s.dims == t.dims && s.cuts == t.cuts && s.list == 0 && t.list == 0;
  }

  void conflict(ValueId held, ValueId written) {
    const BufferId buffer = std::max(m_.value(held).buffer, m_.value(written).buffer);
    faults_.add(
        maker(written),
        fmt::format("{} is written to ~b{}, which holds {}", value_text(m_, written), buffer, value_text(m_, held)),
        fmt::format("{} is still needed", value_text(m_, held)), "give one of them another buffer");
  }

  const Module& m_;
  Faults& faults_;
  Liveness live_;
  std::vector<const Op*> ops_;  // by preorder number
  std::vector<BlockPlace> blocks_;
  IdMap<ValueId, Birth> places_;
  IdMap<ValueId, std::vector<int>> uses_;  // blocks in which a value is used
  IdMap<BufferId, std::vector<ValueId>> holders_;
};

}  // namespace

void verify_buffers(const Module& module, Faults& faults) { BufferCheck(module, faults).run(); }

}  // namespace kasen
