#include "libopt/time/time_model.h"

#include <algorithm>
#include <cmath>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/footprint.h"
#include "libopt/cost/traffic.h"
#include "libopt/time/block_rounds.h"
#include "libopt/time/overlap.h"

namespace kasen {
namespace {

// A batch of shareds takes the rounds of one.
Exchange exchange_of(const Module& module, const SharedBatches& batches, const Op& op) {
  if (is_epilogue(op) || sorts_across(module, op)) return Exchange::array;
  if (carried_axes(module, op) != 0) return Exchange::carries;
  if (row(op.code).group != OpGroup::transition) return Exchange::none;
  if (!is_shared_transition(module, op)) return Exchange::array;
  return batches.led_by(op).empty() ? Exchange::none : Exchange::shared;
}

// The bytes that a batch of shareds moves in slices where there are enough of them; zero for any other.
Polynomial paired_bytes(const Module& module, const SharedBatches& batches, const Op& op) {
  Polynomial bytes;
  if (!batches.is_paired(batches.led_by(op))) return bytes;
  for (const Op& each : batches.led_by(op)) {
    const Type& held = held_type(module, each);
    bytes += inner_elements(module, held) * held.element.bytes();
  }
  return bytes;
}

// The dense matrix of a product, or of the first one of a region: all of a region's have one.
ValueId passed_matrix(const Module& module, const Op& op) {
  if (op.code == OpCode::region) {
    const std::vector<Op>& ops = op.blocks.at(0).ops;
    const auto first = std::find_if(ops.begin(), ops.end(), [](const Op& inner) { return is_product(inner); });
    return first == ops.end() ? no_value : passed_matrix(module, *first);
  }
  const bool dense = is_product(op) && is_dense_product(module, op);
  return dense && !module.type(product_matrix(op)).compressed ? product_matrix(op) : no_value;
}

// Columns of a product are computed in whole vectors of so many f64.
constexpr double vector_columns = 8;

Polynomial most_columns(const Module& module, const Op& op) {
  if (op.code != OpCode::region) return column_elements(module, op);
  for (const Op& inner : op.blocks.at(0).ops) {
    if (is_product(inner) && has_columns(module, inner)) return column_elements(module, inner);
  }
  return Polynomial(1);
}

std::optional<double> rounds_of(const TimeRow& row, const TimeCase& in) {
  if (row.exchange == Exchange::none || in.processes <= 1) return 0;
  if (row.exchange == Exchange::carries) {
    const auto places = in.value(row.places);
    return places ? std::optional(std::min(*places, in.processes) - 1) : std::nullopt;
  }
  const auto paired = in.value(row.paired);
  if (!paired) return std::nullopt;
  const bool sliced = travels_in_slices(true, static_cast<std::int64_t>(*paired), static_cast<int>(in.workers));
  return row.exchange == Exchange::array || sliced ? 1 : rounds_of_tree(in.processes);
}

// Returns one execution in numbers, or nothing if a number is not known.
std::optional<Step> step_of(const TimeRow& row, const TimeCase& in) {
  const TouchedBytes bytes = row.streamed(in.paper);
  const auto passed = in.value(row.passed), width = in.value(row.row), columns = in.value(row.columns);
  if (!passed || !width || !columns) return std::nullopt;
  const double padding =
      in.refined && *columns > 1 ? std::ceil(*columns / vector_columns) * vector_columns / *columns : 1;
  const auto read = in.value(bytes.read), written = in.value(bytes.written);
  const auto compute = computing(row.work, in, padding);
  std::optional<double> sent = 0;
  if (in.processes > 1 && !row.network.is_zero()) sent = in.sent ? in.sent(row) : in.value(row.network);
  const auto rounds = rounds_of(row, in);
  if (!read || !written || !compute || !sent || !rounds) return std::nullopt;
  return Step{.read = *read,
              .written = *written,
              .sent = *sent,
              .passed = in.refined ? std::min(*passed, *read) : 0,
              .row = *width,
              .compute = compute->seconds,
              .gathered = compute->gathered,
              .rounds = *rounds,
              .starts = row.loops ? in.workers / in.processes : 0};
}

PredictedTime repeated(const PredictedTime& time, double times) {
  return {time.memory * times, time.compute * times, time.network * times, time.messages * times, time.hidden * times};
}

}  // namespace

std::optional<Computing> computing(const Work& work, const TimeCase& in, double padding) {
  double operations = 0;
  for (size_t i = 0; i < work.operations.size(); ++i) {
    const auto count = in.value(work.operations.at(i));
    if (!count) return std::nullopt;
    const double times = i == static_cast<size_t>(ScalarWork::term) ? padding : 1;
    operations += *count * in.machine.operation.at(i) * times;
  }
  const auto entries = in.value(work.entries), span = in.value(work.span);
  if (!entries || !span) return std::nullopt;
  const double reach = in.refined && in.reach && work.reads ? in.reach(*work.reads) : 1;
  const double reads = *entries * in.machine.entry_seconds(*span * reach / in.workers);
  if (in.refined && !in.paper) return Computing{operations / in.processes, reads / in.processes};
  return Computing{std::max(operations, reads) / in.processes, 0};
}

double rounds_of_tree(double processes) { return processes > 1 ? std::ceil(std::log2(processes)) : 0; }

TimeModel::TimeModel(const Module& module, const CostReport& report)
    : module_(&module), known_rounds_(std::make_shared<KnownBlockRounds>(module)) {
  const CostContext context = cost_context(module);
  const SharedBatches batches(module);
  for_each_op(module, [&](const Op& op, int number, int) {
    const CostRow& cost = report.rows.at(static_cast<size_t>(number));
    if (cost.region >= 0) return;
    TimeRow made;
    made.number = made.runs = number;
    made.model = {cost.model.read, cost.model.written};
    made.actual = {cost.actual.read, cost.actual.written};
    made.work = work_of(context, op);
    if (const ValueId matrix = passed_matrix(module, op); matrix != no_value) {
      const Polynomial element(module.type(matrix).element.bytes());
      made.passed = context.entries(matrix) * element;
      made.row = inner_elements(module, module.type(matrix)) * element;
      made.columns = most_columns(module, op);
    }
    const bool touches = !(cost.model.read + cost.model.written + cost.actual.read + cost.actual.written).is_zero();
    made.loops = touches && row(op.code).group != OpGroup::transition;
    made.blocks = is_blocks(op);
    if (made.blocks) made.network = cost.actual.network;
    if (touches) rows_.push_back(std::move(made));
    // The exchange of a region is a step behind its work, like that of a transition: no computing hides it.
    const Exchange exchange = exchange_of(module, batches, op);
    if (!is_blocks(op) && (!cost.actual.network.is_zero() || exchange != Exchange::none)) {
      rows_.push_back({.number = number,
                       .runs = number,
                       .part = TimePart::exchange,
                       .network = cost.actual.network,
                       .exchange = exchange,
                       .paired = paired_bytes(module, batches, op),
                       .places = mesh_places(module, carried_axes(module, op))});
    }
    for (const EndCost& end : cost.ends) {
      rows_.push_back({.number = number,
                       .runs = end.yield,
                       .part = TimePart::ends,
                       .actual = {end.actual.read, end.actual.written}});
    }
  });
  const Footprint all = footprint(module);
  held_ = all.buffers + all.matrices + all.inputs;
  buffers_ = all.buffers;
}

StepRates TimeModel::rates(const TimeCase& in) const {
  const auto held = in.value(held_);
  StepRates rates = held ? rates_of(*held / in.processes, in.processes, in.machine)
                         : StepRates{.machine = in.machine, .processes = in.processes};
  rates.imbalance = in.imbalance;
  return rates;
}

std::optional<PredictedTime> TimeModel::time(const TimeCase& in, const Runs& runs) const {
  const StepRates rates = this->rates(in);
  PredictedTime sum;
  for (const TimeRow& row : rows_) {
    const auto times = runs(row);
    if (!times) return std::nullopt;
    if (*times == 0) continue;
    const auto once = time_of(row, in, rates);
    if (!once) return std::nullopt;
    sum += repeated(*once, *times);
  }
  const auto behind = in.refined && in.processes > 1 ? hidden(in, runs) : std::optional(0.0);
  if (!behind) return std::nullopt;
  sum.hidden = *behind;
  return sum;
}

std::span<const TimeRow> TimeModel::rows_of(int number) const {
  const auto first =
      std::partition_point(rows_.begin(), rows_.end(), [&](const TimeRow& r) { return r.number < number; });
  const auto end = std::partition_point(first, rows_.end(), [&](const TimeRow& r) { return r.number <= number; });
  return {first, end};
}

std::optional<PredictedTime> TimeModel::once(int number, TimePart part, const TimeCase& in) const {
  return once(number, part, in, rates(in));
}

std::optional<PredictedTime> TimeModel::once(int number, TimePart part, const TimeCase& in,
                                             const StepRates& rates) const {
  PredictedTime sum;
  for (const TimeRow& row : rows_of(number)) {
    if (row.part != part) continue;
    const auto one = time_of(row, in, rates);
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

std::vector<BlockRoundTime> TimeModel::block_rounds(int number, const TimeCase& in) const {
  return block_rounds(number, in, rates(in));
}

std::vector<BlockRoundTime> TimeModel::block_rounds(int number, const TimeCase& in, const StepRates& rates) const {
  const auto known = known_rounds_->of(number, in);
  return known ? known->times(in, rates) : std::vector<BlockRoundTime>();
}

// The paper knows no rounds.
std::optional<PredictedTime> TimeModel::time_of(const TimeRow& row, const TimeCase& in, const StepRates& rates) const {
  const std::vector<BlockRoundTime> rounds =
      row.blocks && !in.paper ? block_rounds(row.number, in, rates) : std::vector<BlockRoundTime>();
  if (rounds.empty()) {
    const auto step = step_of(row, in);
    return step ? std::optional(step_time(*step, rates)) : std::nullopt;
  }
  PredictedTime sum;
  for (const BlockRoundTime& round : rounds) sum += round.time;
  return sum;
}

// An exchange is hidden as far as the work between its start and the wait for it goes.
std::optional<double> TimeModel::hidden(const TimeCase& in, const Runs& runs) const {
  double sum = 0;
  for (const Window& window : windows(*module_)) {
    const std::span<const TimeRow> of_op = rows_of(window.exchange);
    const auto row =
        std::find_if(of_op.begin(), of_op.end(), [](const TimeRow& r) { return r.part == TimePart::exchange; });
    if (row == of_op.end()) continue;
    const auto times = runs(*row);
    if (!times) return std::nullopt;
    if (*times == 0) continue;
    const auto exchange = once(window.exchange, TimePart::exchange, in);
    if (!exchange) return std::nullopt;
    double work = 0;
    for (const Meanwhile& some : window.work) {
      const auto one = once(some.number, TimePart::work, in);
      const auto ghosts = in.value(some.ghosts), stored = in.value(some.stored);
      if (!one || !ghosts || !stored) return std::nullopt;
      work += one->sum() * rows_share(some.rows, *ghosts, *stored);
    }
    sum += std::min(exchange->sum(), work) * *times;
  }
  return sum;
}

std::optional<PredictedTime> TimeModel::program(const CostReport& report, const TimeCase& in) const {
  std::optional<PredictedTime> all =
      time(in, [&](const TimeRow& row) { return in.value(report.rows.at(static_cast<size_t>(row.runs)).executions); });
  if (!all || !in.refined || in.machine.fresh_bandwidth <= 0) return all;
  const auto fresh = in.value(buffers_);
  if (!fresh) return std::nullopt;
  all->memory += *fresh / in.processes / in.machine.fresh_bandwidth * in.imbalance;
  return all;
}

std::optional<PredictedTime> TimeModel::iteration(const LoopCost& loop, const TimeCase& in) const {
  return time(in, [&](const TimeRow& row) -> std::optional<double> {
    const auto inside = loop.runs.find(row.runs);
    return inside == loop.runs.end() ? 0 : in.value(inside->second);
  });
}

}  // namespace kasen
