#include "libcore/ir/tiers.h"

#include <cstddef>

namespace kasen {
namespace {

void walk(const Block& block, IdMap<ValueId, bool>& on_disk) {
  for (const Op& op : block.ops) {
    if (op.code == OpCode::store) on_disk[op.results.at(0)] = true;
    const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
    const std::size_t bounds = op.code == OpCode::for_loop ? 2 : 0, index = bounds > 0 ? 1 : 0;
    for (std::size_t i = 0; loop && i < op.results.size(); ++i) {
      const bool here = on_disk[op.operands.at(bounds + i)];
      on_disk[op.blocks.at(0).args.at(index + i)] = here;
      on_disk[op.results[i]] = here;
    }
    for (const Block& inner : op.blocks) walk(inner, on_disk);
    if (op.code != OpCode::if_else) continue;
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      on_disk[op.results[i]] = on_disk[op.blocks.at(0).ops.back().operands.at(i)];
    }
  }
}

}  // namespace

bool uses_disk(const Module& module) {
  bool found = false;
  for_each_op(module, [&](const Op& op, int, int) { found = found || op.code == OpCode::store; });
  return found;
}

IdMap<ValueId, bool> values_on_disk(const Module& module) {
  IdMap<ValueId, bool> on_disk;
  on_disk.assign(module.values.size(), false);
  walk(module.body, on_disk);
  return on_disk;
}

}  // namespace kasen
