#include "libopt/time/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "libcore/ir/module.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/time_case.h"

namespace kasen {
namespace {

std::string time_line(const std::string& what, const std::optional<PredictedTime>& time) {
  if (!time)
    return fmt::format("  {}: not known; sizes (--bundle, --sizes) or iterations (--sizes trips=...) are missing\n",
                       what);
  const std::string hidden =
      time->hidden > 0 ? fmt::format("; {} of these hidden behind work", duration_text(time->hidden)) : "";
  return fmt::format("  {}: {} (memory {}, computing beyond that {}, network {}, messages {}{})\n", what,
                     duration_text(time->sum()), duration_text(time->memory), duration_text(time->compute),
                     duration_text(time->network), duration_text(time->messages), hidden);
}

// Uses the numbers of the run: its iterations and executions.
class OnRanks {
 public:
  OnRanks(const Module& module, const Sizes& sizes, const RunReport& run, const ReportContext& context,
          const MachineProfile& machine)
      : run_(run), model_(module, context.report()), in_(case_of_run(context, sizes, run, machine)) {}

  // Returns the time of one iteration of the loop, or of the whole program if it is null.
  [[nodiscard]] PredictedTime iteration(const LoopCost* loop) const {
    const auto iterations = loop == nullptr ? 1 : static_cast<double>(counted(loop->number).iterations);
    return sum([&](const TimeRow& row) {
      if (loop != nullptr && !loop->runs.contains(row.runs)) return 0.0;
      return static_cast<double>(counted(row.runs).executions) / iterations;
    });
  }
  // Returns the time of all executions of one operator.
  [[nodiscard]] PredictedTime all_of(int number) const {
    return sum([&](const TimeRow& row) {
      return row.number == number ? static_cast<double>(counted(row.runs).executions) : 0.0;
    });
  }

 private:
  [[nodiscard]] const OpCount& counted(int number) const { return run_.ops[static_cast<size_t>(number)]; }
  [[nodiscard]] PredictedTime sum(const std::function<std::optional<double>(const TimeRow&)>& runs) const {
    const auto time = model_.time(in_, runs);
    if (!time) throw InternalError("a size that the bundle does not give");
    return *time;
  }

