#include "libopt/time/block_rounds.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/blocks/block_moves.h"
#include "libcore/ir/layout.h"
#include "libopt/cost/box_cost.h"

namespace kasen {
namespace {

// The region's operator, in a copy of its module.
const Op& op_at(const Module& module, int wanted) {
  const Op* found = nullptr;
  for_each_op(module, [&](const Op& op, int number, int) {
    if (number == wanted) found = &op;
  });
  if (found == nullptr) throw InternalError("an operator that the module does not have");
  return *found;
}

std::vector<int> processes_of_workers(int workers, int processes) {
  std::vector<int> process_of;
  for (int process = 0; process < processes; ++process) {
    const std::int64_t end = (std::int64_t{process} + 1) * workers / processes;
    while (static_cast<std::int64_t>(process_of.size()) < end) process_of.push_back(process);
  }
  return process_of;
}

double copied_bytes(const BlockMoves& moves, const BlockRound& round) {
  double bytes = 0;
  for (const OwnPiece& own : round.own) {
    const Type& type = moves.type_of(own.from.object);
    if (type.dims.empty()) continue;  // single values are free
    bytes += static_cast<double>(own.from.places.size()) * static_cast<double>(type.element.bytes());
  }
  return bytes;
}

}  // namespace

BlockRounds::BlockRounds(const Module& sized, const Op& region) {
  const BlockMoves moves(sized, region);
  tasks_ = priced_tasks(sized, moves.tasks().variants);
  model_ = std::make_unique<TimeModel>(tasks_.module, tasks_.report);
  for (int worker = 0; worker < mesh_workers(sized); ++worker) {
    const WorkerBlocks here = moves.of(worker);
    rounds_ = here.rounds.size();
    std::vector<WorkerRound>& own = workers_.emplace_back();
    for (const BlockRound& round : here.rounds) {
      WorkerRound& one = own.emplace_back();
      for (const int task : round.tasks)
        one.variants.push_back(moves.tasks().tasks[static_cast<std::size_t>(task)].variant);
      one.copied = copied_bytes(moves, round);
      for (const BlockMessage& message : round.sends)
        one.sends.emplace_back(message.peer, static_cast<double>(message.bytes));
    }
  }
}

// Of one task of each variant, on one process.
std::vector<PredictedTime> BlockRounds::task_times(const TimeCase& in, const StepRates& rates) const {
  TimeCase one;
  one.machine = in.machine;
  one.refined = in.refined;
  one.value = [this](const Polynomial& polynomial) -> std::optional<double> {
    if (const auto known = polynomial.evaluate(tasks_.sizes)) return static_cast<double>(*known);
    return std::nullopt;
  };
  std::vector<PredictedTime> times;
  for (const int number : tasks_.ops) {
    const auto time = model_->once(number, TimePart::work, one, rates);
    if (!time) throw InternalError("a task's size that is not known");
    times.push_back(*time);
  }
  return times;
}

void BlockRounds::add_moves(std::size_t round, const std::vector<int>& process_of, const TimeCase& in,
                            BlockRoundTime& made) const {
  std::vector<double> sent(process_of.size(), 0), received(process_of.size(), 0);  // by process
  for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
    const auto from = static_cast<std::size_t>(process_of[worker]);
    for (const auto& [peer, bytes] : workers_[worker][round].sends) {
      const auto to = static_cast<std::size_t>(process_of.at(static_cast<std::size_t>(peer)));
      if (from == to) continue;
      sent[from] += bytes;
      received[to] += bytes;
      made.moved += bytes;
    }
  }
  if (made.moved == 0) return;
  const double most =
      std::max(*std::max_element(sent.begin(), sent.end()), *std::max_element(received.begin(), received.end()));
  made.time.network = most / in.machine.network_bandwidth;
  made.time.messages = in.machine.network_latency;
}

std::vector<BlockRoundTime> BlockRounds::times(const TimeCase& in, const StepRates& rates) const {
  StepRates own = rates;  // of one process, whose tasks are known one by one
  own.processes = 1;
  own.imbalance = 1;
  const std::vector<PredictedTime> tasks = task_times(in, own);
  const auto processes = std::clamp(static_cast<int>(std::lround(in.processes)), 1, workers());
  const std::vector<int> process_of = processes_of_workers(workers(), processes);
  std::vector<BlockRoundTime> rounds;
  for (std::size_t round = 0; round < rounds_; ++round) {
    BlockRoundTime& made = rounds.emplace_back();
    std::vector<PredictedTime> sums(static_cast<std::size_t>(processes));
    std::vector<int> first(static_cast<std::size_t>(processes), -1);
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
      const WorkerRound& here = workers_[worker][round];
      const auto process = static_cast<std::size_t>(process_of[worker]);
      if (first[process] < 0) first[process] = static_cast<int>(worker);
      for (const int variant : here.variants) sums[process] += tasks[static_cast<std::size_t>(variant)];
      sums[process] += step_time({.read = here.copied, .written = here.copied}, own);
      made.tasks += static_cast<int>(here.variants.size());
    }
    const auto slowest = std::max_element(
        sums.begin(), sums.end(), [](const PredictedTime& a, const PredictedTime& b) { return a.sum() < b.sum(); });
    made.time = *slowest;
    if (slowest->sum() > 0) made.slowest = first[static_cast<std::size_t>(slowest - sums.begin())];
    add_moves(round, process_of, in, made);
  }
  return rounds;
}

std::shared_ptr<const BlockRounds> KnownBlockRounds::of(int number, const TimeCase& in) {
  Sizes sizes;
  sizes.workers = mesh_workers(*module_);
  std::vector<std::int64_t> key;
  for (const Dimension& dim : module_->dims) {
    if (dim.size >= 0 || dim.is_derived()) continue;
    const Symbol symbol{SymbolKind::size, dim.name, {}, -1};
    const auto size = in.value(Polynomial(symbol));
    if (!size) return nullptr;
    key.push_back(sizes.totals[symbol] = std::llround(*size));
  }
  const std::lock_guard lock(mutex_);
  const auto [known, fresh] = known_.try_emplace({number, std::move(key)});
  if (!fresh) return known->second;
  try {
    const Module sized = sized_module(*module_, sizes);
    known->second = std::make_shared<BlockRounds>(sized, op_at(sized, number));
  } catch (const UserError&) {  // placed for other sizes: nothing is known of its rounds
  }
  return known->second;
}

}  // namespace kasen
