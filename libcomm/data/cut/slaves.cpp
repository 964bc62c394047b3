#include <algorithm>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/cut/partition_steps.h"

namespace kasen {
namespace {

// A stable counting sort.
std::vector<std::int32_t> group_by_owner(const std::vector<std::int32_t>& indices, const DimLayout& dim) {
  std::vector<std::int64_t> next(dim.masters.size() + 1);
  for (const std::int32_t i : indices) ++next[static_cast<std::size_t>(dim.owner[static_cast<std::size_t>(i)]) + 1];
  for (std::size_t w = 1; w < next.size(); ++w) next[w] += next[w - 1];
  std::vector<std::int32_t> grouped(indices.size());
  for (const std::int32_t i : indices) {
    std::int64_t& to = next[static_cast<std::size_t>(dim.owner[static_cast<std::size_t>(i)])];
    grouped[static_cast<std::size_t>(to++)] = i;
  }
  return grouped;
}

}  // namespace

void AxisNumbers::show(const std::vector<std::int64_t>& indices, const DimLayout& dim, int worker) {
  if (dim.all_here(worker)) return;
  local_.resize(static_cast<std::size_t>(dim.size), -1);
  for (const std::int64_t index : indices) {
    const auto i = static_cast<std::size_t>(index);
    if (dim.owner[i] == worker || local_[i] >= 0) continue;
    local_[i] = 0;
    found_.push_back(static_cast<std::int32_t>(index));
  }
}

AxisSlaves AxisNumbers::list(const DimLayout& dim, int worker) {
  AxisSlaves axis;
  if (dim.all_here(worker)) return axis;
  if (std::cmp_less(found_.size(), dim.size / 32)) {
    std::sort(found_.begin(), found_.end());
  } else {  // so many that a scan of all indices is faster
    found_.clear();
    for (std::size_t i = 0; i < local_.size(); ++i)
      if (local_[i] >= 0) found_.push_back(static_cast<std::int32_t>(i));
  }
  auto next = static_cast<std::int32_t>(dim.masters_of(worker));
  axis.slaves.reserve(found_.size());
  for (const std::int32_t i : group_by_owner(found_, dim)) {
    local_[static_cast<std::size_t>(i)] = next++;
    const std::int32_t owner = dim.owner[static_cast<std::size_t>(i)];
    const auto place = static_cast<std::int64_t>(axis.slaves.size());
    if (axis.slave_owners.empty() || axis.slave_owners.back().peer != owner)
      axis.slave_owners.push_back({owner, place, place});
    ++axis.slave_owners.back().end;
    axis.slaves.push_back(i);
  }
  found_.clear();
  return axis;
}

void AxisNumbers::number(std::vector<std::int64_t>& indices, const DimLayout& dim, int worker) const {
  if (dim.all_here(worker)) return;
  for (std::int64_t& index : indices) {
    const auto i = static_cast<std::size_t>(index);
    index = dim.owner[i] == worker ? dim.place[i] : local_[i];
  }
}

void AxisNumbers::recall(const AxisSlaves& axis, const DimLayout& dim, int worker) {
  if (dim.all_here(worker)) return;
  local_.resize(static_cast<std::size_t>(dim.size), -1);
  auto next = static_cast<std::int32_t>(dim.masters_of(worker));
  for (const std::int64_t i : axis.slaves) local_[static_cast<std::size_t>(i)] = next++;
}

void AxisNumbers::forget(const AxisSlaves& axis) {
  for (const std::int64_t i : axis.slaves) local_[static_cast<std::size_t>(i)] = -1;
}

void link_mirrors(std::vector<Part>& parts, const std::string& matrix, AxisSlaves PartMatrix::*axis,
                  const DimLayout& dim) {
  struct Held {
    std::int32_t holder;
    PeerRange slaves;  // the range in the holder's list that belongs to this owner
  };
  std::vector<std::vector<Held>> held(parts.size());  // by owner; holders ascend
  for (const Part& holder : parts) {
    for (const PeerRange& range : (holder.matrices.at(matrix).*axis).slave_owners)
      held[static_cast<std::size_t>(range.peer)].push_back({holder.worker, range});
  }
  parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t w, int) {  // owners are independent
    AxisSlaves& mine = parts[static_cast<std::size_t>(w)].matrices.at(matrix).*axis;
    for (const Held& h : held[static_cast<std::size_t>(w)]) {
      const AxisSlaves& theirs = parts[static_cast<std::size_t>(h.holder)].matrices.at(matrix).*axis;
      const auto begin = static_cast<std::int64_t>(mine.mirrors.size());
      for (std::int64_t k = h.slaves.begin; k < h.slaves.end; ++k) {
        const auto i = static_cast<std::size_t>(theirs.slaves[static_cast<std::size_t>(k)]);
        mine.mirrors.push_back(dim.place[i]);
      }
      mine.mirror_holders.push_back({h.holder, begin, static_cast<std::int64_t>(mine.mirrors.size())});
    }
    mine.mirrors.shrink_to_fit();
  });
}

}  // namespace kasen
