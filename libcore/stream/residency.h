/// \file
/// What stays in memory of arrays that are on a disk, and how large the window is through which the rest goes by. A
/// function of sizes alone: predictions and runs agree.
///
/// Passes read an array from its first row to its last one, again and again. What Belady would keep for them is as many
/// rows as fit, always the same ones; what was read last is used last. So each array keeps its first rows, and a byte
/// is worth as much as it is read often.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kasen::stream {

struct ArrayOnDisk {
  std::int64_t rows = 0, row_bytes = 0;
  bool whole = false;        ///< some operator needs all of it at once
  std::int64_t staging = 0;  ///< bytes beside the rows, while they go by
  std::int64_t unit = 1;     ///< as many rows stay as are a multiple of it, or all
  int together = -1;         ///< as many as of the others with this number, which are as large; -1: there are none
};

/// An operator that arrays go by.
struct Passage {
  std::vector<int> arrays;   ///< by number
  std::int64_t at_once = 1;  ///< rows that a thread holds
  double times = 1;          ///< how often it runs, about
};

struct Residency {
  std::vector<std::int64_t> kept;  ///< rows, by array
  std::int64_t window = 0;         ///< bytes of rows that go by; 0: none do
  std::int64_t least = 0;          ///< bytes without which nothing runs
  std::int64_t bytes = 0;          ///< in all: kept rows, window and staging
};

/// For `room` bytes, and rows that come `brought` bytes at a time. `kept` is empty if the room is less than `least`.
[[nodiscard]] Residency share_out_memory(std::span<const ArrayOnDisk> arrays, std::span<const Passage> passages,
                                         std::int64_t room, std::int64_t brought);

}  // namespace kasen::stream
