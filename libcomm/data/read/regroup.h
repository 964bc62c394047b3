// Splits entries into groups, and orders those within one; private to readers and partitioner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcomm/data/read/entry_list.h"

namespace kasen {

// Unpacked entries of a chunk, or of all chunks of a group.
struct LooseEntries {
  std::vector<std::int64_t> rows, cols;
  LooseEntries() = default;
  explicit LooseEntries(const EntryChunk& chunk);
  explicit LooseEntries(const EntryList& list) { load(list); }
  void load(const EntryList& list);  // reuses its memory, if it suffices
};

// States the groups of entries. Several threads call it.
class Grouping {
 public:
  virtual ~Grouping() = default;
  // The group of all entries of a chunk, if it is known without unpacking; else -1.
  [[nodiscard]] virtual std::int32_t whole(const EntryChunk& chunk) const = 0;
  // Fills in the group of each entry of a chunk.
  virtual void find(const LooseEntries& entries, std::vector<std::int32_t>& groups) const = 0;
};
// The entries of each group, in the order of the list. Deterministic. The list's chunks are freed on the way, so both
// sides together never hold much more than the entries once. Chunks in a file are read, and the groups' go to another.
[[nodiscard]] std::vector<EntryList> regroup(EntryList&& list, std::int32_t groups, const Grouping& grouping);

// Whether entries are sorted by row, then column.
[[nodiscard]] bool in_order(std::span<const std::int64_t> rows, std::span<const std::int64_t> cols);
// The positions of entries, sorted by row, then column, then position.
[[nodiscard]] std::vector<std::uint32_t> sorted_order(std::span<const std::int64_t> rows,
                                                      std::span<const std::int64_t> cols);

}  // namespace kasen
