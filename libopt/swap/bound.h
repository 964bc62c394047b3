// A time that no plan of an iteration beats: in any order, with any allocation and any moves. Where plans cannot come
// near the ideal time, it tells why.
#pragma once

#include <cstdint>

#include "libopt/swap/simulate.h"

namespace kasen::swap {

struct BoundOptions {
  std::int64_t capacity = 0;  // bytes of the faster memory
  Links links;
  bool once = false;  // one iteration alone, as PlanOptions::once
};

// In seconds, at least those of all tasks. Tasks of a long chain, each waiting for the one before it, cut the
// iteration: when one of them begins, what tasks before it made and tasks behind it read lies in one of the two
// memories, and the faster one holds no more than the capacity. So between two of them, tasks take time, and so does
// what has to move.
[[nodiscard]] double least_possible(const TaskGraph& graph, const BoundOptions& options);

}  // namespace kasen::swap
