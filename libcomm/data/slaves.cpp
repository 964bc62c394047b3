#include <algorithm>

#include "libcomm/data/parallel.h"
#include "libcomm/data/partition_steps.h"

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

// Marks each index of another owner once and returns them, by owner, then ascending.
std::vector<std::int32_t> foreign_indices(const std::int32_t* indices, std::int64_t count, const DimLayout& dim,
                                          int worker, AxisNumbers& scratch) {
  std::vector<std::int32_t> found;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(indices[k]);
    if (dim.owner[i] == worker || scratch.local[i] >= 0) continue;
    scratch.local[i] = 0;
    found.push_back(indices[k]);
  }
  std::sort(found.begin(), found.end());
  return group_by_owner(found, dim);
}

}  // namespace

AxisSlaves number_axis(std::int32_t* indices, std::int64_t count, const DimLayout& dim, int worker,
                       AxisNumbers& scratch) {
  AxisSlaves axis;
  if (dim.local) return axis;  // every index is here and its own local number
  scratch.local.resize(static_cast<std::size_t>(dim.size), -1);
  const std::vector<std::int32_t> found = foreign_indices(indices, count, dim, worker, scratch);
  auto next = static_cast<std::int32_t>(dim.masters_of(worker));
  axis.slaves.reserve(found.size());
  for (const std::int32_t i : found) {
    scratch.local[static_cast<std::size_t>(i)] = next++;
    const std::int32_t owner = dim.owner[static_cast<std::size_t>(i)];
    const auto place = static_cast<std::int64_t>(axis.slaves.size());
    if (axis.slave_owners.empty() || axis.slave_owners.back().peer != owner)
      axis.slave_owners.push_back({owner, place, place});
    ++axis.slave_owners.back().end;
    axis.slaves.push_back(i);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(indices[k]);
    indices[k] = dim.owner[i] == worker ? dim.place[i] : scratch.local[i];
  }
  for (const std::int32_t i : found) scratch.local[static_cast<std::size_t>(i)] = -1;
  return axis;
}

void link_mirrors(std::vector<Part>& parts, const std::string& matrix, AxisSlaves PartMatrix::*axis,
                  const DimLayout& dim) {
  // Owners are independent; each asks every peer, in order, for the slaves it has of this owner's masters.
  parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t w, int) {
    const auto owner = static_cast<std::int32_t>(w);
    AxisSlaves& mine = parts[static_cast<std::size_t>(w)].matrices.at(matrix).*axis;
    for (const Part& holder : parts) {
      const AxisSlaves& theirs = holder.matrices.at(matrix).*axis;
      const auto range = std::lower_bound(theirs.slave_owners.begin(), theirs.slave_owners.end(), owner,
                                          [](const PeerRange& r, std::int32_t peer) { return r.peer < peer; });
      if (range == theirs.slave_owners.end() || range->peer != owner) continue;
      const auto begin = static_cast<std::int64_t>(mine.mirrors.size());
      for (std::int64_t k = range->begin; k < range->end; ++k) {
        const auto i = static_cast<std::size_t>(theirs.slaves[static_cast<std::size_t>(k)]);
        mine.mirrors.push_back(dim.place[i]);
      }
      mine.mirror_holders.push_back({holder.worker, begin, static_cast<std::int64_t>(mine.mirrors.size())});
    }
    mine.mirrors.shrink_to_fit();
  });
}

}  // namespace kasen
