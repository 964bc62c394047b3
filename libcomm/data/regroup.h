// Entries into groups, and the order of entries within one; private to readers and partitioner.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libcomm/data/entry_list.h"

namespace kasen {

// Unpacked entries, as a chunk or all chunks of a group have them.
struct LooseEntries {
  std::vector<std::int64_t> rows, cols;
  explicit LooseEntries(const EntryChunk& chunk);
  explicit LooseEntries(const EntryList& list) : rows(list.rows()), cols(list.cols()) {}
};

// Fills in the group of each entry of a chunk. Called by several threads.
using GroupsOf = std::function<void(const LooseEntries& entries, std::vector<std::int32_t>& groups)>;
// The entries of each group, in the order of the list. Deterministic; the list's chunks are freed on the way, so that
// both sides together never hold much more than the entries once.
[[nodiscard]] std::vector<EntryList> regroup(EntryList&& list, std::int32_t groups, const GroupsOf& groups_of);

// The places of entries by row, then column, then place.
[[nodiscard]] std::vector<std::uint32_t> sorted_order(std::span<const std::int64_t> rows,
                                                      std::span<const std::int64_t> cols);

}  // namespace kasen