  const RunReport& run_;
  TimeModel model_;
  TimeCase in_;
};

// The outermost loops that ran, in order.
std::vector<const LoopCost*> outer_loops(const ReportContext& context, const RunReport& run) {
  std::vector<const LoopCost*> loops;
  for (const LoopCost& loop : context.report().loops) {
    if (loop.parent < 0 && run.ops[static_cast<size_t>(loop.number)].iterations > 0) loops.push_back(&loop);
  }
  return loops;
}

// Operators that hold no others, and regions as a whole.
std::vector<const CostRow*> working_rows(const ReportContext& context) {
  std::vector<const CostRow*> rows;
  for (const CostRow& row : context.report().rows) {
    const bool holds_others = kasen::row(row.code).group == OpGroup::control && row.code != OpCode::region;
    if (row.region < 0 && !holds_others) rows.push_back(&row);
  }
  return rows;
}

void add_operators(std::vector<ComparedTime>& times, const ReportContext& context, const OnRanks& on_ranks,
                   const RunReport& run) {
  std::vector<const CostRow*> rows = working_rows(context);
  double all = 0;
  for (const CostRow* row : rows) all += run.ops[static_cast<size_t>(row->number)].seconds;
  const auto seconds = [&](const CostRow* row) { return run.ops[static_cast<size_t>(row->number)].seconds; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const CostRow* a, const CostRow* b) { return seconds(a) > seconds(b); });
  for (const CostRow* row : rows) {
    if (seconds(row) < all / 20) break;
    times.push_back(
        {"all executions of the " + context.place(*row), on_ranks.all_of(row->number).sum(), seconds(row), true});
  }
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

std::string machine_text(const MachineProfile& machine) {
  const auto nanoseconds = [&](ScalarWork work) { return machine.operation.at(static_cast<size_t>(work)) * 1e9; };
  return fmt::format(
      "{:.3g} GB/s of memory, {:.3g} Gop/s, {:.3g} ns an exp, {:.3g} GB/s and {:.3g} us a message of network",
      machine.memory_bandwidth / 1e9, 1 / nanoseconds(ScalarWork::plain), nanoseconds(ScalarWork::exp),
      machine.network_bandwidth / 1e9, machine.network_latency * 1e6);
}

std::vector<OperatorTime> operator_times(const Module& module, const Sizes& sizes, const RunReport& run,
                                         const MachineProfile& machine) {
  const ReportContext context(module, &sizes);
  const OnRanks on_ranks(module, sizes, run, context, machine);
  std::vector<OperatorTime> times;
  for (size_t i = 0; i < run.ops.size(); ++i) {
    times.push_back({on_ranks.all_of(static_cast<int>(i)), run.ops[i].seconds});
  }
  return times;
}

PlanTimes predicted_times(const Module& module, const Sizes* sizes, const MachineProfile& machine) {
  const ReportContext context(module, sizes);
  const TimeModel model(module, context.report());
  const TimeCase in = each_worker_a_process(context, machine);
  PlanTimes times;
  times.imbalance = in.imbalance;
  const bool known = in.value(workers_of_all()).has_value();
  for (const LoopCost& loop : context.report().loops) {
    times.iterations.push_back(known ? model.iteration(loop, in) : std::nullopt);
  }
  if (known) times.program = model.program(context.report(), in);
  return times;
}

std::string times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine) {
  const ReportContext context(module, sizes);
  const PlanTimes times = predicted_times(module, sizes, machine);
  std::string text = fmt::format("\nPredicted time, each worker a process ({}):\n", machine_text(machine));
  if (times.imbalance > 1)
    text += fmt::format("  the slowest worker has {:.2f} times the mean's work\n", times.imbalance);
  for (size_t i = 0; i < times.iterations.size(); ++i) {
    const CostRow& row = context.report().rows[static_cast<size_t>(context.report().loops[i].number)];
    text += time_line("an iteration of the " + context.place(row), times.iterations[i]);
  }
  return text + time_line("whole program", times.program);
}

PredictedTime iteration_time(const Module& module, const Sizes& sizes, const RunReport& run,
                             const MachineProfile& machine) {
  const ReportContext context(module, &sizes);
  const OnRanks on_ranks(module, sizes, run, context, machine);
  const auto loops = outer_loops(context, run);
  return on_ranks.iteration(loops.empty() ? nullptr : loops[0]);
}

std::vector<ComparedTime> times_against(const Module& module, const Sizes& sizes, const RunReport& run,
                                        const MachineProfile& machine) {
  const ReportContext context(module, &sizes);
  const OnRanks on_ranks(module, sizes, run, context, machine);
  std::vector<ComparedTime> times;
  for (const LoopCost* loop : outer_loops(context, run)) {
    const OpCount& counted = run.ops[static_cast<size_t>(loop->number)];
    times.push_back({"an iteration of the " + context.place(context.report().rows[static_cast<size_t>(loop->number)]),
                     on_ranks.iteration(loop).sum(), counted.seconds / static_cast<double>(counted.iterations)});
  }
  if (times.empty()) {
    double measured = 0;
    for (const CostRow& row : context.report().rows) {
      if (row.depth == 0) measured += run.ops[static_cast<size_t>(row.number)].seconds;
    }
    times.push_back({"the program, once", on_ranks.iteration(nullptr).sum(), measured});
  }
  add_operators(times, context, on_ranks, run);
  return times;
}

std::string compared_times_text(const std::vector<ComparedTime>& times) {
  std::string text;
  for (const ComparedTime& time : times)
    text += fmt::format("{}time of {}: predicted {}, measured {} ({:+.0f} %)\n", time.of_operator ? "  " : "",
                        time.what, duration_text(time.predicted), duration_text(time.measured),
                        (time.predicted / time.measured - 1) * 100);
  return text;
}

Json compared_times_json(const std::vector<ComparedTime>& times) {
  Json json = Json::array();
  for (const ComparedTime& time : times)
    json.push_back({{"what", time.what},
                    {"of_operator", time.of_operator},
                    {"predicted_seconds", real_json(time.predicted)},
                    {"measured_seconds", real_json(time.measured)}});
  return json;
}

Json time_json(const std::optional<PredictedTime>& time) {
  if (!time) return {};
  return {{"seconds", real_json(time->sum())},
          {"memory_seconds", real_json(time->memory)},
          {"compute_seconds", real_json(time->compute)},
          {"network_seconds", real_json(time->network)},
          {"message_seconds", real_json(time->messages)},
          {"hidden_seconds", real_json(time->hidden)}};
}

Json times_json(const Module& module, const Sizes* sizes, const MachineProfile& machine) {
  const ReportContext context(module, sizes);
  const PlanTimes times = predicted_times(module, sizes, machine);
  Json json{{"machine", machine_text(machine)}, {"imbalance", times.imbalance}, {"loops", Json::array()}};
  for (size_t i = 0; i < times.iterations.size(); ++i) {
    const int number = context.report().loops[i].number;
    json["loops"].push_back(
        {{"number", number},
         {"what", "an iteration of the " + context.place(context.report().rows[static_cast<size_t>(number)])},
         {"time", time_json(times.iterations[i])}});
  }
  json["program"] = time_json(times.program);
  return json;
}

namespace {

// Of all executions of an operator, which takes `work` seconds by itself: while some rows are computed with, the next
// ones come. The first rows stay from the first execution on, and no more than a window comes meanwhile.
double seconds_with_disk(double work, double times, const DiskUse& use, const MachineProfile& machine) {
  const auto seconds = [&](std::int64_t read) {
    return static_cast<double>(read) / machine.disk_read_bandwidth +
           static_cast<double>(use.written) / machine.disk_write_bandwidth;
  };
  const double once = work / times, passing = static_cast<double>(use.read + use.written);
  const double all = passing + static_cast<double>(use.kept);
  const double on_kept = all > 0 ? once * static_cast<double>(use.kept) / all : 0;
  const double ahead = std::min(on_kept, static_cast<double>(use.ahead) / machine.disk_read_bandwidth);
  const double later = on_kept + std::max(once - on_kept, seconds(use.read) - ahead);
  return std::max(once, seconds(use.first_read)) + (times - 1) * later;
}

}  // namespace

ComparedTime time_with_disk(const Module& module, const Sizes& sizes, const RunReport& run,
                            const MachineProfile& machine, const MemoryPlan& memory) {
  const ReportContext context(module, &sizes);
  const OnRanks on_ranks(module, sizes, run, context, machine);
  std::set<size_t> brought;  // before the run
  for_each_op(module, [&](const Op& op, int number, int) {
    if (op.code == OpCode::input && module.type(op.results[0]).sparse) brought.insert(static_cast<size_t>(number));
  });
  double predicted = 0, measured = 0;
  for (const CostRow* row : working_rows(context)) {
    const auto number = static_cast<size_t>(row->number);
    const DiskUse& use = memory.ops.at(number);
    const auto times = static_cast<double>(run.ops[number].executions);
    if (times == 0 || brought.contains(number)) continue;
    predicted += seconds_with_disk(on_ranks.all_of(row->number).sum(), times, use, machine);
    measured += run.ops[number].seconds;
  }
  return {"the run with its disk", predicted, measured};
}

}  // namespace kasen
