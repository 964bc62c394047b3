#include "libcore/run/memory/recorder.h"

#include <algorithm>
#include <utility>

#include "libcore/ir/tiers.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

std::int64_t nanoseconds(DiskWatch::Clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

}  // namespace

TimelineRecorder::TimelineRecorder(const Module& plan, std::size_t most) : most_(std::max<std::size_t>(most, 2)) {
  for_each_op(plan, [&](const Op& op, int, int) {
    shown_.push_back(!moves_tier(op) && op.code != OpCode::yield && op.code != OpCode::literal);
  });
}

TimelineRecorder::Nanoseconds TimelineRecorder::now() { return nanoseconds(Clock::now()); }

void TimelineRecorder::began(RunPhase phase, int number, const Place& place, const OpCount& count) {
  if (next_ != nullptr) next_->began(phase, number, place, count);
  if (phase != RunPhase::step) return;
  if (!open_.empty()) open_.back().held_others = true;
  open_.push_back({now()});
}

void TimelineRecorder::ended(RunPhase phase, int number, const OpCount& count) {
  if (phase == RunPhase::moves) open_.back().begin = now();  // the operator begins behind what it waited for
  if (phase == RunPhase::step) {
    const Open step = open_.back();
    open_.pop_back();
    const Nanoseconds end = now();
    const std::scoped_lock lock(mutex_);
    look_at_memory(end);
    if (!step.held_others && shown_.at(static_cast<std::size_t>(number)))
      add(streams_[0], {step.begin, end, end - step.begin, 1, 0, number});
  }
  if (next_ != nullptr) next_->ended(phase, number, count);
}

int TimelineRecorder::array(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  const auto known = std::find(names_.begin(), names_.end(), name);
  const auto number = static_cast<std::size_t>(known - names_.begin());
  if (known == names_.end()) {
    names_.push_back(name);
    streams_.resize(streams_.size() + 2);
  }
  return static_cast<int>(number);
}

void TimelineRecorder::moved(int array, bool read, Clock::time_point begin, Clock::time_point end, std::int64_t bytes) {
  const Nanoseconds from = nanoseconds(begin), to = nanoseconds(end);
  const std::scoped_lock lock(mutex_);
  look_at_memory(to);
  add(streams_.at(stream_of(array, read)), {from, to, to - from, 1, bytes, -1});
}

// Those that overlap, by whatever clock, are one, too.
bool TimelineRecorder::join(Span& last, const Span& next) const {
  if (next.begin >= last.end && std::max(last.end, next.end) - last.begin > shortest_) return false;
  last.begin = std::min(last.begin, next.begin);
  last.end = std::max(last.end, next.end);
  last.busy = std::min(last.busy + next.busy, last.end - last.begin);
  last.count += next.count;
  last.bytes += next.bytes;
  if (last.number != next.number) last.number = -1;
  return true;
}

void TimelineRecorder::add(Spans& to, const Span& span) {
  if (to.empty() || !join(to.back(), span)) {
    to.push_back(span);
    if (++count_ > most_) join_neighbours();
    return;
  }
  while (to.size() > 1 && to.back().begin < to[to.size() - 2].end) {
    (void)join(to[to.size() - 2], to.back());
    to.pop_back();
    --count_;
  }
}

// To half of them: then this happens seldom. One of each stream always stays.
void TimelineRecorder::join_neighbours() {
  const auto used = static_cast<std::size_t>(
      std::count_if(streams_.begin(), streams_.end(), [](const Spans& spans) { return !spans.empty(); }));
  const std::size_t wanted = std::max(most_ / 2, used);
  while (count_ > wanted) {
    shortest_ = std::max<Nanoseconds>(2 * shortest_, 1000);
    count_ = 0;
    for (Spans& stream : streams_) {
      Spans joined;
      for (const Span& span : stream)
        if (joined.empty() || !join(joined.back(), span)) joined.push_back(span);
      count_ += joined.size();
      stream = std::move(joined);
    }
  }
}

// Of two looks that become one, the larger number stays.
void TimelineRecorder::look_at_memory(Nanoseconds at) {
  if (!held_.empty() && at - held_.back().at < apart_) return;
  if (const auto bytes = resident_memory()) held_.push_back({at, *bytes});
  if (held_.size() <= most_) return;
  for (std::size_t i = 0; 2 * i < held_.size(); ++i) {
    held_[i] = held_[2 * i];
    if (2 * i + 1 < held_.size()) held_[i].bytes = std::max(held_[i].bytes, held_[2 * i + 1].bytes);
  }
  held_.resize((held_.size() + 1) / 2);
  apart_ *= 2;
}

std::optional<DiskWatch::Clock::time_point> TimelineRecorder::zero() const {
  const std::scoped_lock lock(mutex_);
  std::optional<Nanoseconds> first;
  for (const Spans& spans : streams_) {
    if (!spans.empty()) first = first ? std::min(*first, spans.front().begin) : spans.front().begin;
  }
  if (!first) return std::nullopt;
  return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(*first)));
}

RunTimeline TimelineRecorder::timeline() const {
  RunTimeline made;
  const auto first = zero();
  if (!first) return made;
  const Nanoseconds begin = nanoseconds(*first);
  const auto seconds = [](Nanoseconds some) { return static_cast<double>(some) / 1e9; };
  const std::scoped_lock lock(mutex_);
  const auto add_stream = [&](StreamKind kind, const std::string& array, const Spans& spans) {
    if (spans.empty()) return;
    TimeStream& stream = made.streams.emplace_back(TimeStream{kind, array, {}});
    for (const Span& span : spans) {
      stream.spans.push_back({seconds(span.begin - begin), seconds(span.end - begin), seconds(span.busy), span.count,
                              span.bytes, span.number});
      made.seconds = std::max(made.seconds, stream.spans.back().end);
    }
  };
  add_stream(StreamKind::operators, "", streams_[0]);
  for (const bool read : {true, false}) {
    for (std::size_t a = 0; a < names_.size(); ++a)
      add_stream(read ? StreamKind::disk_read : StreamKind::disk_write, names_[a],
                 streams_[stream_of(static_cast<int>(a), read)]);
  }
  for (const Held& held : held_) made.held.push_back({seconds(std::max<Nanoseconds>(held.at - begin, 0)), held.bytes});
  return made;
}

}  // namespace kasen
