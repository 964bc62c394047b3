#include "libcore/analysis/loop_progress.h"

#include <algorithm>

namespace kasen {
namespace {

const Op* maker(const Block& block, ValueId value) {
  const auto makes = [&](const Op& op) {
    return std::find(op.results.begin(), op.results.end(), value) != op.results.end();
  };
  const auto found = std::find_if(block.ops.begin(), block.ops.end(), makes);
  return found == block.ops.end() ? nullptr : &*found;
}

bool is_float_shared(const Module& module, ValueId value) {
  const Type& type = module.type(value);
  return type.dims.empty() && type.list == 0 && type.state.is_cons() && type.element.is_scalar() &&
         is_float(type.element.scalar());
}

// The operator in the body that computes the test of a while loop.
const Op* test_of(const Op& loop) {
  if (loop.test < 0) return nullptr;
  const Block& body = loop.blocks.at(0);
  return maker(body, body.ops.back().operands.at(static_cast<size_t>(loop.test)));
}

}  // namespace

ValueId watched_value(const Module& module, const Op& loop) {
  const Block& body = loop.blocks.at(0);
  if (const Op* test = test_of(loop)) {
    for (const ValueId v : test->operands) {
      if (is_float_shared(module, v) && maker(body, v) != nullptr) return v;
    }
  }
  for (const ValueId v : body.ops.back().operands) {
    if (is_float_shared(module, v)) return v;
  }
  return no_value;
}

ValueId watched_limit(const Module& module, const Op& loop) {
  const ValueId watched = watched_value(module, loop);
  const Op* test = test_of(loop);
  if (watched == no_value || test == nullptr || test->operands.size() != 2) return no_value;
  const auto at = std::find(test->operands.begin(), test->operands.end(), watched);
  if (at == test->operands.end()) return no_value;
  const ValueId other = test->operands[at == test->operands.begin() ? 1 : 0];
  const std::vector<ValueId>& carried = loop.blocks[0].args;
  const bool inside =
      maker(loop.blocks[0], other) != nullptr || std::find(carried.begin(), carried.end(), other) != carried.end();
  return inside ? no_value : other;
}

ValueId before_transitions(const Block& block, ValueId value) {
  const Op* made = maker(block, value);
  while (made != nullptr && row(made->code).group == OpGroup::transition) {
    value = made->operands.at(0);
    made = maker(block, value);
  }
  return value;
}

}  // namespace kasen
