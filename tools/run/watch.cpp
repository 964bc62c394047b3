#include "tools/run/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <new>

#include "libcore/system/temporaries.h"
#include "tools/launch/launch.h"
#include "tools/run/summary.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

using WatchClock = std::chrono::steady_clock;

volatile std::sig_atomic_t status_of_the_job = 0;

// MPI_Abort comes from a thread that MPI does not know. If it hangs, this ends the rank, and with it the job.
void end_anyway(int /*number*/) { _exit(status_of_the_job); }

constexpr unsigned seconds_to_abort = 5;

// The system's state of a process of this machine, where that explains why it does nothing.
std::string state_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(file, text)) return "; its process is gone";
  const size_t name_end = text.rfind(") ");
  const char state = name_end == std::string::npos || name_end + 2 >= text.size() ? '?' : text[name_end + 2];
  if (state == 'T' || state == 't') return "; its process is stopped";
  if (state == 'Z' || state == 'X') return "; its process is gone";
  return state == 'D' ? "; its process waits for a disk or the like" : "";
}

}  // namespace

// Written by its rank, and read by the others of the node at any time, so it is no consistent snapshot.
struct RunWatch::Record {
  std::atomic<std::int64_t> beats = 0;  // changes with any progress
  std::atomic<std::int32_t> phase = 0, number = -1, inside = 0;
  std::atomic<std::int32_t> process = 0;
  std::atomic<std::int64_t> step = 0, outer = 0, inner = 0;  // iterations from 1; 0: no loop
  std::atomic<std::int32_t> reported = 0;                    // of the node's first rank: somebody ends the job
  WaitRecord wait;
};

RunWatch::RunWatch(double seconds, Cluster& cluster, const JobOutput& output)
    : seconds_(seconds), cluster_(cluster), output_(output), board_(cluster.board(sizeof(Record))) {
  static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);
  auto* const mine = new (board_.places[board_.own]) Record;
  mine->process = getpid();
  cluster_.record_waits(&record(board_.own).wait);
  cluster_.together([] {});  // every record is there
  thread_ = std::thread([this] { look(); });
}

RunWatch::~RunWatch() {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
  cluster_.record_waits(nullptr);
}

RunWatch::Record& RunWatch::record(size_t place) const {
  return *std::launder(reinterpret_cast<Record*>(board_.places[place]));
}

void RunWatch::enter(JobPhase phase) {
  Record& mine = record(board_.own);
  mine.phase = static_cast<std::int32_t>(phase);
  ++mine.beats;
}

void RunWatch::know(const Module& module) {
  for_each_op(module, [&](const Op& op, int, int) {
    const std::string name =
        op.code == OpCode::region ? std::string(region_name(op.kind)) : std::string(row(op.code).name);
    const std::string source = source_of(module, op);
    names_.push_back(source.empty() ? name : fmt::format("{} at {}", name, source));
  });
  steps_ = &names_;
}

void RunWatch::saved(const std::string& checkpoint) {
  const std::scoped_lock lock(mutex_);
  checkpoint_ = checkpoint;
}

void RunWatch::began(RunPhase phase, int number, const Place& place, const OpCount& count) {
  Record& mine = record(board_.own);
  outer_step_ = mine.number;
  mine.phase = static_cast<std::int32_t>(JobPhase::running);
  mine.number = number;
  mine.inside = static_cast<std::int32_t>(phase);
  mine.step = place.step;
  mine.outer = place.iterations.empty() ? 0 : place.iterations.front() + 1;
  mine.inner = place.iterations.size() < 2 ? 0 : place.iterations.back() + 1;
  ++mine.beats;
  if (next_ != nullptr) next_->began(phase, number, place, count);
}

void RunWatch::ended(RunPhase phase, int number, const OpCount& count) {
  Record& mine = record(board_.own);
  if (phase != RunPhase::step && phase != RunPhase::iteration) {  // the step around it goes on
    mine.number = outer_step_;
    mine.inside = static_cast<std::int32_t>(RunPhase::step);
  }
  ++mine.beats;
  if (next_ != nullptr) next_->ended(phase, number, count);
}

std::int64_t RunWatch::beats() const {
  std::int64_t sum = 0;
  for (size_t place = 0; place < board_.places.size(); ++place) sum += record(place).beats;
  return sum;
}

