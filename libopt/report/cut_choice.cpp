#include "libopt/report/cut_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "libcore/base/error.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

constexpr double near_enough = 1.02;

struct Predicted {
  std::optional<std::int64_t> bytes;  // network bytes of an iteration of the first loop or of the program
  std::optional<PredictedTime> time;  // of the program or of all outermost loops' iterations, on the slowest worker
  double imbalance = 1;               // the load of that worker over the mean
  std::int64_t slaves = 0;            // the paper's unions over all dimensions
};

Predicted predict(const Module& plan, const Sizes& sizes, const MachineProfile& machine) {
  const ReportContext context(plan, &sizes);
  const std::vector<LoopCost>& loops = context.report().loops;
  const PlanTimes times = predicted_times(plan, &sizes, machine);
  Predicted predicted{.imbalance = times.imbalance};
  predicted.bytes = context.value(loops.empty() ? context.report().actual.network : loops[0].actual.network);
  predicted.time = times.program;
  if (!predicted.time) {
    PredictedTime sum;
    bool known = !loops.empty();
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (loops[i].parent >= 0) continue;
      known = known && times.iterations[i];
      if (known) sum += *times.iterations[i];
    }
    if (known) predicted.time = sum;
  }
  for (const Dimension& dim : plan.dims) {
    const auto found = sizes.totals.find({SymbolKind::slaves, dim.name, {}, -1});
    if (found != sizes.totals.end()) predicted.slaves += found->second;
  }
  return predicted;
}

std::string text_of(const std::string& name, const Predicted& predicted, bool timed) {
  std::string text = name + " ";
  if (timed) text += duration_text(predicted.time->sum()) + ", ";
  text += predicted.bytes ? grouped(*predicted.bytes) + " bytes" : grouped(predicted.slaves) + " slaves";
  return text + fmt::format(", imbalance {:.2f}", predicted.imbalance);
}

}  // namespace

CutChoice choose_cut(const Module& plan, const std::vector<CutCandidate>& candidates, const MachineProfile& machine) {
  if (candidates.empty()) throw InternalError("a choice among no cuts");
  std::vector<Predicted> all;
  for (const CutCandidate& c : candidates) all.push_back(predict(plan, c.sizes, machine));
  const bool timed = std::all_of(all.begin(), all.end(), [](const Predicted& p) { return p.time.has_value(); });
  const auto cost = [&](const Predicted& p) { return timed ? p.time->sum() : static_cast<double>(p.slaves); };
  double least = cost(all[0]);
  for (const Predicted& p : all) least = std::min(least, cost(p));
  CutChoice choice;
  while (cost(all[choice.best]) > near_enough * least) ++choice.best;
  for (std::size_t i = 0; i < all.size(); ++i)
    choice.why += (i == 0 ? "" : "; ") + text_of(candidates[i].name, all[i], timed);
  const ReportContext context(plan, nullptr);
  const std::vector<LoopCost>& loops = context.report().loops;
  const std::string part =
      loops.empty()
          ? "the program"
          : "an iteration of the " + context.place(context.report().rows[static_cast<std::size_t>(loops[0].number)]);
  choice.why += fmt::format(" ({}network bytes of {})", timed ? "predicted time; " : "", part);
  return choice;
}

}  // namespace kasen
