#include "libopt/cost/worker_traffic.h"

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/base/checked.h"
#include "libcore/blocks/block_bytes.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/sorting/sort_plan.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/traffic.h"

namespace kasen {
namespace {

constexpr const char* what = "predicted traffic";

class Adder {
 public:
  Adder(const Module& module, int workers) : module_(module), names_nodes_(names_nodes(module)) {
    sum_.sent.resize(static_cast<std::size_t>(workers), 0);
    sum_.received.resize(static_cast<std::size_t>(workers), 0);
  }

  void send(int worker, std::int64_t bytes) { add(sum_.sent, worker, bytes); }
  void receive(int worker, std::int64_t bytes) { add(sum_.received, worker, bytes); }
  void move(int from, int to, std::int64_t bytes) {
    send(from, bytes);
    receive(to, bytes);
    cross(from, to, bytes);
  }
  // Of bytes that are sent already.
  void cross(int from, int to, std::int64_t bytes) {
    if (names_nodes_ && !are_on_one_node(module_, from, to)) add_crossing(bytes);
  }
  // Data decide where to: all may cross nodes.
  void may_cross(std::int64_t bytes) {
    if (names_nodes_) add_crossing(bytes);
  }
  void add(const WorkerTraffic& once, std::int64_t times) {
    for (std::size_t w = 0; w < sum_.sent.size(); ++w) {
      send(static_cast<int>(w), checked_mul(once.sent[w], times, what));
      receive(static_cast<int>(w), checked_mul(once.received[w], times, what));
    }
    add_crossing(checked_mul(once.between_nodes, times, what));
  }
  [[nodiscard]] WorkerTraffic take() { return std::move(sum_); }

 private:
  static void add(std::vector<std::int64_t>& list, int worker, std::int64_t bytes) {
    std::int64_t& sum = list.at(static_cast<std::size_t>(worker));
    sum = checked_add(sum, bytes, what);
  }
  void add_crossing(std::int64_t bytes) { sum_.between_nodes = checked_add(sum_.between_nodes, bytes, what); }

