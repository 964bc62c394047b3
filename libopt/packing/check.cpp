// Shares nothing with the searches that it checks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libopt/packing/packing.h"

namespace kasen::packing {
namespace {

void require_place(const Buffer& buffer, std::int64_t offset, std::int64_t size) {
  if (offset < 0 || offset % buffer.alignment != 0)
    throw InternalError(fmt::format("buffer '{}' has the offset {}", buffer.name, offset));
  if (checked_add(offset, buffer.size) > size)
    throw InternalError(fmt::format("buffer '{}' ends outside of the pool", buffer.name));
}

void require_apart(const std::vector<Buffer>& buffers, const Packing& packing) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return buffers[a].lower < buffers[b].lower; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Buffer& one = buffers[order[i]];
    const std::int64_t from = packing.offsets[order[i]];
    for (std::size_t j = i + 1; j < order.size() && buffers[order[j]].lower < one.upper; ++j) {
      const Buffer& other = buffers[order[j]];
      const std::int64_t start = packing.offsets[order[j]];
      if (one.size == 0 || other.size == 0) continue;
      if (from < start + other.size && start < from + one.size)
        throw InternalError(fmt::format("buffers '{}' and '{}' overlap", one.name, other.name));
    }
  }
}

std::int64_t most_alive(const std::vector<Buffer>& buffers) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // ends before beginnings
  for (const Buffer& buffer : buffers) {
    changes.emplace_back(buffer.lower, buffer.size);
    changes.emplace_back(buffer.upper, -buffer.size);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t alive = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, alive += change);
  return most;
}

}  // namespace

void require_valid(const std::vector<Buffer>& buffers, const Packing& packing) {
  if (packing.offsets.size() != buffers.size()) throw InternalError("a packing of other buffers");
  std::int64_t top = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    require_place(buffers[i], packing.offsets[i], packing.size);
    top = std::max(top, packing.offsets[i] + buffers[i].size);
  }
  require_apart(buffers, packing);
  if (top != packing.size) throw InternalError(fmt::format("a pool of {} bytes ends at {}", packing.size, top));
  if (packing.bound < most_alive(buffers) || packing.bound > packing.size)
    throw InternalError(fmt::format("a pool of {} bytes has the bound {}", packing.size, packing.bound));
}

}  // namespace kasen::packing
