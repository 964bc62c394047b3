#include "tools/system/stop_request.h"

#include <ctime>

namespace kasen::tools {

static_assert(std::atomic<std::int64_t>::is_always_lock_free);

void handle_unless_ignored(int number, void (*handler)(int)) {
  if (std::signal(number, handler) == SIG_IGN) std::signal(number, SIG_IGN);
}

StopRequest::Signal StopRequest::note(int number) {
  constexpr std::int64_t second = 1'000'000'000;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * second + time.tv_nsec;
  std::int64_t first = never;
  if (first_.compare_exchange_strong(first, now)) return Signal::first;
  return now - first < second || number == SIGXCPU ? Signal::same : Signal::again;
}

}  // namespace kasen::tools
