#include "libopt/cost/traffic.h"

#include <map>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libopt/cost/extent.h"

namespace kasen {
namespace {

constexpr const char* exchange_memory = "a plan's memory";

int rank_of(int worker, int workers, int ranks) {
  // Rank r holds parts floor(r P / R) to floor((r + 1) P / R) - 1.
  return static_cast<int>(((static_cast<std::int64_t>(worker) + 1) * ranks - 1) / workers);
}

// One exchange. It coalesces the data that each pair of workers sends into one message for each pair of ranks.
class OneExchange {
 public:
  OneExchange(int workers, int ranks) : workers_(workers), ranks_(ranks) {}

  void move(int from, int to, std::int64_t bytes) {
    if (bytes == 0) return;
    worker_bytes_ += bytes;
    const int a = rank_of(from, workers_, ranks_), b = rank_of(to, workers_, ranks_);
    if (a != b) between_[{a, b}] += bytes;
  }

  void add_to(Traffic& traffic) const {
    traffic.worker_bytes += worker_bytes_;
    for (const auto& [ranks, bytes] : between_) {
      traffic.rank_bytes += bytes;
      ++traffic.rank_messages;  // one, even if MPI takes several pieces for it
    }
  }

 private:
  int workers_, ranks_;
  std::int64_t worker_bytes_ = 0;
  std::map<std::pair<int, int>, std::int64_t> between_;
};

// A binary tree over the workers, to worker 0 or from it. Each worker w at a multiple of 2 * step meets w + step.
Traffic tree_traffic(std::int64_t bytes, int workers, int ranks) {
  Traffic traffic;
  for (int step = 1; step < workers; step *= 2) {
    OneExchange round(workers, ranks);
    for (int w = 0; w + step < workers; w += 2 * step) round.move(w, w + step, bytes);
    round.add_to(traffic);
  }
  return traffic;
}

}  // namespace

const Type& held_type(const Module& module, const Op& op) {
  return module.type(op.code == OpCode::gather ? op.operands.at(0) : op.results.at(0));
}

std::int64_t moved_bytes(const Module& module, const Op& op, const Polynomial::Bindings& here) {
  const Type& held = held_type(module, op);
  return checked_mul(inner_elements(module, held).value(here), held.element.bytes(), exchange_memory);
}

std::int64_t batch_bytes(const Module& module, std::span<const Op> batch, const Polynomial::Bindings& here) {
  std::int64_t bytes = 0;
  for (const Op& op : batch) bytes = checked_add(bytes, moved_bytes(module, op, here), exchange_memory);
  return bytes;
}

Traffic predict_traffic(const Module& module, const SharedBatches& batches, const Op& op, const Sizes& sizes,
                        int ranks) {
  Traffic traffic;
  if (is_epilogue(op)) return predict_traffic(module, batches, epilogue_gather(op), sizes, ranks);
  if (row(op.code).group != OpGroup::transition) return traffic;
  const std::int64_t element = moved_bytes(module, op, sizes.totals);
  if (is_shared_transition(module, op)) {
    const std::int64_t together = batch_bytes(module, batches.led_by(op), sizes.totals);
    traffic = tree_traffic(element, sizes.workers, ranks);
    traffic.rank_messages = tree_traffic(together, sizes.workers, ranks).rank_messages;
    return traffic;
  }
  const Type& held = held_type(module, op);
  const auto it = sizes.pairs.find({Layout(module, held).cut_name(), held.state.slaves});
  if (it == sizes.pairs.end()) return traffic;
  OneExchange exchange(sizes.workers, ranks);  // a gather goes from holder to owner; the sums are the same
  for (const SlavePairs::Pair& pair : it->second.list) {
    exchange.move(pair.owner, pair.holder, checked_mul(pair.count, element, "predicted traffic"));
  }
  exchange.add_to(traffic);
  return traffic;
}

}  // namespace kasen
