#include "libopt/report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libcore/json/report.h"
#include "libcore/schedule/schedule.h"
#include "libopt/cost/footprint.h"
#include "libopt/report/streams.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/block_rounds.h"
#include "libopt/time/overlap.h"
#include "libopt/time/time_case.h"
#include "libopt/time/timeline_json.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

Module with_schedule(Module module) {
  if (module.level < 4) write_schedule(module);
  return module;
}

// Walks the schedule with a clock for the processor and the end of the exchange under way.
class Simulation {
 public:
  Simulation(const Module& plan, const Sizes& sizes, const MachineProfile& machine, const RunReport* run)
      : plan_(plan),
        sizes_(sizes),
        run_(run),
        context_(plan, &sizes),
        model_(plan, context_.report()),
        in_(run != nullptr ? case_of_run(context_, sizes, *run, machine) : each_worker_a_process(context_, machine)),
        forms_(product_forms(plan)) {
    for (const PartCount& part : predict_parts(plan, sizes)) held_.push_back(part.held());
    for_each_op(plan, [&](const Op& op, int number, int) { numbers_.emplace(&op, number); });
    for_each_line(plan, [&](const Block&, const ScheduleLine& line) {
      line_numbers_.emplace(&line, static_cast<int>(line_numbers_.size()));
    });
  }

  Timeline run() {
    made_.held_bytes = most_held();
    made_.seconds = block(plan_.body, 0, 0, 0);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::int64_t most_held() const {
    return held_.empty() ? 0 : *std::max_element(held_.begin(), held_.end());
  }

  // Returns the time of one execution that begins at `begin`; `copies`: the time of what it hands on by copies.
  double block(const Block& block, double begin, int depth, double copies) {
    double now = begin, under_way = 0;  // the end of the exchange
    for (const ScheduleLine& line : block.schedule) {
      const size_t at = made_.lines.size();
      made_.lines.push_back(described(block, line, depth));
      made_.lines[at].begin = now;
      double end = now;
      if (line.kind == LineKind::run) end += run_line(block.ops[static_cast<size_t>(line.op)], line, at, depth);
      if (line.kind == LineKind::start) under_way = now + exchange(block, line);
      if (line.kind == LineKind::wait) end = std::max(now, under_way);
      if (line.kind == LineKind::copy) end += copies;
      if (line.kind == LineKind::free) free(line.form);
      made_.lines[at].seconds = end - now;
      made_.lines[at].held_bytes = most_held();
      now = end;
    }
    return now - begin;
  }

  TimelineLine described(const Block& block, const ScheduleLine& line, int depth) const {
    TimelineLine made;
    made.depth = depth;
    made.line = line_numbers_.at(&line);
    made.text = print_line(plan_, block, line);
    if (line.op >= 0) made.where = block.ops[static_cast<size_t>(line.op)].where;
    if (run_ != nullptr && run_->lines.size() == line_numbers_.size()) {
      const LineTime& counted = run_->lines[static_cast<size_t>(made.line)];
      if (counted.executions > 0) made.measured = counted.seconds / static_cast<double>(counted.executions);
    }
    return made;
  }

  [[nodiscard]] double seconds(const std::optional<PredictedTime>& time) const {
    if (!time) throw InternalError("a size that the bundle does not give");
    return time->sum();
  }
  [[nodiscard]] double part_of(int number, TimePart part) const { return seconds(model_.once(number, part, in_)); }

  [[nodiscard]] double exchange(const Block& block, const ScheduleLine& line) const {
    double sum = 0;
    for (int i = line.op; i < line.op + line.count; ++i) {
      sum += part_of(numbers_.at(&block.ops[static_cast<size_t>(i)]), TimePart::exchange);
    }
    return sum;
  }

  double run_line(const Op& op, const ScheduleLine& line, size_t at, int depth) {
    const int number = numbers_.at(&op);
    if (op.code == OpCode::while_loop || op.code == OpCode::for_loop) return loop(op, number, at, depth);
    if (op.code == OpCode::if_else) {
      const double copies = part_of(number, TimePart::ends);
      const double taken = block(op.blocks[0], made_.lines[at].begin, depth + 1, copies);
      (void)block(op.blocks[1], made_.lines[at].begin, depth + 1, copies);  // shown, but not taken
      return taken;
    }
    double all = part_of(number, TimePart::work);
    if (is_blocks(op)) add_rounds(number, made_.lines[at].begin, depth + 1);
    if (sorts_across(plan_, op)) all += part_of(number, TimePart::exchange);
    if (line.rows == LineRows::all) return all;
    const Meanwhile rows = meanwhile(plan_, op, number, line.rows);
    return all * rows_share(line.rows, in_.value(rows.ghosts).value_or(0), in_.value(rows.stored).value_or(0));
  }

  void add_rounds(int number, double begin, int depth) {
    int round = 0;
    for (const BlockRoundTime& one : model_.block_rounds(number, in_)) {
      TimelineLine& line = made_.lines.emplace_back();
      line.depth = depth;
      line.text = fmt::format("round {}: {} tasks", ++round, one.tasks);
      if (one.slowest >= 0) line.text += fmt::format(", worker {} takes longest", one.slowest);
      if (one.moved > 0) line.text += fmt::format("; {} moved", short_bytes(one.moved));
      line.begin = begin;
      line.seconds = one.time.sum();
      line.held_bytes = most_held();
      begin += line.seconds;
    }
  }

  double loop(const Op& op, int number, size_t at, int depth) {
    const double copies = part_of(number, TimePart::ends);
    const double iteration = block(op.blocks[0], made_.lines[at].begin, depth + 1, copies);
    made_.lines[at].iterations = iterations(number);
    return iteration * made_.lines[at].iterations;
  }

  [[nodiscard]] double iterations(int number) const {
    if (run_ != nullptr) {
      const OpCount& counted = run_->ops.at(static_cast<size_t>(number));
      return static_cast<double>(counted.iterations) / std::max(1.0, static_cast<double>(counted.executions));
    }
    for (const LoopCost& loop : context_.report().loops) {
      if (loop.number != number) continue;
      if (const auto known = context_.value(loop.trips)) return static_cast<double>(*known);
    }
    fail(ExitStatus::usage, "the iterations of a loop are not known", "time over the whole plan needs them",
         "give --sizes trips=..., or the counters of a run with --against");
  }

  void free(int form) {
    for (size_t w = 0; w < held_.size(); ++w) {
      held_[w] -= form_bytes(plan_, forms_.at(static_cast<size_t>(form)), sizes_, static_cast<int>(w));
    }
  }

  const Module& plan_;
  const Sizes& sizes_;
  const RunReport* run_;
  ReportContext context_;
  TimeModel model_;
  TimeCase in_;
  std::vector<ProductForm> forms_;
  std::vector<std::int64_t> held_;  // by worker
  std::map<const Op*, int> numbers_;
  std::map<const ScheduleLine*, int> line_numbers_;
  Timeline made_;
};

std::string line_of(const TimelineLine& line) {
  std::string text(static_cast<size_t>(2 * line.depth), ' ');
  text += line.text;
  if (line.iterations > 0) text += fmt::format(", {:.4g} iterations", line.iterations);
  return line.where.line > 0 ? fmt::format("{}  (line {})", text, line.where.line) : text;
}

Json predicted_json(const swapping::PredictedTimeline& predicted) {
  Json json = timeline_as_json(predicted.timeline);
  json["loops"] = Json::array();
  for (const swapping::PredictedLoop& loop : predicted.loops) {
    json["loops"].push_back(
        {{"number", loop.number}, {"iteration_seconds", loop.seconds}, {"iterations", loop.iterations}});
  }
  return json;
}

}  // namespace

