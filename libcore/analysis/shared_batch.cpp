#include "libcore/analysis/shared_batch.h"

#include <algorithm>

#include "libcore/ir/layout.h"

namespace kasen {

bool is_shared_transition(const Module& module, const Op& op) {
  return row(op.code).group == OpGroup::transition && Layout(module, op.operands.at(0)).is_shared();
}

std::span<const Op> shared_batch(const Module& module, std::span<const Op> ops) {
  size_t count = 0;
  const auto read_before = [&](ValueId v) {
    return std::any_of(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const Op& earlier) { return earlier.results.at(0) == v; });
  };
  while (count < ops.size() && ops[count].code == ops[0].code && is_shared_transition(module, ops[count]) &&
         !read_before(ops[count].operands[0])) {
    ++count;
  }
  return ops.first(count);
}

std::span<const Op> SharedBatches::led_by(const Op& op) const {
  const auto it = batches_.find(&op);
  return it == batches_.end() ? std::span<const Op>() : it->second;
}

void SharedBatches::find(const Module& module, const Block& block) {
  const std::span<const Op> ops(block.ops);
  for (size_t i = 0; i < ops.size();) {
    for (const Block& inner : ops[i].blocks) find(module, inner);
    const std::span<const Op> batch = shared_batch(module, ops.subspan(i));
    if (!batch.empty()) batches_.emplace(batch.data(), batch);
    i += std::max<size_t>(batch.size(), 1);
  }
}

}  // namespace kasen
