#include "libopt/time/time_model.h"

#include <algorithm>
#include <cmath>

#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/module.h"
#include "libcore/ir/regions.h"
#include "libopt/cost/footprint.h"

namespace kasen {
namespace {

// A batch of shareds takes the rounds of one.
Exchange exchange_of(const Module& module, const SharedBatches& batches, const Op& op) {
  if (is_epilogue(op)) return Exchange::array;
  if (row(op.code).group != OpGroup::transition) return Exchange::none;
  if (!is_shared_transition(module, op)) return Exchange::array;
  return batches.led_by(op).empty() ? Exchange::none : Exchange::shared;
}

// Returns the share of cache hits for a process that goes through this number of bytes again and again.
double share_in_caches(double bytes, const MachineProfile& machine) {
  return bytes <= machine.cache_bytes ? 1 : machine.cache_bytes / bytes;
}

// Between a vector that fits in any cache and one that fits in none, the time of a read grows with the logarithm of the
// vector's size.
double entry_seconds(double span, const MachineProfile& machine) {
  const double far = std::log(span / near_span) / std::log(far_span / near_span);
  if (!(far > 0) || machine.near_entry <= 0) return far > 0 ? machine.far_entry : machine.near_entry;
  return machine.near_entry * std::pow(machine.far_entry / machine.near_entry, std::min(far, 1.0));
}

// Returns the time of one execution, or nothing if a number is not known.
std::optional<PredictedTime> row_time(const TimeRow& row, const TimeCase& in, double bandwidth) {
  PredictedTime time;
  const auto bytes = in.value(row.streamed(in.paper));
  const auto compute = compute_seconds(row.work, in);
  if (!bytes || !compute) return std::nullopt;
  time.memory = *bytes / in.processes / bandwidth * in.imbalance;
  time.compute = std::max(0.0, *compute * in.imbalance - time.memory);
  if (row.loops) time.compute += in.workers / in.processes * in.machine.loop_latency;
  if (in.processes > 1) {
    const auto sent = in.sent ? std::optional(in.sent(row)) : in.value(row.network);
    if (!sent) return std::nullopt;
    time.network = *sent / in.processes / in.machine.network_bandwidth;
    const double rounds = row.exchange == Exchange::shared  ? rounds_of_tree(in.processes)
                          : row.exchange == Exchange::array ? 1
                                                            : 0;
    time.messages = rounds * in.machine.network_latency;
  }
  return time;
}

PredictedTime repeated(const PredictedTime& time, double times) {
  return {time.memory * times, time.compute * times, time.network * times, time.messages * times};
}

}  // namespace

PredictedTime& PredictedTime::operator+=(const PredictedTime& other) {
  memory += other.memory;
  compute += other.compute;
  network += other.network;
  messages += other.messages;
  return *this;
}

std::optional<double> compute_seconds(const Work& work, const TimeCase& in) {
  double operations = 0;
  for (size_t i = 0; i < work.operations.size(); ++i) {
    const auto count = in.value(work.operations.at(i));
    if (!count) return std::nullopt;
    operations += *count * in.machine.operation.at(i);
  }
  const auto entries = in.value(work.entries), span = in.value(work.span);
  if (!entries || !span) return std::nullopt;
  const double reads = *entries * entry_seconds(*span / in.workers, in.machine);
  return std::max(operations, reads) / in.processes;
}

double rounds_of_tree(double processes) { return processes > 1 ? std::ceil(std::log2(processes)) : 0; }

TimeModel::TimeModel(const Module& module, const CostReport& report) {
  const CostContext context = cost_context(module);
  const SharedBatches batches(module);
  for_each_op(module, [&](const Op& op, int number, int) {
    const CostRow& cost = report.rows.at(static_cast<size_t>(number));
    if (cost.region >= 0) return;
    TimeRow made;
    made.number = made.runs = number;
    made.model = cost.model.read + cost.model.written;
    made.actual = cost.actual.read + cost.actual.written;
    made.network = cost.actual.network;
    made.work = work_of(context, op);
    made.exchange = exchange_of(module, batches, op);
    const bool touches = !made.model.is_zero() || !made.actual.is_zero();
    made.loops = touches && row(op.code).group != OpGroup::transition;
    if (touches || !made.network.is_zero() || made.exchange != Exchange::none) rows_.push_back(std::move(made));
    for (const EndCost& end : cost.ends) {
      TimeRow copies;
      copies.number = number;
      copies.runs = end.yield;
      copies.actual = end.actual.read + end.actual.written;
      rows_.push_back(std::move(copies));
    }
  });
  const Footprint all = footprint(module);
  held_ = all.buffers + all.matrices + all.inputs;
}

std::optional<PredictedTime> TimeModel::time(const TimeCase& in,
                                             const std::function<std::optional<double>(const TimeRow&)>& runs) const {
  const auto held = in.value(held_);
  const double hits = held ? share_in_caches(*held / in.processes, in.machine) : 0;
  const double bandwidth = 1 / (hits / in.machine.cache_bandwidth + (1 - hits) / in.machine.memory_bandwidth);
  PredictedTime sum;
  for (const TimeRow& row : rows_) {
    const auto times = runs(row);
    if (!times) return std::nullopt;
    if (*times == 0) continue;
    const auto once = row_time(row, in, bandwidth);
    if (!once) return std::nullopt;
    sum += repeated(*once, *times);
  }
  return sum;
}

std::optional<PredictedTime> TimeModel::program(const CostReport& report, const TimeCase& in) const {
  return time(in,
              [&](const TimeRow& row) { return in.value(report.rows.at(static_cast<size_t>(row.runs)).executions); });
}

std::optional<PredictedTime> TimeModel::iteration(const LoopCost& loop, const TimeCase& in) const {
  return time(in, [&](const TimeRow& row) -> std::optional<double> {
    const auto inside = loop.runs.find(row.runs);
    return inside == loop.runs.end() ? 0 : in.value(inside->second);
  });
}

}  // namespace kasen
