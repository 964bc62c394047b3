/// \file
/// What a run does in limited memory, known before it runs: the bytes that go to disks and back, and what is held.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "libcore/data/run_result.h"

namespace kasen {

/// The bytes that an operator reads from disks and writes to them, over all parts: when it runs for the first time, and
/// each time after that.
struct DiskUse {
  std::int64_t first_read = 0, read = 0, written = 0;
  std::int64_t kept = 0;   ///< bytes of the first rows, which are in memory each time after the first
  std::int64_t ahead = 0;  ///< bytes that come while it works on these
};
/// An array that does not stay in memory as a whole, on one part.
struct ArrayOnDiskUse {
  std::string name;   ///< of the input; of an array that the run makes, of a value in it
  bool made = false;  ///< by the run
  int worker = 0;
  std::int64_t bytes = 0, kept = 0;  ///< in all, and of the rows that stay
};
struct MemoryPlan {
  std::vector<DiskUse> ops;      ///< by preorder number
  std::vector<PartCount> parts;  ///< as RunResult::parts
  std::vector<ArrayOnDiskUse> arrays;
  std::set<std::string> matrices;  ///< whose nonzeros are on a disk: kernels make no form of their own of them
  std::int64_t least = 0;          ///< bytes of a process's memory without which it does not run, for all parts
};

}  // namespace kasen
