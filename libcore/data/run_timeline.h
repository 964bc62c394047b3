/// \file
/// A run over time: when its operators ran, when disks were read and written, and the memory held.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kasen {

/// Some time in which a stream was busy: one operator or transfer, or several that stand for one.
struct TimeSpan {
  double begin = 0, end = 0;  ///< seconds since the first of all spans began
  double busy = 0;            ///< seconds of it in which something ran; at most end - begin
  std::int64_t count = 1;     ///< operators or transfers
  std::int64_t bytes = 0;     ///< of the disk
  int number = -1;            ///< of the operator, in preorder; -1: several, or a transfer
};

enum class StreamKind : std::uint8_t { operators, disk_read, disk_write };

/// What happens one after another: spans are in order and do not overlap.
struct TimeStream {
  StreamKind kind = StreamKind::operators;
  std::string array;  ///< that is read or written
  std::vector<TimeSpan> spans;
};

/// Bytes held from a time on.
struct HeldAt {
  double seconds = 0;
  std::int64_t bytes = 0;
};

struct RunTimeline {
  double seconds = 0;               ///< until the last span has ended
  std::vector<TimeStream> streams;  ///< the operators, then arrays that are read, then those that are written
  std::vector<HeldAt> held;         ///< in order of time
  std::int64_t memory = 0;          ///< bytes that may be held; 0: no limit
};

}  // namespace kasen
