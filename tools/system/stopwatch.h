// Seconds between steps.
#pragma once

#include <chrono>

namespace kasen::tools {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;
  // Returns the seconds since the last call, or since it was made.
  double lap() {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  Clock::time_point last_ = Clock::now();
};

}  // namespace kasen::tools
