// Small services that passes share: walking blocks, counting and replacing uses, and tidying the table of values.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

class ValueNames;

// Visits every block of the module except those of regions, the inner ones of an operator before the block that holds
// it.
void for_each_block(Module& module, const std::function<void(Block& block)>& visit);

// Counts the uses of one value by `op` and all operators inside it.
[[nodiscard]] int count_uses(const Op& op, ValueId value);
// Counts the uses of every value as an operand (those of yield and output too).
[[nodiscard]] std::vector<int> count_uses(const Module& module);

// Calls `visit` for each operand of `op` and of all operators inside it.
void for_each_operand(const Op& op, const std::function<void(ValueId value)>& visit);
void for_each_operand(Op& op, const std::function<void(ValueId& value)>& visit);

// Replaces operands: `with[v]` replaces v, followed to its end; no_value keeps v.
void replace_uses(Block& block, const std::vector<ValueId>& with);

// Renumbers values in the order of their definition and drops those that no operator defines any more.
void compact_values(Module& module);

// Copies the operators with new results and arguments. `now[v]` replaces v in their operands (no_value: v itself) and
// gets the new results.
[[nodiscard]] std::vector<Op> clone_ops(Module& module, std::span<const Op> ops, std::vector<ValueId>& now);
[[nodiscard]] std::vector<Op> clone_ops(ValueNames& names, std::span<const Op> ops, std::vector<ValueId>& now);

// The positions where a loop's carried values begin among its operands and its block's arguments.
struct CarriedAt {
  size_t operand = 0, arg = 0;
};
[[nodiscard]] CarriedAt carried_at(const Op& loop);
// Returns true for an operator without operands that reads no data: its result is made from nothing, wherever it is
// needed.
[[nodiscard]] bool generates(const Op& op);
[[nodiscard]] inline bool is_loop(const Op& op) { return op.code == OpCode::while_loop || op.code == OpCode::for_loop; }

}  // namespace kasen
