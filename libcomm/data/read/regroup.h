// Entries into groups, and the order of entries within one; private to readers and partitioner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcomm/data/read/entry_list.h"

namespace kasen {

// Unpacked entries, as a chunk or all chunks of a group have them.
struct LooseEntries {
  std::vector<std::int64_t> rows, cols;
  LooseEntries() = default;
  explicit LooseEntries(const EntryChunk& chunk);
  explicit LooseEntries(const EntryList& list) { load(list); }
  void load(const EntryList& list);  // in the room that is there, if it suffices
};

// Says to which group entries belong. Called by several threads.
class Grouping {
 public:
  virtual ~Grouping() = default;
  // The group of all entries of a chunk, where that is told without unpacking it; else -1.
  [[nodiscard]] virtual std::int32_t whole(const EntryChunk& chunk) const = 0;
  // Fills in the group of each entry of a chunk.
  virtual void find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const = 0;
};
// The entries of each group, in the order of the list. Deterministic; the list's chunks are freed on the way, so that
// both sides together never hold much more than the entries once.
[[nodiscard]] std::vector<EntryList> regroup(EntryList&& list, std::int32_t groups, const Grouping& grouping);

// Do entries stand by row, then column?
[[nodiscard]] bool in_order(std::span<const std::int64_t> rows, std::span<const std::int64_t> cols);
// The places of entries by row, then column, then place.
[[nodiscard]] std::vector<std::uint32_t> sorted_order(std::span<const std::int64_t> rows,
                                                      std::span<const std::int64_t> cols);

}  // namespace kasen
