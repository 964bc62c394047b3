#include "libopt/swapping/predicted_timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "libopt/rewrite/rewrite.h"
#include "libopt/swapping/moving_block.h"
#include "libopt/swapping/operator_seconds.h"

namespace kasen::swapping {
namespace {

class Predicting {
 public:
  Predicting(const Module& plan, const std::function<Sizes(const Module&)>& sizes, const MachineProfile& machine,
             const std::function<double(int)>& iterations, std::size_t most)
      : plan_(plan),
        buffers_(plan, sizes),
        seconds_(plan, sizes, machine),
        links_(links_of(machine)),
        iterations_(iterations),
        most_(most),
        uses_(plan.buffers.size()) {
    for_each_op(plan, [&](const Op& op, int number, int) { numbers_.emplace(&op, number); });
  }

  PredictedTimeline run() {
    for (const Op& op : plan_.body.ops) {
      if (is_loop(op)) loops_.emplace(&op, block(op.blocks.at(0)));
    }
    const MovingBlock program = block(plan_.body);
    place(program, 0, [](const Op& op) { return is_loop(op); });
    made_.timeline.seconds = program.seconds();
    made_.timeline.memory = plan_.memory;
    for (auto& [what, spans] : streams_) {
      std::stable_sort(spans.begin(), spans.end(),
                       [](const TimeSpan& a, const TimeSpan& b) { return a.begin < b.begin; });
      made_.timeline.streams.push_back({what.first, what.second, std::move(spans)});
    }
    add_held();
    return std::move(made_);
  }

 private:
  [[nodiscard]] MovingBlock block(const Block& block) const {
    return {plan_, block, buffers_, links_, [this](const Op& op) { return seconds_of(op); }};
  }

  // Of all iterations, where it is a loop.
  [[nodiscard]] double seconds_of(const Op& op) const {
    const int number = numbers_.at(&op);
    const auto outermost = loops_.find(&op);
    if (outermost != loops_.end()) return seconds_.own(number) + outermost->second.seconds() * iterations_(number);
    if (op.code == OpCode::region) return seconds_.all(number);
    double inside = 0;
    for (const Block& block : op.blocks)
      for (const Op& inner : block.ops) inside += seconds_of(inner);
    return seconds_.own(number) + inside * (is_loop(op) ? iterations_(number) : 1);
  }

  void place(const MovingBlock& block, double at, bool (*apart)(const Op&)) {
    for (const MovingBlock::Task& task : block.tasks()) {
      const Op& op = task.ops.front();
      const auto loop = loops_.find(&op);
      if (loop != loops_.end()) {
        place_loop(op, loop->second, at + task.time.begin);
      } else {
        add(StreamKind::operators, "", at, task.time, 0, numbers_.at(&op));
      }
    }
    for (const MovingBlock::Transfer& transfer : block.transfers()) {
      const bool in = transfer.op->code == OpCode::load;
      const ValueId memory = in ? transfer.op->results[0] : transfer.op->operands[0];
      add(in ? StreamKind::disk_read : StreamKind::disk_write, '%' + plan_.value(memory).name, at, transfer.time,
          transfer.bytes, -1);
    }
    block.each_use(apart, [&](BufferId b, const swap::Span& span) {
      uses_[b].push_back({at + span.begin, at + span.end});
    });
  }

  void place_loop(const Op& op, const MovingBlock& body, double at) {
    const int number = numbers_.at(&op);
    const double iterations = iterations_(number);
    made_.loops.push_back({number, body.seconds(), iterations});
    const std::size_t spans = std::max<std::size_t>(1, body.tasks().size() + body.transfers().size());
    const double shown = std::min(iterations, static_cast<double>(std::max<std::size_t>(1, most_ / spans)));
    double i = 0;
    for (; i + 1 <= shown; ++i) place(body, at + i * body.seconds(), [](const Op&) { return false; });
    if (iterations > i) place_rest(body, at + i * body.seconds(), iterations - i);
  }

  // What comes after the iterations that have spans of their own.
  void place_rest(const MovingBlock& body, double at, double iterations) {
    const swap::Span all{0, iterations * body.seconds()};
    std::map<std::pair<StreamKind, std::string>, TimeSpan> rest;
    const auto count = [&](StreamKind kind, const std::string& array, const swap::Span& time, std::int64_t bytes) {
      TimeSpan& span = rest.try_emplace({kind, array}, TimeSpan{at, at + all.end, 0, 0, 0, -1}).first->second;
      span.busy += (time.end - time.begin) * iterations;
      span.count += std::llround(iterations);
      span.bytes += std::llround(static_cast<double>(bytes) * iterations);
    };
    for (const MovingBlock::Task& task : body.tasks()) count(StreamKind::operators, "", task.time, 0);
    for (const MovingBlock::Transfer& transfer : body.transfers()) {
      const bool in = transfer.op->code == OpCode::load;
      const ValueId memory = in ? transfer.op->results[0] : transfer.op->operands[0];
      count(in ? StreamKind::disk_read : StreamKind::disk_write, '%' + plan_.value(memory).name, transfer.time,
            transfer.bytes);
    }
    for (auto& [what, span] : rest) {
      span.busy = std::min(span.busy, span.end - span.begin);
      streams_[what].push_back(span);
    }
    body.each_use([](const Op&) { return false; },
                  [&](BufferId b, const swap::Span&) {
                    uses_[b].push_back({at, at + all.end});
                  });
  }

  void add(StreamKind kind, const std::string& array, double at, const swap::Span& time, std::int64_t bytes,
           int number) {
    streams_[{kind, array}].push_back({at + time.begin, at + time.end, time.end - time.begin, 1, bytes, number});
  }

  // A buffer counts once, whatever is in it.
  void add_held() {
    const double rounding = 1e-9 * made_.timeline.seconds;  // iterations follow each other
    std::map<double, std::int64_t> changes;
    for (const BufferId b : plan_.buffers.ids()) {
      std::vector<swap::Span>& uses = uses_[b];
      std::sort(uses.begin(), uses.end(), [](const swap::Span& x, const swap::Span& y) { return x.begin < y.begin; });
      double end = -1;
      for (const swap::Span& use : uses) {
        if (use.end <= end) continue;
        changes[use.begin - end > rounding ? use.begin : end] += buffers_.bytes(b);
        changes[use.end] -= buffers_.bytes(b);
        end = use.end;
      }
    }
    std::int64_t bytes = 0;
    for (const auto& [seconds, change] : changes) {
      if (change != 0) made_.timeline.held.push_back({seconds, bytes += change});
    }
  }

  const Module& plan_;
  const BufferSizes buffers_;
  const OperatorSeconds seconds_;
  const swap::Links links_;
  const std::function<double(int)>& iterations_;
  const std::size_t most_;
  std::map<const Op*, int> numbers_;
  std::map<const Op*, MovingBlock> loops_;  // outermost ones
  std::map<std::pair<StreamKind, std::string>, std::vector<TimeSpan>> streams_;
  IdMap<BufferId, std::vector<swap::Span>> uses_;
  PredictedTimeline made_;
};

}  // namespace

PredictedTimeline predicted_timeline(const Module& plan, const std::function<Sizes(const Module&)>& sizes,
                                     const MachineProfile& machine, const std::function<double(int)>& iterations,
                                     std::size_t most) {
  return Predicting(plan, sizes, machine, iterations, most).run();
}

}  // namespace kasen::swapping
