#include "tools/run_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libopt/cost.h"
#include "libopt/json_text.h"

namespace kasen::tools {
namespace {

constexpr size_t most_events = 200'000;

std::string quoted(const std::string& text) { return json_text(nlohmann::json(text), -1); }

// Microseconds, the unit of the format.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

// What is said of an operator, made once: its text (empty: not worth an event) and the user's line.
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
      return title.text;
    case RunPhase::turn:
      return fmt::format("turn {} of the {}", event.inner_turn, title.text);
    case RunPhase::start:
      return "start: " + title.text;
    case RunPhase::finish:
      return "finish: " + title.text;
  }
  throw InternalError("a phase outside the table");
}

std::string category(const Title& title, const Trace::Event& event) {
  if (event.phase == RunPhase::turn || title.loop) return "control";
  return title.network ? "network" : "compute";
}

std::string event_text(const Title& title, const Trace::Event& e, int rank) {
  std::string text = fmt::format(
      R"({{"name":{},"cat":"{}","ph":"X","ts":{},"dur":{},"pid":0,"tid":{},"args":{{"operator":{})",
      quoted(name_of(title, e)), category(title, e), microseconds(e.begin), microseconds(e.duration), rank, e.number);
  if (!title.line.empty()) text += fmt::format(",\"line\":{}", quoted(title.line));
  if (e.turn > 0) text += fmt::format(",\"turn\":{}", e.turn);
  if (e.inner_turn > 0) text += fmt::format(",\"inner_turn\":{}", e.inner_turn);
  text += fmt::format(R"(,"read_bytes":{},"written_bytes":{},"network_bytes":{}}}}})", e.read, e.written, e.network);
  return text;
}

// A metadata event: the name of a track and the like.
std::string metadata(const std::string& what, int rank, const std::string& key, const std::string& value) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":0,"tid":{},"args":{{"{}":{}}}}})", what, rank, key, value);
}

// A rank's share: its track's name and its events, one a line.
std::string rank_text(int rank, const Module& module, const Trace& trace, const std::vector<Part>& parts) {
  const int first = parts.front().worker, last = parts.back().worker;
  const std::string workers =
      first == last ? fmt::format("worker {}", first) : fmt::format("workers {}-{}", first, last);
  std::string text = metadata("thread_name", rank, "name", quoted(fmt::format("rank {}: {}", rank, workers))) + ",\n" +
                     metadata("thread_sort_index", rank, "sort_index", std::to_string(rank));
  const std::vector<Title> titles = titles_of(module);
  for (const Trace::Event& event : trace.events()) {
    const Title& title = titles.at(static_cast<size_t>(event.number));
    if (!title.text.empty()) text += ",\n" + event_text(title, event, rank);
  }
  return text;
}

}  // namespace

size_t events_of_rank(int ranks) { return std::max<size_t>(most_events / static_cast<size_t>(ranks), 1000); }

std::int64_t Trace::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - zero_).count();
}

void Trace::began(RunPhase phase, int number, const Place& place, const OpCount& count) {
  if (events_.size() >= most_) {
    ++dropped_;
    open_.push_back(-1);
    return;
  }
  Event event;
  event.number = number;
  event.phase = phase;
  if (!place.turns.empty()) {
    event.turn = place.turns.front() + 1;
    if (place.turns.size() > 1 || phase == RunPhase::turn) event.inner_turn = place.turns.back() + 1;
  }
  event.read = -count.read_bytes;
  event.written = -count.written_bytes;
  event.network = -count.network_bytes;
  open_.push_back(static_cast<std::ptrdiff_t>(events_.size()));
  event.begin = now();
  events_.push_back(event);
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

TraceFile gather_trace(Cluster& cluster, const Module& module, const Trace& trace, const std::vector<Part>& parts) {
  const std::vector<std::string> dropped = cluster.gather(std::to_string(trace.dropped()));
  const std::vector<std::string> ranks = cluster.gather(rank_text(cluster.rank(), module, trace, parts));
  TraceFile file;
  if (ranks.empty()) return file;
  for (const std::string& count : dropped) file.dropped += std::stoll(count);
  file.text = fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"program":{},"dropped_events":{}}},)",
                          quoted(module.name), file.dropped);
  file.text += "\n\"traceEvents\":[\n" + metadata("process_name", 0, "name", quoted("kasen run " + module.name));
  for (const std::string& rank : ranks) file.text += ",\n" + rank;
  file.text += "\n]}\n";
  return file;
}

std::string trace_summary(const std::string& path, const Trace& trace, const TraceFile& file) {
  std::string text = fmt::format("trace: {}", path);
  if (file.dropped > 0) {
    text += fmt::format(", at most the first {} events of each rank (rank 0 up to turn {}); {} more are not in it",
                        trace.events().size(), trace.last_turn(), file.dropped);
  }
  return text + '\n';
}

}  // namespace kasen::tools
