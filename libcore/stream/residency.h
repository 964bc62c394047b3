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
  std::int64_t forming = 0;  ///< of `staging`, what the array takes to be made, though nothing goes by
};

/// An operator that arrays go by.
struct Passage {
  std::vector<int> arrays;   ///< by number
  std::int64_t at_once = 1;  ///< rows that a thread holds
  double times = 1;          ///< how often it runs, about
};

/// Bytes that the arrays of a part take. Rows go by on one part of a process after another, so what they take meanwhile
/// is needed once.
struct Needs {
  std::int64_t whole = 0;    ///< arrays that operators need whole
  std::int64_t all = 0;      ///< all arrays
  std::int64_t window = 0;   ///< the least of rows that go by at once
  std::int64_t staging = 0;  ///< beside these rows
  std::int64_t forming = 0;  ///< beside arrays that all are in memory before the run begins
};
[[nodiscard]] Needs needs_of(std::span<const ArrayOnDisk> arrays, std::span<const Passage> passages,
                             std::int64_t brought);

/// What the parts of a process have.
struct Shares {
  std::vector<std::int64_t> stay;  ///< for rows that stay, by part; empty: there is too little
  std::int64_t aside = 0;          ///< for windows and staging, on one part at a time
  bool whole = false;              ///< all arrays are in memory before the run begins
  std::int64_t least = 0;          ///< bytes without which nothing runs
};
/// Where all fits, nothing goes by. Else parts have equal shares, and what one leaves goes to the next.
[[nodiscard]] Shares share_among_parts(std::span<const Needs> parts, std::int64_t room, std::int64_t brought);

struct Residency {
  std::vector<std::int64_t> kept;  ///< rows, by array
  std::int64_t window = 0;         ///< bytes of rows that go by; 0: none do
  std::int64_t bytes = 0;          ///< of the rows that are kept
};

/// Of a part that has `stay` bytes for rows that stay, and `aside` for those that go by, which come `brought` bytes at
/// a time.
[[nodiscard]] Residency keep_rows(std::span<const ArrayOnDisk> arrays, const Needs& needs,
                                  std::span<const Passage> passages, std::int64_t stay, std::int64_t aside,
                                  std::int64_t brought);

}  // namespace kasen::stream
