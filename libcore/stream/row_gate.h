/// \file
/// Rows that are in memory only while they are needed. A kernel that gets a gate passes it with each piece of its rows,
/// so that arrays which are larger than memory go by.
#pragma once

#include <cstdint>

namespace kasen {

/// Threads take pieces in ascending order: the lowest piece that is not left is the next to enter, or entered. So a
/// gate which brings rows in order needs room for one piece.
class RowGate {
 public:
  virtual ~RowGate() = default;
  /// Returns when the rows [begin, end) are in memory. Throws what kept them out.
  virtual void enter(std::int64_t begin, std::int64_t end) = 0;
  /// No thread reads or writes the rows any more. Each row is entered and left once.
  virtual void leave(std::int64_t begin, std::int64_t end) = 0;
};

}  // namespace kasen