  const Module& module_;
  const bool names_nodes_;
  WorkerTraffic sum_;
};

// Worker w at a multiple of 2 * step meets w + step: on the way to worker 0, or from it.
void add_tree(Adder& sum, bool gather, std::int64_t bytes, int workers) {
  for (std::int64_t step = 1; step < workers; step *= 2) {
    for (std::int64_t w = 0; w + step < workers; w += 2 * step) {
      const int upper = static_cast<int>(w), lower = static_cast<int>(w + step);
      gather ? sum.move(lower, upper, bytes) : sum.move(upper, lower, bytes);
    }
  }
}

// Each worker has its own slice from all others, or gives it to them.
void add_slices(Adder& sum, bool gather, std::int64_t bytes, std::int64_t element, int workers) {
  for (int w = 0; w < workers; ++w) {
    const std::int64_t own = element == 0 ? 0 : slice_of(bytes / element, w, workers).count() * element;
    const std::int64_t others = checked_mul(own, workers - 1, what);
    sum.send(w, gather ? bytes - own : others);
    sum.receive(w, gather ? others : bytes - own);
    for (int other = 0; other < workers; ++other) sum.cross(w, other, own);
  }
}

// All elements move that can.
void add_sort(Adder& sum, const Module& sized, const Op& op) {
  for_each_agreement(sized, op, [&](const SortMessage& message) { sum.move(message.from, message.to, message.bytes); });
  for (int worker = 0; worker < mesh_workers(sized); ++worker) {
    const SortPlan plan = sort_plan(sized, op, worker);
    if (plan.group.empty()) continue;
    const std::int64_t most = std::min(plan.count(), plan.length - plan.count());
    const std::int64_t bytes = checked_mul(checked_mul(plan.lines, most, what), sorted_bytes(sized, op), what);
    sum.send(worker, bytes);
    sum.receive(worker, bytes);
    sum.may_cross(bytes);
  }
}

// All elements move that can.
void add_pick(Adder& sum, const Module& sized, const Op& op) {
  const Type &from = sized.type(op.operands.at(0)), &to = sized.type(op.results.at(0));
  std::int64_t picked = 1;
  for (const DimId dim : to.dims) picked = checked_mul(picked, sized.dim(dim).size, what);
  for (int worker = 0; worker < mesh_workers(sized); ++worker) {
    const std::int64_t gives = std::min(owned_elements(sized, from, worker).count(), picked);
    sum.send(worker, checked_mul(gives, to.element.bytes(), what));
    sum.may_cross(checked_mul(gives, to.element.bytes(), what));
    sum.receive(worker, checked_mul(owned_elements(sized, to, worker).count(), to.element.bytes(), what));
  }
}

}  // namespace

WorkerTraffic worker_traffic(const Module& module, const SharedBatches& batches, const Op& op, const Sizes& sizes) {
  if (is_epilogue(op)) return worker_traffic(module, batches, epilogue_gather(op), sizes);
  Adder sum(module, sizes.workers);
  if (when_across(module, op, sizes, [&](const Module& sized) { add_sort(sum, sized, op); })) return sum.take();
  if (carried_axes(module, op) != 0) {
    for_each_carry(module, op, sizes,
                   [&](std::int64_t, int from, int to, std::int64_t bytes) { sum.move(from, to, bytes); });
    return sum.take();
  }
  if (is_blocks(op)) {
    for_each_block_message(sized_module(module, sizes), op,
                           [&](std::size_t, int from, int to, std::int64_t bytes) { sum.move(from, to, bytes); });
    return sum.take();
  }
  if (row(op.code).group != OpGroup::transition) return sum.take();
  if (when_picks(module, op, sizes, [&](const Module& sized) { add_pick(sum, sized, op); })) return sum.take();
  if (names_layouts(module) && !is_shared_transition(module, op)) {
    for_each_box_message(module, op, sizes, [&](int from, int to, std::int64_t bytes) { sum.move(from, to, bytes); });
    return sum.take();
  }
  const bool gather = op.code == OpCode::gather;
  const Type& held = held_type(module, op);
  const std::int64_t bytes = moved_bytes(module, op, sizes.totals);
  if (is_shared_transition(module, op)) {
    if (travel_in_slices(module, batches, batches.holding(op), sizes)) {
      add_slices(sum, gather, bytes, held.element.bytes(), sizes.workers);
    } else {
      add_tree(sum, gather, bytes, sizes.workers);
    }
    return sum.take();
  }
  const SlavePairs* const pairs = pairs_of(module, held, sizes);
  if (pairs == nullptr) return sum.take();
  for (const SlavePairs::Pair& pair : pairs->list) {
    const std::int64_t moved = checked_mul(pair.count, bytes, what);
    gather ? sum.move(pair.holder, pair.owner, moved) : sum.move(pair.owner, pair.holder, moved);
  }
  return sum.take();
}

std::optional<WorkerTraffic> worker_traffic(const Module& asked, const Sizes& sizes, const Executions& executions) {
  const auto sized = names_layouts(asked) ? std::optional(sized_module(asked, sizes)) : std::nullopt;  // once for all
  const Module& module = sized ? *sized : asked;
  Adder sum(module, sizes.workers);
  const SharedBatches batches(module);
  bool known = true;
  for_each_op(module, [&](const Op& op, int number, int) {
    const bool moves = row(op.code).group == OpGroup::transition || is_epilogue(op) || is_blocks(op);
    if (!moves && !sorts_across(module, op) && carried_axes(module, op) == 0) return;
    const auto times = executions(number);
    known = known && times;
    if (known && *times > 0) sum.add(worker_traffic(module, batches, op, sizes), *times);
  });
  if (!known) return std::nullopt;
  return sum.take();
}

}  // namespace kasen
