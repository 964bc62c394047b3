#include "tools/run/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "libcore/ir/tiers.h"
#include "libcore/json/text.h"
#include "libcore/system/memory_limit.h"
#include "libopt/cost/cost.h"
#include "tools/run/arrows.h"

namespace kasen::tools {
namespace {

constexpr size_t most_events = 200'000;

std::string quoted(const std::string& text) { return json_text(nlohmann::json(text), -1); }

// The text of an operator, made once (empty: not worth an event), and the user's line.
struct Title {
  std::string text, line;
  bool loop = false, network = false;
};

std::string source_line(const Module& module, const Location& where) {
  if (where.line < 1) return "";
  const std::string& file = where.file.empty() ? module.source_name : where.file;
  std::string text = fmt::format("{}:{}", file, where.line);
  const auto line = static_cast<size_t>(where.line);
  if (line > module.source.size()) return text;
  const std::string& source = module.source[line - 1];
  const size_t first = source.find_first_not_of(" \t");
  return first == std::string::npos ? text : text + ": " + source.substr(first);
}

std::vector<Title> titles_of(const Module& module) {
  std::vector<Title> titles;
  for (const CostRow& made : measure(module).rows) {
    Title title;
    title.line = source_line(module, made.where);
    if (made.code != OpCode::yield) title.text = made.text;
    title.loop = made.code == OpCode::while_loop || made.code == OpCode::for_loop;
    title.network = row(made.code).group == OpGroup::transition;
    if (row(made.code).group == OpGroup::control && made.code != OpCode::region && made.where.line > 0) {
      title.text = fmt::format("{} at line {}", row(made.code).name, made.where.line);
    }
    titles.push_back(std::move(title));
  }
  return titles;
}

std::string name_of(const Title& title, const Trace::Event& event) {
  switch (event.phase) {
    case RunPhase::step:
      return title.text + (event.rows == LineRows::all ? "" : fmt::format(", {} rows", rows_name(event.rows)));
    case RunPhase::iteration:
      return fmt::format("iteration {} of the {}", event.inner_iteration, title.text);
    case RunPhase::start:
      return "start: " + title.text;
    case RunPhase::finish:
      return "finish: " + title.text;
    case RunPhase::moves:
      return "waits for stores and loads: " + title.text;
  }
  throw InternalError("a phase outside the table");
}

std::string category(const Title& title, const Trace::Event& event) {
  if (event.phase == RunPhase::iteration || title.loop) return "control";
  if (event.phase == RunPhase::moves) return "disk";
  return title.network ? "network" : "compute";
}

// The beginning of every event; a rank is a process.
std::string begin_event(const std::string& name, char phase, int rank, std::int64_t at) {
  return fmt::format(R"({{"name":{},"ph":"{}","pid":{},"tid":{},"ts":{})", quoted(name), phase, rank,
                     trace_steps_thread, microseconds(at));
}

std::string event_text(const Title& title, const Trace::Event& e, int rank) {
  std::string text = begin_event(name_of(title, e), 'X', rank, e.begin);
  text += fmt::format(R"(,"cat":"{}","dur":{},"args":{{"operator":{})", category(title, e), microseconds(e.duration),
                      e.number);
  if (!title.line.empty()) text += fmt::format(",\"line\":{}", quoted(title.line));
  if (e.iteration > 0) text += fmt::format(",\"turn\":{}", e.iteration);
  if (e.inner_iteration > 0) text += fmt::format(",\"inner_turn\":{}", e.inner_iteration);
  text += fmt::format(R"(,"read_bytes":{},"written_bytes":{},"network_bytes":{}}}}})", e.read, e.written, e.network);
  return text;
}

// A metadata event: the name of a track and the like.
std::string metadata(const std::string& what, int rank, const std::string& key, const std::string& value) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"{}":{}}}}})", what, rank, trace_steps_thread,
                     key, value);
}

std::string counter(const std::string& name, int rank, std::int64_t at, const std::string& key, double value) {
  return ",\n" + begin_event(name, 'C', rank, at) + fmt::format(R"(,"args":{{"{}":{:.6g}}}}})", key, value);
}

// The bytes touched and sent a second in each iteration of an outermost loop, and the memory that the process holds.
std::string counters(int rank, const Trace& trace) {
  const std::vector<Trace::Event>& events = trace.events();
  std::string text;
  std::int64_t end = -1;
  const auto rates = [&](std::int64_t at, double touched, double sent) {
    text += counter("memory traffic", rank, at, "GB/s", touched) + counter("network", rank, at, "GB/s", sent);
  };
  for (size_t i = 0; i < events.size(); ++i) {
    const Trace::Event& iteration = events[i];
    if (!iteration.outermost || iteration.duration <= 0) continue;
    std::int64_t touched = 0, sent = 0;
    for (size_t j = i; j < events.size() && events[j].begin < iteration.begin + iteration.duration; ++j) {
      touched += events[j].read + events[j].written;
      sent += events[j].network;
    }
    const auto nanoseconds = static_cast<double>(iteration.duration);
    rates(iteration.begin, static_cast<double>(touched) / nanoseconds, static_cast<double>(sent) / nanoseconds);
    end = iteration.begin + iteration.duration;
  }
  if (end >= 0) rates(end, 0, 0);
  for (const Trace::Held& held : trace.held()) {
    text += counter("memory held", rank, held.at, "MB", static_cast<double>(held.bytes) / 1e6);
  }
  return text;
}