void RunWatch::look() {
  const auto limit = std::chrono::duration<double>(seconds_);
  const auto period = std::chrono::duration<double>(std::clamp(seconds_ / 8, 0.001, 0.25));
  std::chrono::duration<double> quiet{0};
  std::int64_t seen = -1;
  WatchClock::time_point last = WatchClock::now();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return done_; })) {
    const WatchClock::time_point now = WatchClock::now();
    quiet += std::min(std::chrono::duration<double>(now - last), 2 * period);
    last = now;
    if (const std::int64_t at = beats(); at != seen) {
      seen = at;
      quiet = quiet.zero();
    } else if (quiet >= limit) {
      lock.unlock();
      expire();
    }
  }
}

void RunWatch::expire() {
  std::string checkpoint;
  {
    const std::scoped_lock lock(mutex_);
    checkpoint = checkpoint_;
  }
  const ExitStatus status = checkpoint.empty() ? ExitStatus::limit : ExitStatus::resumable;
  if (record(0).reported.exchange(1) == 0) {
    const std::string remedy =
        checkpoint.empty()
            ? "look at the rank that the others wait for, or allow more time where one step takes longer"
            : fmt::format("all is saved in {}; the same command with --resume goes on from there", checkpoint);
    tell(
        fmt::format("error: the run does not go on; nothing began or ended for {} s (--timeout); {}", seconds_, remedy),
        checkpoint.empty() ? error_mark : stopped_mark);
    for (size_t place = 0; place < board_.places.size(); ++place) tell(line_of(place), error_mark);
    const bool alone = board_.ranks.size() == static_cast<size_t>(cluster_.ranks());
    std::this_thread::sleep_for(std::chrono::milliseconds(alone ? 50 : 1000));  // ranks of other nodes report, too
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(2));  // this rank is ended meanwhile
  }
  status_of_the_job = static_cast<int>(status);
  std::signal(SIGALRM, end_anyway);
  alarm(seconds_to_abort);
  remove_temporaries();
  cluster_.abort(status);
  std::abort();  // the compiler does not see that a virtual function never returns
}

std::string RunWatch::line_of(size_t place) const {
  const Record& at = record(place);
  const std::string text = fmt::format("rank {}: {}{}", board_.ranks[place], step_of(at), state_of(at.process));
  const std::int64_t number = at.wait.number;
  switch (at.wait.kind) {
    case WaitRecord::collective:
      return text + fmt::format("; waits for all ranks (collective {})", number);
    case WaitRecord::message:
      return text + fmt::format("; waits for rank {} (exchange {})", at.wait.rank.load(), number);
    default:
      return text + (cluster_.ranks() > 1 ? "; waits for no rank" : "");
  }
}

std::string RunWatch::step_of(const Record& record) const {
  switch (static_cast<JobPhase>(record.phase.load())) {
    case JobPhase::reading:
      return "reads the plan and its parts";
    case JobPhase::preparing:
      return "prepares the run: kernels, matrices, buffers";
    case JobPhase::saving:
      return record.outer > 0 ? fmt::format("iteration {} is over, and the ranks see whether to save a checkpoint",
                                            record.outer.load())
                              : "an operator is over, and the ranks see whether to save a checkpoint";
    case JobPhase::verifying:
      return "computes the results again (--verify)";
    case JobPhase::writing:
      return "writes the results";
    case JobPhase::running:
      break;
  }
  const std::vector<std::string>* steps = steps_;
  const auto number = static_cast<size_t>(record.number.load());
  std::string text = steps != nullptr && number < steps->size() ? (*steps)[number] : "a step of the plan";
  const auto inside = static_cast<RunPhase>(record.inside.load());
  if (inside == RunPhase::start) text = "start of the " + text;
  if (inside == RunPhase::finish) text = "finish of the " + text;
  if (inside == RunPhase::moves) text = "stores and loads before " + text;
  text = fmt::format("step {}, {}", record.step.load(), text);
  if (record.outer > 0) text += fmt::format(", iteration {}", record.outer.load());
  if (record.inner > 0) text += fmt::format(", inner iteration {}", record.inner.load());
  return text;
}

void RunWatch::tell(const std::string& text, char mark) const {
  write_message(fmt::format("{}kasen-run: {}\n", output_.launched ? std::string(1, mark) : "", printable(text)));
}

}  // namespace kasen::tools
