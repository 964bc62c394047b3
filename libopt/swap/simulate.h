// The time of a swap plan: one stream computes, one moves tensors in, and one moves them out, side by side (Huang,
// thesis, sections 4.3 and 5.1). Each stream does one thing at a time, the first planned of those that can begin.
#pragma once

#include <cstdint>
#include <vector>

#include "libopt/swap/plan.h"

namespace kasen::swap {

// In bytes a second. If both ways are busy, they share `both`, in proportion to their own speeds.
struct Links {
  double in = 12e9, out = 12e9, both = 20e9;  // the thesis's machine
};

struct Span {
  double begin = 0, end = 0;
};

struct Timeline {
  double seconds = 0;              // of the iteration: until the last task and the last move have ended
  std::vector<Span> tasks, moves;  // by position; as SwapPlan::moves
  double computing = 0;            // seconds in which a task ran
};

[[nodiscard]] Timeline simulate(const TaskGraph& graph, const SwapPlan& plan, const Links& links);

// The bytes that lie in the faster memory at times, ascending: each holds until the next.
struct Held {
  double seconds = 0;
  std::int64_t bytes = 0;
};
[[nodiscard]] std::vector<Held> held(const TaskGraph& graph, const SwapPlan& plan, const Timeline& timeline);

}  // namespace kasen::swap