// From the end of an exchange's start to the beginning of its finish: while its messages are under way.
std::string messages(int rank, const std::vector<Title>& titles, const Trace& trace) {
  std::map<int, const Trace::Event*> started;
  std::string text;
  std::int64_t exchange = 0;
  const auto end = [&](char phase, std::int64_t at, const std::string& name) {
    text +=
        ",\n" + begin_event(name, phase, rank, at) + fmt::format(R"(,"cat":"messages","id":"{}.{}"}})", rank, exchange);
  };
  for (const Trace::Event& event : trace.events()) {
    if (event.phase == RunPhase::start) started[event.number] = &event;
    if (event.phase != RunPhase::finish || !started.contains(event.number)) continue;
    const Trace::Event& start = *started.at(event.number);
    started.erase(event.number);
    const std::string name = "under way: " + titles.at(static_cast<size_t>(event.number)).text;
    end('b', start.begin + start.duration, name);
    end('e', std::max(event.begin, start.begin + start.duration), name);
    ++exchange;
  }
  return text;
}

// A track for each array that is read from a disk, and for each that is written.
std::string disk_tracks(int rank, const RunTimeline& streams, std::int64_t zero) {
  std::string text;
  int thread = trace_steps_thread;
  const auto at = [&](double seconds) { return microseconds(zero + std::llround(seconds * 1e9)); };
  for (const TimeStream& stream : streams.streams) {
    if (stream.kind == StreamKind::operators) continue;
    const std::string name =
        fmt::format("disk {}: {}", stream.kind == StreamKind::disk_read ? "read" : "write", stream.array);
    text += fmt::format(
        ",\n"
        R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
        rank, ++thread, quoted(name));
    for (const TimeSpan& span : stream.spans) {
      text += fmt::format(
          ",\n"
          R"({{"name":{},"ph":"X","pid":{},"tid":{},"ts":{},"cat":"disk","dur":{},"args":)"
          R"({{"transfers":{},"bytes":{}}}}})",
          quoted(stream.array), rank, thread, at(span.begin), microseconds(std::llround((span.end - span.begin) * 1e9)),
          span.count, span.bytes);
    }
  }
  return text;
}

// A rank's share: its tracks' names and its events, one a line.
std::string rank_text(int rank, const Module& module, const Trace& trace, const std::vector<Part>& parts,
                      bool exchanges, const TimelineRecorder* recorder) {
  const int first = parts.front().worker, last = parts.back().worker;
  const std::string workers =
      first == last ? fmt::format("worker {}", first) : fmt::format("workers {}-{}", first, last);
  std::string text =
      metadata("process_name", rank, "name", quoted(fmt::format("{} rank {}: {}", module.name, rank, workers))) +
      ",\n" + metadata("process_sort_index", rank, "sort_index", std::to_string(rank)) + ",\n" +
      metadata("thread_name", rank, "name", quoted("steps"));
  const std::vector<Title> titles = titles_of(module);
  for (const Trace::Event& event : trace.events()) {
    const Title& title = titles.at(static_cast<size_t>(event.number));
    if (!title.text.empty()) text += ",\n" + event_text(title, event, rank);
  }
  if (exchanges) text += messages(rank, titles, trace);
  const auto zero = recorder == nullptr ? std::nullopt : recorder->zero();
  if (zero) text += disk_tracks(rank, recorder->timeline(), trace.since_zero(*zero));
  return text + counters(rank, trace);
}

}  // namespace

size_t events_of_rank(int ranks) { return std::max<size_t>(most_events / static_cast<size_t>(ranks), 1000); }

std::chrono::steady_clock::time_point time_zero(Cluster& cluster) {
  using Clock = std::chrono::steady_clock;
  std::string boot;  // of the system that this process is on
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const auto mine = static_cast<std::int64_t>(std::hash<std::string>{}(boot));
  const bool one_node = cluster.largest(mine) == ~cluster.largest(~mine);
  const std::int64_t latest = cluster.largest(Clock::now().time_since_epoch().count());
  return one_node && !boot.empty() ? Clock::time_point(Clock::duration(latest)) : Clock::now();
}

