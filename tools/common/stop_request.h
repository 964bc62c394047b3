// Requests to stop, as signals bring them. One request often comes as several: `timeout` signals a process and then its
// whole group, a scheduler every process of a job, and each of them hands on what it gets.
#pragma once

#include <atomic>
#include <cstdint>

namespace kasen::tools {

// Signals that come within a second of the first are that same request. All members may be called by signal handlers.
class StopRequest {
 public:
  enum class Signal { first, same, again };
  // Which one a signal is that has just come.
  Signal note();
  [[nodiscard]] bool came() const { return first_.load() != never; }
  void forget() { first_.store(never); }

 private:
  static constexpr std::int64_t never = -1;
  std::atomic<std::int64_t> first_{never};  // nanoseconds of the monotonic clock
};

}  // namespace kasen::tools
