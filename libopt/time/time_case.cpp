#include "libopt/time/time_case.h"

#include <algorithm>
#include <map>
#include <memory>

#include "libcore/analysis/shared_batch.h"
#include "libopt/cost/traffic.h"
#include "libopt/time/imbalance.h"

namespace kasen {

Polynomial workers_of_all() { return Polynomial(Symbol{SymbolKind::workers, "", {}, -1}); }

TimeCase each_worker_a_process(const ReportContext& context, const MachineProfile& machine) {
  TimeCase in;
  in.value = [&context](const Polynomial& polynomial) -> std::optional<double> {
    const auto value = context.value(polynomial);
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  in.machine = machine;
  in.workers = in.value(workers_of_all()).value_or(1);
  in.processes = in.workers;
  in.refined = true;
  if (context.sizes() == nullptr) return in;
  in.reach = [&reaches = context.sizes()->reaches](const SlaveAtom& axis) {
    const auto known = reaches.find(axis);
    return known == reaches.end() ? 1 : known->second;
  };
  in.imbalance = imbalance(context.module(), *context.sizes(), context.sizes()->workers);
  return in;
}

TimeCase case_of_run(const ReportContext& context, const Sizes& sizes, const RunReport& run,
                     const MachineProfile& machine) {
  const Module& module = context.module();
  TimeCase in = each_worker_a_process(context, machine_of_rank(machine, run));
  const auto traffic = std::make_shared<std::map<int, double>>();
  const SharedBatches batches(module);
  for_each_op(module, [&](const Op& op, int number, int) {
    if (run.ranks <= 1) return;
    const OpCount& counted = run.ops.at(static_cast<std::size_t>(number));
    const double moved = static_cast<double>(counted.moved_rank_bytes) /
                         static_cast<double>(std::max<std::int64_t>(counted.executions, 1));
    (*traffic)[number] = static_cast<double>(predict_traffic(module, batches, op, sizes, run.ranks).rank_bytes) + moved;
  });
  in.processes = run.ranks;
  in.imbalance = imbalance(module, sizes, run.ranks);
  in.sent = [traffic](const TimeRow& row) { return (*traffic)[row.number]; };
  return in;
}

MachineProfile machine_of_rank(const MachineProfile& machine, const RunReport& run) {
  return machine.part(machine.threads > 0 ? std::min(1.0, run.threads / machine.threads) : 1);
}

}  // namespace kasen
