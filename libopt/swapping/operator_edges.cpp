#include "libopt/swapping/operator_edges.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "libcore/analysis/shared_batch.h"
#include "libopt/swapping/block_graph.h"

namespace kasen::swapping {

OperatorEdges::OperatorEdges(const Module& module, const Block& block, const std::set<BufferId>& staying)
    : m_(module), block_(block), staying_(staying) {
  for (std::size_t at = 0; at < block.ops.size(); ++at) {
    for (const ValueId v : block.ops[at].results) makers_[v] = at;
  }
  find_groups();
  for (std::size_t at = 0; at < block.ops.size(); ++at) {
    std::set<std::size_t> before;
    for (std::size_t other = group_[at]; other < block.ops.size() && group_[other] == group_[at]; ++other) {
      for (const std::size_t read : reads_of(other)) {
        if (read < at) before.insert(read);
      }
    }
    touch(at, before);
    before_.emplace_back(before.begin(), before.end());
  }
}

// Reductions that travel together are one group, with the scatters that give their results back.
void OperatorEdges::find_groups() {
  const SharedBatches batches(m_);
  for (std::size_t at = 0; at < block_.ops.size(); ++at) {
    const std::span<const Op> batch = batches.holding(block_.ops[at]);
    std::size_t first = batch.empty() ? at : static_cast<std::size_t>(batch.data() - block_.ops.data());
    const bool gives_back = !batch.empty() && batches.is_paired(batch) && batch.front().code == OpCode::scatter;
    if (gives_back && first > 0) --first;
    group_.push_back(first < at ? group_[first] : at);
  }
}

// Those that make what it reads, each with all of its group that stand before it.
std::set<std::size_t> OperatorEdges::reads_of(std::size_t op) const {
  std::set<std::size_t> found;
  for_each_read(block_.ops[op], [&](ValueId v) {
    const auto maker = makers_.find(v);
    if (maker == makers_.end()) return;
    for (std::size_t other = group_[maker->second]; other < op && group_[other] == group_[maker->second]; ++other)
      found.insert(other);
  });
  return found;
}

void OperatorEdges::touch(std::size_t op, std::set<std::size_t>& before) {
  const auto visit = [&](ValueId v) {
    const Value& value = m_.value(v);
    for (std::int64_t k = 0; value.buffer != no_buffer && k < std::max<std::int64_t>(value.type.list, 1); ++k) {
      const BufferId buffer(value.buffer + k);
      if (!staying_.contains(buffer)) continue;
      const auto [latest, fresh] = touched_.emplace(buffer, op);
      if (!fresh && latest->second != op) before.insert(latest->second);
      latest->second = op;
    }
  };
  for_each_read(block_.ops[op], visit);
  for (const ValueId v : block_.ops[op].results) visit(v);
}

std::vector<std::size_t> OperatorEdges::joined(const std::vector<std::size_t>& order) const {
  std::vector<std::size_t> made;
  std::set<std::size_t> stand;
  const auto add = [&](std::size_t op) {
    if (stand.insert(op).second) made.push_back(op);
  };
  for (const std::size_t op : order) {
    for (std::size_t other = group_[op]; other < group_.size() && group_[other] == group_[op]; ++other) add(other);
  }
  for (std::size_t op = 0; op < group_.size(); ++op) add(op);
  return made;
}

}  // namespace kasen::swapping
