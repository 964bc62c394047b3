#include "libopt/rewrite/read_stored.h"

#include <iterator>
#include <utility>
#include <vector>

#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class ReadStored {
 public:
  explicit ReadStored(Module& module) : m_(module) {}

  void run() {
    for_each_block(m_, [&](Block& block) {
      for (size_t i = 0; i < block.ops.size(); ++i) {
        const OpCode code = block.ops[i].code;
        if ((code == OpCode::push || code == OpCode::put) && !m_.type(block.ops[i].results[0]).dims.empty()) {
          follow(block, i);
        }
      }
    });
  }

 private:
  void follow(Block& block, size_t at) {
    const Op store = block.ops[at];
    const ValueId stored = store.operands.back();
    const ValueId list = store.results[0];
    std::vector<Op*> readers;
    for (size_t i = at + 1; i < block.ops.size(); ++i) {
      Op& op = block.ops[i];
      if (op.code != OpCode::yield && count_uses(op, stored) > 0) readers.push_back(&op);
    }
    if (readers.empty() || m_.type(stored).state != m_.type(list).state) return;
    std::vector<Op> view;
    const ValueId index = store.code == OpCode::put ? store.operands[1] : last_index(list, store, view);
    Op get;
    get.code = OpCode::get;
    get.where = store.where;
    get.operands = {list, index};
    get.results = {m_.add_value(m_.value(stored).name + "_stored", m_.type(stored))};
    for (Op* reader : readers) {
      for_each_operand(*reader, [&](ValueId& v) { v = v == stored ? get.results[0] : v; });
    }
    view.push_back(std::move(get));
    block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::make_move_iterator(view.begin()),
                     std::make_move_iterator(view.end()));
  }

  ValueId last_index(ValueId list, const Op& store, std::vector<Op>& ops) {
    Op op;
    op.code = OpCode::literal;
    op.where = store.where;
    op.literal = {Word::integer(m_.type(list).list - 1)};
    Type type;
    type.element = ElementType::of(Scalar::i64);
    type.state = State::cons();
    op.results = {m_.add_value("last", std::move(type))};
    ops.push_back(op);
    return op.results[0];
  }

  Module& m_;
};

}  // namespace

void read_stored(Module& module) { ReadStored(module).run(); }

}  // namespace kasen
