// The times of each step of a run on each rank, as Chrome trace events (chrome://tracing, Perfetto).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/run/executor.h"
#include "libcore/run/memory/recorder.h"
#include "tools/run/cluster.h"

namespace kasen::tools {

// The number of events that a rank keeps. All ranks keep 200,000 (some 50 MB of text), so that a trace can be opened.
[[nodiscard]] size_t events_of_rank(int ranks);

// The time when all ranks are ready. On one node it is the same instant for all, by the node's clock. The clocks of
// several nodes have nothing in common but that the ranks leave a reduction together. All ranks call it.
[[nodiscard]] std::chrono::steady_clock::time_point time_zero(Cluster& cluster);

// Keeps the first `most` events, and only counts later ones.
class Trace : public RunObserver {
 public:
  struct Event {
    std::int64_t begin = 0, duration = 0;  // nanoseconds
    // Bytes of this operator, without those of the events inside: the sum over all events is what the run counts.
    std::int64_t read = 0, written = 0, network = 0;
    std::int64_t iteration = 0, inner_iteration = 0;  // of the outermost and the innermost open loop, from 1; 0: none
    int number = 0;                                   // of the operator, in preorder
    bool outermost = false;                           // an iteration with no loop around its own
    RunPhase phase = RunPhase::step;
    LineRows rows = LineRows::all;  // of a product: those that it computed
  };

  // One end of an arrow: a message to another rank leaves, or one from there has come.
  struct Arrow {
    std::int64_t step = 0, at = 0;  // of the exchange, the same on all ranks; nanoseconds
    std::int64_t peer = 0, bytes = 0;
    std::int64_t sent = 0;  // 1: from here
  };

  Trace(size_t most, std::chrono::steady_clock::time_point zero) : zero_(zero), most_(most) {}
  void began(RunPhase phase, int number, const Place& place, const OpCount& count) override;
  void ended(RunPhase phase, int number, const OpCount& count) override;

  // The end of an arrow in the middle of an event; not kept where the event is not. `at` is filled in.
  void point(Arrow arrow);

  // Ends all open events, of a run that stops in the middle.
  void close();

  // The memory that the process held at a time.
  struct Held {
    std::int64_t at = 0, bytes = 0;
  };
  [[nodiscard]] std::int64_t since_zero(std::chrono::steady_clock::time_point at) const;  // nanoseconds
  [[nodiscard]] const std::vector<Held>& held() const { return held_; }
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<Arrow>& arrows() const { return arrows_; }
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }
  [[nodiscard]] std::int64_t last_iteration() const { return events_.empty() ? 0 : events_.back().iteration; }

 private:
  [[nodiscard]] std::int64_t now() const;
  void look_at_memory(std::int64_t at);

  std::chrono::steady_clock::time_point zero_;
  size_t most_;
  std::vector<Event> events_;
  std::vector<Arrow> arrows_;
  std::vector<Held> held_;            // when iterations of outermost loops begin, at least a millisecond apart
  std::vector<std::ptrdiff_t> open_;  // positions of open events; -1: not kept
  std::int64_t dropped_ = 0;
};

struct TraceFile {
  std::string text;
  std::int64_t dropped = 0;  // events of all ranks that are not in it
};

// The whole file, on rank 0; an empty one elsewhere. All ranks call it; `parts` are those of this rank. `recorder` has
// the streams of its disks; may be null.
[[nodiscard]] TraceFile gather_trace(Cluster& cluster, const Module& module, const Trace& trace,
                                     const std::vector<Part>& parts, const TimelineRecorder* recorder);
// Records the streams of a run that may use disks: it has a limit of memory, or its plan stores arrays. Its observer is
// notified by the recorder from then on. Null for other runs.
[[nodiscard]] std::unique_ptr<TimelineRecorder> record_disks(const Module& module, RunOptions& options,
                                                             std::int64_t memory);
// What it recorded, if a disk was used.
[[nodiscard]] std::optional<RunTimeline> disk_timeline(const TimelineRecorder* recorder, std::int64_t memory);

// The summary's text on the trace; `trace` is rank 0's.
[[nodiscard]] std::string trace_summary(const std::string& path, const Trace& trace, const TraceFile& file);

}  // namespace kasen::tools
