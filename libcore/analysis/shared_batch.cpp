#include "libcore/analysis/shared_batch.h"

#include <algorithm>
#include <utility>

#include "libcore/ir/layout.h"

namespace kasen {

bool is_shared_transition(const Module& module, const Op& op) {
  if (op.code != OpCode::gather && op.code != OpCode::scatter) return false;
  if (!Layout(module, op.operands.at(0)).is_shared()) return false;
  const ValueId everywhere = op.code == OpCode::gather ? op.operands[0] : op.results.at(0);
  return module.type(everywhere).state.slaves.empty();
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

bool travels_in_slices(bool paired, std::int64_t bytes, int workers) {
  return paired && workers > 1 && bytes / workers >= least_slice_bytes;
}

Slice slice_of(std::int64_t count, int worker, int workers) {
  const std::int64_t each = count / workers, longer = count % workers;  // the first ones have one more
  const auto begin = [&](std::int64_t w) { return each * w + std::min(w, longer); };
  return {begin(worker), begin(worker + 1)};
}

SharedBatches::SharedBatches(const Module& module) {
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::gather && is_shared_transition(module, op)) reads_.emplace(op.results.at(0), 0);
  });
  for_each_op(module, [&](const Op& op, int, int) {
    for (const ValueId v : op.operands) {
      if (const auto it = reads_.find(v); it != reads_.end()) ++it->second;
    }
  });
  find(module, module.body);
}

std::span<const Op> SharedBatches::holding(const Op& op) const {
  const auto it = batches_.find(&op);
  return it == batches_.end() ? std::span<const Op>() : it->second;
}

std::span<const Op> SharedBatches::led_by(const Op& op) const {
  const std::span<const Op> batch = holding(op);
  return batch.data() == &op ? batch : std::span<const Op>();
}

// The batch that begins with the first of `ops`, as the schedule says it if there is one.
std::span<const Op> SharedBatches::batch_at(const Module& module, const Block& block, size_t i) {
  const std::span<const Op> longest = shared_batch(module, std::span(block.ops).subspan(i));
  if (longest.empty() || block.schedule.empty()) return longest;
  const auto starts = [&](const ScheduleLine& line) {
    return line.kind == LineKind::start && std::cmp_equal(line.op, i);
  };
  const auto line = std::find_if(block.schedule.begin(), block.schedule.end(), starts);
  return line == block.schedule.end() ? longest : longest.first(static_cast<size_t>(line->count));
}

void SharedBatches::find(const Module& module, const Block& block) {
  const std::span<const Op> ops(block.ops);
  for (size_t i = 0; i < ops.size();) {
    for (const Block& inner : ops[i].blocks) find(module, inner);
    const std::span<const Op> batch = batch_at(module, block, i);
    for (const Op& op : batch) batches_.emplace(&op, batch);
    const size_t next = i + std::max<size_t>(batch.size(), 1);
    if (!batch.empty() && next < ops.size() && are_pair(batch, batch_at(module, block, next)))
      paired_.insert({batch.data(), &ops[next]});
    i = next;
  }
}

bool SharedBatches::are_pair(std::span<const Op> gathers, std::span<const Op> scatters) const {
  if (gathers.empty() || gathers[0].code != OpCode::gather || gathers.size() != scatters.size()) return false;
  return std::all_of(gathers.begin(), gathers.end(), [&](const Op& gather) {
    const ValueId gathered = gather.results.at(0);
    const auto scattered = [&](const Op& op) { return op.code == OpCode::scatter && op.operands[0] == gathered; };
    return reads_.at(gathered) == 1 && std::any_of(scatters.begin(), scatters.end(), scattered);
  });
}

}  // namespace kasen
