// Small services that passes share: walking blocks, counting and replacing uses, tidying the table of values.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// Every block of the module but those of regions, the inner ones of an operator before the block that holds it.
void for_each_block(Module& module, const std::function<void(Block& block)>& visit);

// Uses of every value, by operands (yield and output among them).
[[nodiscard]] std::vector<int> count_uses(const Module& module);

// Calls `visit` for each operand of `op` and of all operators inside it.
void for_each_operand(const Op& op, const std::function<void(ValueId value)>& visit);
void for_each_operand(Op& op, const std::function<void(ValueId& value)>& visit);

// Replaces operands: `with[v]` stands for v, followed to its end; no_value keeps v.
void replace_uses(Block& block, const std::vector<ValueId>& with);

// Renumbers values in the order of their definition and drops those that no operator defines any more.
void compact_values(Module& module);

// The operators once more, with new results and arguments. `now[v]` stands for v in their operands (no_value: v itself)
// and gets the new results.
[[nodiscard]] std::vector<Op> clone_ops(Module& module, std::span<const Op> ops, std::vector<ValueId>& now);

// Where the carried values of a loop begin among its operands and its block's arguments.
struct CarriedAt {
  size_t operand = 0, arg = 0;
};
[[nodiscard]] CarriedAt carried_at(const Op& loop);
// Made from nothing, wherever it is needed: an operator without operands that reads no data.
[[nodiscard]] bool generates(const Op& op);
[[nodiscard]] inline bool is_loop(const Op& op) { return op.code == OpCode::while_loop || op.code == OpCode::for_loop; }

}  // namespace kasen
