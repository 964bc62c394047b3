// The time of a swap plan: one stream computes, one moves tensors in, and one moves them out, side by side (Huang,
// thesis, sections 4.3 and 5.1). Each stream does one thing at a time, the first planned of those that can begin.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
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

// Follows plans one after another. It keeps the memory that this takes.
class Simulator {
 public:
  Simulator(const TaskGraph& graph, const Links& links);
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Infinite: it takes longer than the limit. Then it may be followed only in part.
  [[nodiscard]] double seconds(const SwapPlan& plan, double limit = std::numeric_limits<double>::infinity());
  [[nodiscard]] const Timeline& timeline() const;  // of the last plan

 private:
  class Ready;
  class Lists;
  class Run;
  std::unique_ptr<Run> run_;
};

[[nodiscard]] Timeline simulate(const TaskGraph& graph, const SwapPlan& plan, const Links& links);

// The bytes that lie in the faster memory at times, ascending: each holds until the next.
struct Held {
  double seconds = 0;
  std::int64_t bytes = 0;
};
[[nodiscard]] std::vector<Held> held(const TaskGraph& graph, const SwapPlan& plan, const Timeline& timeline);

}  // namespace kasen::swap
