/// \file
/// Records a run over time, in a number of spans that does not grow with the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libcore/data/disk_elements.h"
#include "libcore/data/run_timeline.h"
#include "libcore/ir/module.h"
#include "libcore/run/executor.h"

namespace kasen {

/// As RunOptions::observer and RunOptions::disk_watch of one run. An operator's span begins behind its wait for stores
/// and loads; these themselves are transfers. The memory is that of the process.
class TimelineRecorder : public RunObserver, public DiskWatch {
 public:
  /// Keeps `most` spans and as many numbers of bytes. Where there are more, neighbours become one, the shortest first.
  explicit TimelineRecorder(const Module& plan, std::size_t most = 1000);
  void forward_to(RunObserver* observer) { next_ = observer; }  ///< notified as well; may be null

  void began(RunPhase phase, int number, const Place& place, const OpCount& count) override;
  void ended(RunPhase phase, int number, const OpCount& count) override;
  [[nodiscard]] int array(const std::string& name) override;
  void moved(int array, bool read, Clock::time_point begin, Clock::time_point end, std::int64_t bytes) override;

  /// When its first span began; nothing if there is none.
  [[nodiscard]] std::optional<Clock::time_point> zero() const;
  [[nodiscard]] RunTimeline timeline() const;

 private:
  using Nanoseconds = std::int64_t;  // of the clock
  struct Span {
    Nanoseconds begin = 0, end = 0, busy = 0;
    std::int64_t count = 1, bytes = 0;
    int number = -1;
  };
  struct Held {
    Nanoseconds at = 0;
    std::int64_t bytes = 0;
  };
  struct Open {
    Nanoseconds begin = 0;
    bool held_others = false;  // steps inside
  };
  using Spans = std::vector<Span>;
  [[nodiscard]] static Nanoseconds now();
  void add(Spans& to, const Span& span);
  [[nodiscard]] bool join(Span& last, const Span& next) const;
  void join_neighbours();
  void look_at_memory(Nanoseconds at);
  // The operators' spans are the first stream, those of reading and of writing array a at 1 + 2 a and 2 + 2 a.
  [[nodiscard]] static std::size_t stream_of(int array, bool read) {
    return 2 * static_cast<std::size_t>(array) + (read ? 1 : 2);
  }

  std::vector<bool> shown_;  // by operator: it computes or exchanges
  std::size_t most_, count_ = 0;
  RunObserver* next_ = nullptr;
  std::vector<Open> open_;
  mutable std::mutex mutex_;  // of what follows
  std::vector<std::string> names_;
  std::vector<Spans> streams_{1};
  Nanoseconds shortest_ = 0;  // neighbours that take no longer together are one
  std::vector<Held> held_;
  Nanoseconds apart_ = 1'000'000;  // of looks at the memory
};

}  // namespace kasen
