// Requests to stop, as signals bring them. One request often comes as several signals. `timeout` signals a process and
// then its whole group, a scheduler signals every process of a job, and each process forwards its signals.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>

namespace kasen::tools {

// A scheduler announces with these that a job's time is over.
inline constexpr std::array stop_signals{SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};

// An ignored signal (as under nohup) stays ignored.
void handle_unless_ignored(int number, void (*handler)(int));

// Signals within a second of the first are the same request. Signal handlers may call all members.
class StopRequest {
 public:
  enum class Signal { first, same, again };
  // Which request a signal that has just come is. The system sends XCPU again each second.
  Signal note(int number);
  [[nodiscard]] bool came() const { return first_.load() != never; }
  void forget() { first_.store(never); }

 private:
  static constexpr std::int64_t never = -1;
  std::atomic<std::int64_t> first_{never};  // nanoseconds of the monotonic clock
};

}  // namespace kasen::tools
