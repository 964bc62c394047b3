#include "libopt/cuts/cut_time.h"

#include <algorithm>
#include <numeric>

#include "libopt/text/report_parts.h"
#include "libopt/time/imbalance.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

std::int64_t most_of(const std::vector<std::int64_t>& list) {
  return list.empty() ? 0 : *std::max_element(list.begin(), list.end());
}

// Of an iteration of the loop, or of the program if it is null.
std::optional<WorkerTraffic> traffic_of(const ReportContext& context, const LoopCost* loop) {
  if (loop == nullptr || context.sizes() == nullptr || context.sizes()->by_worker.empty())
    return traffic_of_workers(context);
  return worker_traffic(context.module(), *context.sizes(), [&](int number) -> std::optional<std::int64_t> {
    const auto runs = loop->runs.find(number);
    const bool in_region = context.report().rows.at(static_cast<size_t>(number)).region >= 0;
    if (in_region || runs == loop->runs.end()) return 0;  // a region's exchange is its own
    return context.value(runs->second);
  });
}

// The busiest worker's bytes over the mean's.
double imbalance_of(const std::optional<WorkerTraffic>& traffic, const Sizes& sizes) {
  if (!traffic || sizes.pairs.empty()) return 1;
  const std::int64_t most = std::max(most_of(traffic->sent), most_of(traffic->received));
  const double sum = std::accumulate(traffic->sent.begin(), traffic->sent.end(), 0.0);
  return sum == 0 ? 1 : static_cast<double>(most) * static_cast<double>(sizes.workers) / sum;
}

PredictedTime slowed(PredictedTime time, double network) {
  time.network *= network;
  return time;
}

}  // namespace

CutTime cut_time(const Module& plan, const Sizes& sizes, const MachineProfile& machine) {
  const ReportContext context(plan, &sizes);
  const std::vector<LoopCost>& loops = context.report().loops;
  const LoopCost* const first = loops.empty() ? nullptr : &loops[0];
  const PlanTimes times = predicted_times(plan, &sizes, machine);
  CutTime cut{.imbalance = times.imbalance};
  const WorkImbalance parts = work_imbalance(plan, sizes, sizes.workers);
  cut.of_indices = parts.indices;
  cut.of_entries = parts.entries;
  const std::optional<WorkerTraffic> traffic = traffic_of(context, first);
  const double network = imbalance_of(traffic, sizes);
  cut.bytes = context.value(first == nullptr ? context.report().actual.network : first->actual.network);
  if (traffic && !sizes.pairs.empty()) cut.most = std::max(most_of(traffic->sent), most_of(traffic->received));
  const std::optional<PredictedTime>& once = first == nullptr ? times.program : times.iterations[0];
  if (once) cut.iteration = slowed(*once, network);
  if (times.program) {
    cut.seconds = slowed(*times.program, network).sum();
  } else {
    cut.assumes_turns = true;
    bool known = !loops.empty();
    double sum = 0;
    for (size_t i = 0; i < loops.size(); ++i) {
      if (loops[i].parent >= 0) continue;
      known = known && times.iterations[i];
      if (known) sum += slowed(*times.iterations[i], network).sum() * assumed_turns;
    }
    if (known) cut.seconds = sum;
  }
  for (const Dimension& dim : plan.dims) {
    const auto found = sizes.totals.find({SymbolKind::slaves, dim.name, {}, -1});
    if (found != sizes.totals.end()) cut.slaves += found->second;
  }
  return cut;
}

Sizes without_exchange(Sizes sizes) {
  for (auto& [symbol, number] : sizes.totals)
    if (symbol.kind == SymbolKind::slaves || symbol.kind == SymbolKind::waiting) number = 0;
  sizes.by_worker.clear();
  sizes.pairs.clear();
  return sizes;
}

}  // namespace kasen
