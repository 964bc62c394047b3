// A trial on a step's own data: which of two ways of the same bits is faster shows in its calls, and depends on them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "libcore/kernels/choices.h"

namespace kasen {

// The first call, which finds nothing in the caches, is not timed. The next ones take both ways in turn; all later
// calls take the faster one. The first way stays where the second is not clearly faster.
class CallTrial {
 public:
  // The way of the next call.
  [[nodiscard]] Way next() const {
    if (calls_ > timed) return chosen(least_);
    return calls_ > 0 && calls_ % 2 == 0 ? Way::second : Way::first;
  }
  // That call took so long, for each unit of its work.
  void took(double seconds) {
    double& least = next() == Way::first ? least_.first : least_.second;
    if (calls_ > 0 && calls_ <= timed) least = least == 0 ? seconds : std::min(least, seconds);
    if (calls_ <= timed) ++calls_;
  }
  // Both times, when all are there; else zeros.
  [[nodiscard]] WayTimes times() const { return calls_ > timed ? least_ : WayTimes(); }

 private:
  static constexpr std::int64_t timed = 6;
  std::int64_t calls_ = 0;
  WayTimes least_;
};

}  // namespace kasen