Timeline timeline(const Module& module, const Sizes& sizes, const MachineProfile& machine, const RunReport* run) {
  const Module plan = with_schedule(module);
  return Simulation(plan, sizes, machine, run).run();
}

std::string timeline_text(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                          const RunReport* run) {
  const Timeline made = timeline(module, sizes, machine, run);
  std::vector<std::vector<std::string>> rows{{"begins", "takes", "measured", "held", "line"}};
  for (const TimelineLine& line : made.lines) {
    rows.push_back({duration_text(line.begin), duration_text(line.seconds),
                    line.measured ? duration_text(*line.measured) : "-",
                    short_bytes(static_cast<double>(line.held_bytes)), line_of(line)});
  }
  std::string text =
      fmt::format("The schedule over time, simulated for {} ({}):\n",
                  run != nullptr ? fmt::format("the run's {} rank{}", run->ranks, run->ranks == 1 ? "" : "s")
                                 : std::string("each worker a process"),
                  machine_text(machine));
  text += table_text(rows);
  text += fmt::format("whole plan: {}", duration_text(made.seconds));
  if (run != nullptr) text += fmt::format(", measured {}", duration_text(run->seconds));
  return text + fmt::format("; a worker holds at most {}\n", short_bytes(static_cast<double>(made.held_bytes)));
}

std::string timeline_json(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                          const RunReport* run) {
  const Timeline made = timeline(module, sizes, machine, run);
  Json json = new_report("timeline");
  json["seconds"] = made.seconds;
  json["held_bytes"] = made.held_bytes;
  if (run != nullptr) json["measured_seconds"] = run->seconds;
  json["lines"] = Json::array();
  for (const TimelineLine& line : made.lines) {
    Json one = Json::object();
    if (line.line >= 0) one["number"] = line.line;  // a round of a region has none
    one.update({{"depth", line.depth},
                {"line", line.text},
                {"begin", line.begin},
                {"seconds", line.seconds},
                {"held_bytes", line.held_bytes}});
    if (line.where.line > 0) one["source_line"] = line.where.line;
    if (line.iterations > 0) one["iterations"] = line.iterations;
    if (line.measured) one["measured_seconds"] = *line.measured;
    json["lines"].push_back(std::move(one));
  }
  if (uses_disk(module)) json["predicted_streams"] = predicted_json(predicted_streams(module, sizes, machine, run));
  if (run != nullptr && run->timeline) json["measured_streams"] = timeline_as_json(*run->timeline);
  return report_document(json);
}

}  // namespace kasen