std::int64_t Trace::since_zero(std::chrono::steady_clock::time_point at) const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at - zero_).count();
}

std::int64_t Trace::now() const { return since_zero(std::chrono::steady_clock::now()); }

void Trace::began(RunPhase phase, int number, const Place& place, const OpCount& count) {
  if (events_.size() >= most_) {
    ++dropped_;
    open_.push_back(-1);
    return;
  }
  Event event;
  event.number = number;
  event.phase = phase;
  event.rows = place.rows;
  if (!place.iterations.empty()) {
    event.iteration = place.iterations.front() + 1;
    if (place.iterations.size() > 1 || phase == RunPhase::iteration)
      event.inner_iteration = place.iterations.back() + 1;
  }
  event.read = -count.read_bytes;
  event.written = -count.written_bytes;
  event.network = -count.network_bytes;
  event.outermost = phase == RunPhase::iteration && place.iterations.size() == 1;
  open_.push_back(static_cast<std::ptrdiff_t>(events_.size()));
  event.begin = now();
  if (event.outermost) look_at_memory(event.begin);
  events_.push_back(event);
}

void Trace::point(Arrow arrow) {
  if (open_.empty() || open_.back() < 0 || arrows_.size() >= most_) return;
  arrow.at = now();
  arrows_.push_back(arrow);
}

void Trace::look_at_memory(std::int64_t at) {
  constexpr std::int64_t apart = 1'000'000;
  if (!held_.empty() && at - held_.back().at < apart) return;
  if (const auto bytes = resident_memory()) held_.push_back({at, *bytes});
}

void Trace::close() {
  for (const std::ptrdiff_t place : open_) {
    if (place < 0) continue;
    Event& event = events_[static_cast<size_t>(place)];
    event.duration = now() - event.begin;
    event.read = event.written = event.network = 0;  // its bytes are not known
  }
  open_.clear();
}

void Trace::ended(RunPhase /*phase*/, int /*number*/, const OpCount& count) {
  const std::ptrdiff_t place = open_.back();
  open_.pop_back();
  if (place < 0) return;
  Event& event = events_[static_cast<size_t>(place)];
  event.duration = now() - event.begin;
  event.read += count.read_bytes;
  event.written += count.written_bytes;
  event.network += count.network_bytes;
  if (open_.empty() || open_.back() < 0) return;
  Event& around = events_[static_cast<size_t>(open_.back())];
  if (around.number != event.number) return;
  around.read -= event.read;
  around.written -= event.written;
  around.network -= event.network;
}

std::unique_ptr<TimelineRecorder> record_disks(const Module& module, RunOptions& options, std::int64_t memory) {
  if (memory <= 0 && !uses_disk(module)) return nullptr;
  auto recorder = std::make_unique<TimelineRecorder>(module);
  recorder->forward_to(options.observer);
  options.observer = recorder.get();
  options.disk_watch = recorder.get();
  return recorder;
}

std::optional<RunTimeline> disk_timeline(const TimelineRecorder* recorder, std::int64_t memory) {
  if (recorder == nullptr) return std::nullopt;
  RunTimeline made = recorder->timeline();
  made.memory = memory;
  const bool used = std::any_of(made.streams.begin(), made.streams.end(),
                                [](const TimeStream& stream) { return stream.kind != StreamKind::operators; });
  return used ? std::optional(std::move(made)) : std::nullopt;
}

TraceFile gather_trace(Cluster& cluster, const Module& module, const Trace& trace, const std::vector<Part>& parts,
                       const TimelineRecorder* recorder) {
  const std::vector<std::string> dropped = cluster.gather(std::to_string(trace.dropped()));
  const std::vector<std::string> ranks =
      cluster.gather(rank_text(cluster.rank(), module, trace, parts, cluster.ranks() > 1, recorder));
  const std::vector<std::string> arrows = cluster.gather(arrow_bytes(trace.arrows()));
  TraceFile file;
  if (ranks.empty()) return file;
  for (const std::string& count : dropped) file.dropped += std::stoll(count);
  file.text = fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"program":{},"dropped_events":{}}},)",
                          quoted(module.name), file.dropped);
  file.text += "\n\"traceEvents\":[\n";
  for (size_t rank = 0; rank < ranks.size(); ++rank) file.text += (rank == 0 ? "" : ",\n") + ranks[rank];
  file.text += arrows_text(arrows) + "\n]}\n";
  return file;
}

std::string trace_summary(const std::string& path, const Trace& trace, const TraceFile& file) {
  std::string text = fmt::format("trace: {}", path);
  if (file.dropped > 0) {
    text += fmt::format(", at most the first {} events of each rank (rank 0 up to iteration {}); {} more are not in it",
                        trace.events().size(), trace.last_iteration(), file.dropped);
  }
  return text + '\n';
}

}  // namespace kasen::tools
