/// \file
/// Static allocation of memory: buffers whose lifetimes are known get offsets in one pool, so that no two that live at
/// once overlap, in a pool as small as possible. It knows nothing of arrays or IR: callers give times and sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kasen::packing {

struct Buffer {
  std::string name;        ///< for messages
  std::int64_t lower = 0;  ///< it lives in [lower, upper), in any unit of time; lower < upper
  std::int64_t upper = 0;
  std::int64_t size = 0;       ///< bytes, at least 0
  std::int64_t alignment = 1;  ///< bytes, at least 1; its offset is a multiple
};

struct Options {
  std::int64_t capacity = -1;  ///< bytes; any packing within them will do. -1: the smallest pool
  std::int64_t steps =
      2'000'000;  ///< limit of the search: placements, slow ones counted several times; equal limits, equal packings
};

/// Offsets with their certificate: no pool is smaller than `bound`.
struct Packing {
  std::vector<std::int64_t> offsets;  ///< bytes, by buffer
  std::int64_t size = 0;              ///< bytes of the pool
  std::int64_t bound = 0;             ///< bytes; at least the largest live set, more where a search proved more
  std::int64_t steps = 0;             ///< that the search took
  [[nodiscard]] bool is_certified() const { return size <= bound; }
};

/// The largest sum of the sizes of buffers that live at once, in bytes: a lower bound of every pool. If all alignments
/// have a common divisor, sizes round up to it, but for one buffer, which may be the topmost.
/// UserError(bad_input) for a buffer that cannot be, UserError(limit) where sums overflow.
[[nodiscard]] std::int64_t largest_live_set(const std::vector<Buffer>& buffers);

/// Packs the buffers. The order of the list changes neither size nor bound. A pool above the capacity means that none
/// was found within it, and if the bound is above it, that there is none.
/// UserError(bad_input) for a buffer that cannot be. UserError(limit) where the sizes of a part that no time separates
/// sum up to 2^61 bytes or more, or over 2^24 pairs of buffers live at once.
[[nodiscard]] Packing pack(const std::vector<Buffer>& buffers, const Options& options = {});

/// InternalError where two buffers overlap, or an offset, the size or the bound is wrong. It shares no code with the
/// search.
void require_valid(const std::vector<Buffer>& buffers, const Packing& packing);

}  // namespace kasen::packing
