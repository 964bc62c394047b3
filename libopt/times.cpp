#include "libopt/times.h"

#include <fmt/format.h>

#include <cmath>

#include "libcore/executor.h"
#include "libopt/footprint.h"
#include "libopt/report_parts.h"

namespace kasen {
namespace {

double rounds_of_tree(double processes) { return processes > 1 ? std::ceil(std::log2(processes)) : 0; }

class Timer {
 public:
  Timer(const ReportContext& context, const MachineProfile& machine) : c_(context), machine_(machine) {
    for_each_op(c_.module(), [&](const Op& op, int number, int) {
      if (row(op.code).group != OpGroup::transition) return;
      transitions_.push_back({number, is_shared(c_.module(), c_.module().type(op.operands.at(0)))});
    });
  }

  [[nodiscard]] std::optional<PredictedTime> time(const Cost& cost, int loop) const {
    const auto workers = c_.value(Polynomial(Symbol{SymbolKind::workers, "", {}, -1}));
    const auto bytes = c_.value(cost.read + cost.written), sent = c_.value(cost.network);
    const auto exchanged = rounds(loop, static_cast<double>(workers.value_or(1)));
    if (!bytes || !sent || !workers || !exchanged) return std::nullopt;
    const auto processes = static_cast<double>(*workers);
    return PredictedTime{static_cast<double>(*bytes) / processes / machine_.memory_bandwidth,
                         static_cast<double>(*sent) / processes / machine_.network_bandwidth,
                         *exchanged * machine_.network_latency};
  }

 private:
  struct Transition {
    int number;
    bool shared;
  };

  [[nodiscard]] const LoopCost& loop_of(int number) const {
    for (const LoopCost& loop : c_.report().loops) {
      if (loop.number == number) return loop;
    }
    throw InternalError("a row of a loop that is not in the report");
  }

  // Exchanges one after another in a turn of `loop` (-1: in the whole program).
  [[nodiscard]] std::optional<double> rounds(int loop, double processes) const {
    if (processes <= 1) return 0;
    double sum = 0;
    for (const Transition& t : transitions_) {
      Polynomial times(1);
      int around = c_.report().rows[static_cast<size_t>(t.number)].loop;
      for (; around >= 0 && around != loop; around = loop_of(around).parent) times = times * loop_of(around).trips;
      if (around != loop) continue;
      const auto count = c_.value(times);
      if (!count) return std::nullopt;
      sum += static_cast<double>(*count) * (t.shared ? rounds_of_tree(processes) : 1);
    }
    return sum;
  }

  const ReportContext& c_;
  const MachineProfile& machine_;
  std::vector<Transition> transitions_;
};

std::string time_line(const std::string& what, const std::optional<PredictedTime>& time) {
  if (!time)
    return fmt::format("  {}: not known; sizes (--bundle, --sizes) or turns (--sizes trips=...) are missing\n", what);
  return fmt::format("  {}: {} (memory {}, network {}, messages {})\n", what, duration_text(time->sum()),
                     duration_text(time->memory), duration_text(time->network), duration_text(time->messages));
}

// What the ranks of a run sent in one turn of the loop, from exact traffic; bytes and exchanges one after another.
PredictedTime on_ranks(const Module& module, const Sizes& sizes, const RunReport& run, const CostReport& report,
                       const LoopCost& loop, const MachineProfile& machine) {
  PredictedTime time;
  const auto turns = static_cast<double>(run.ops[static_cast<size_t>(loop.number)].turns);
  for_each_op(module, [&](const Op& op, int number, int) {
    int around = report.rows[static_cast<size_t>(number)].loop;
    while (around >= 0 && around != loop.number) around = report.rows[static_cast<size_t>(around)].loop;
    if (around != loop.number && number != loop.number) return;
    const OpCount& counted = run.ops[static_cast<size_t>(number)];
    time.memory += static_cast<double>(counted.read_bytes + counted.written_bytes);
    if (row(op.code).group != OpGroup::transition || run.ranks == 1) return;
    const Traffic once = predict_traffic(module, op, sizes, run.ranks);
    time.network += static_cast<double>(once.rank_bytes) * static_cast<double>(counted.executions);
    const bool shared = is_shared(module, module.type(op.operands.at(0)));
    time.messages += static_cast<double>(counted.executions) * (shared ? rounds_of_tree(run.ranks) : 1);
  });
  time.memory /= turns * run.ranks * machine.memory_bandwidth;
  time.network /= turns * run.ranks * machine.network_bandwidth;
  time.messages *= machine.network_latency / turns;
  return time;
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
}

std::string machine_text(const MachineProfile& machine) {
  return fmt::format("{:.3g} GB/s of memory, {:.3g} GB/s and {:.3g} us a message of network",
                     machine.memory_bandwidth / 1e9, machine.network_bandwidth / 1e9, machine.network_latency * 1e6);
}

PlanTimes predicted_times(const Module& module, const Sizes* sizes, const MachineProfile& machine) {
  const ReportContext context(module, sizes);
  const Timer timer(context, machine);
  PlanTimes times;
  for (const LoopCost& loop : context.report().loops) times.turns.push_back(timer.time(loop.actual, loop.number));
  times.program = timer.time(context.report().actual, -1);
  return times;
}

std::string times_text(const Module& module, const Sizes* sizes, const MachineProfile& machine) {
  const ReportContext context(module, sizes);
  const PlanTimes times = predicted_times(module, sizes, machine);
  std::string text =
      fmt::format("\nPredicted time, each worker a process ({}); by bytes alone, not by what is computed:\n",
                  machine_text(machine));
  for (size_t i = 0; i < times.turns.size(); ++i) {
    const CostRow& row = context.report().rows[static_cast<size_t>(context.report().loops[i].number)];
    text += time_line("a turn of the " + context.place(row), times.turns[i]);
  }
  return text + time_line("whole program", times.program);
}

std::string times_against_text(const Module& module, const Sizes& sizes, const RunReport& run,
                               const MachineProfile& machine) {
  const ReportContext context(module, &sizes);
  std::string text;
  for (const LoopCost& loop : context.report().loops) {
    const OpCount& counted = run.ops[static_cast<size_t>(loop.number)];
    if (loop.parent >= 0 || counted.turns == 0) continue;
    const double predicted = on_ranks(module, sizes, run, context.report(), loop, machine).sum();
    const double measured = counted.seconds / static_cast<double>(counted.turns);
    text += fmt::format("time of a turn of the {}: predicted {}, measured {} ({:+.0f} %)\n",
                        context.place(context.report().rows[static_cast<size_t>(loop.number)]),
                        duration_text(predicted), duration_text(measured), (predicted / measured - 1) * 100);
  }
  return text.empty() ? "time: no loop ran that could be compared\n" : text;
}

}  // namespace kasen
