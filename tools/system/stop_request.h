// Requests to stop, as signals bring them. One request often comes as several: `timeout` signals a process and then its
// whole group, a scheduler every process of a job, and each of them hands on what it gets.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace kasen::tools {

// By these a scheduler announces that a job's time is over.
inline constexpr std::array stop_signals{SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};

// One that is ignored (under nohup, say) stays so.
void handle_unless_ignored(int number, void (*handler)(int));

// Signals that come within a second of the first are that same request. All members may be called by signal handlers.
class StopRequest {
 public:
  enum class Signal { first, same, again };
  // Which one a signal is that has just come. The system says XCPU again each second.
  Signal note(int number);
  [[nodiscard]] bool came() const { return first_.load() != never; }
  void forget() { first_.store(never); }

 private:
  static constexpr std::int64_t never = -1;
  std::atomic<std::int64_t> first_{never};  // nanoseconds of the monotonic clock
};

}  // namespace kasen::tools
