#include "libcore/blocks/block_room.h"

#include <algorithm>

#include "libcore/base/checked.h"

namespace kasen {

constexpr std::int64_t line = 64;
constexpr const char* room_bytes = "a region's memory";

std::int64_t BlockRoom::rounded(std::int64_t bytes) { return checked_add(bytes, line - 1, room_bytes) / line * line; }

BlockRoom::BlockRoom(std::span<const Stay> stays, int rounds) : at_(stays.size(), 0) {
  std::vector<std::vector<std::size_t>> come(static_cast<std::size_t>(rounds)), go(static_cast<std::size_t>(rounds));
  for (std::size_t i = 0; i < stays.size(); ++i) {
    come.at(static_cast<std::size_t>(stays[i].first)).push_back(i);
    go.at(static_cast<std::size_t>(stays[i].last)).push_back(i);
  }
  for (std::size_t round = 0; round < come.size(); ++round) {
    for (const std::size_t i : come[round]) at_[i] = take(rounded(stays[i].bytes));
    for (const std::size_t i : go[round]) give({at_[i], rounded(stays[i].bytes)});
  }
}

std::int64_t BlockRoom::take(std::int64_t bytes) {
  const auto gap = std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& free) { return free.bytes >= bytes; });
  if (gap != gaps_.end()) {
    const std::int64_t at = gap->at;
    gap->at += bytes;
    gap->bytes -= bytes;
    if (gap->bytes == 0) gaps_.erase(gap);
    return at;
  }
  std::int64_t at = bytes_;  // a gap at the end grows
  if (!gaps_.empty() && gaps_.back().at + gaps_.back().bytes == bytes_) {
    at = gaps_.back().at;
    gaps_.pop_back();
  }
  bytes_ = checked_add(at, bytes, room_bytes);
  return at;
}

void BlockRoom::give(Gap gap) {
  if (gap.bytes == 0) return;
  auto next = std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& free) { return free.at > gap.at; });
  if (next != gaps_.end() && gap.at + gap.bytes == next->at) {
    gap.bytes += next->bytes;
    next = gaps_.erase(next);
  }
  if (next != gaps_.begin()) {
    Gap& before = *std::prev(next);
    if (before.at + before.bytes == gap.at) {
      before.bytes += gap.bytes;
      return;
    }
  }
  gaps_.insert(next, gap);
}

}  // namespace kasen
