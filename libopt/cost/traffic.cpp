#include "libopt/cost/traffic.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/base/checked.h"
#include "libcore/blocks/block_bytes.h"
#include "libcore/boxes/box_exchange.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/sorting/sort_plan.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/extent.h"

namespace kasen {
namespace {

constexpr const char* exchange_memory = "a plan's memory";

// The elements of one index of the array, or of the whole shared, that an operator exchanges.
std::int64_t moved_elements(const Module& module, const Op& op, const Polynomial::Bindings& here) {
  return inner_elements(module, held_type(module, op)).value(here);
}

int rank_of(int worker, int workers, int ranks) {
  // Rank r holds parts floor(r P / R) to floor((r + 1) P / R) - 1.
  return static_cast<int>(((static_cast<std::int64_t>(worker) + 1) * ranks - 1) / workers);
}

// One exchange. It coalesces the data that each pair of workers sends into one message for each pair of ranks.
class OneExchange {
 public:
  OneExchange(const Module& module, int workers, int ranks)
      : module_(&module), names_nodes_(names_nodes(module)), workers_(workers), ranks_(ranks) {}

  void move(int from, int to, std::int64_t bytes) {
    if (bytes == 0) return;
    worker_bytes_ += bytes;
    const int a = rank_of(from, workers_, ranks_), b = rank_of(to, workers_, ranks_);
    if (a != b) between_[{a, b}] += bytes;
    if (names_nodes_ && !are_on_one_node(*module_, from, to)) node_bytes_ += bytes;
  }

  void add_to(Traffic& traffic) const {
    traffic.worker_bytes += worker_bytes_;
    traffic.node_bytes += node_bytes_;
    for (const auto& [ranks, bytes] : between_) {
      traffic.rank_bytes += bytes;
      ++traffic.rank_messages;  // one, even if MPI takes several pieces for it
    }
  }

 private:
  const Module* module_;  // with the mesh, where it names nodes
  bool names_nodes_;
  int workers_, ranks_;
  std::int64_t worker_bytes_ = 0, node_bytes_ = 0;
  std::map<std::pair<int, int>, std::int64_t> between_;
};

// A binary tree over the workers, to worker 0 or from it. Each worker w at a multiple of 2 * step meets w + step.
Traffic tree_traffic(const Module& module, std::int64_t bytes, int workers, int ranks) {
  Traffic traffic;
  for (int step = 1; step < workers; step *= 2) {
    OneExchange round(module, workers, ranks);
    for (int w = 0; w + step < workers; w += 2 * step) round.move(w, w + step, bytes);
    round.add_to(traffic);
  }
  return traffic;
}

// Each worker sends the others' slices to them, or its own slice to all others.
Traffic sliced_traffic(const Module& module, std::span<const Op> batch, const Sizes& sizes, int ranks) {
  OneExchange round(module, sizes.workers, ranks);
  for (const Op& op : batch) {
    const std::int64_t count = moved_elements(module, op, sizes.totals);
    for (int from = 0; from < sizes.workers; ++from) {
      for (int to = 0; to < sizes.workers; ++to) {
        const Slice slice = slice_of(count, op.code == OpCode::gather ? to : from, sizes.workers);
        if (to != from) round.move(from, to, slice.count() * held_type(module, op).element.bytes());
      }
    }
  }
  Traffic traffic;
  round.add_to(traffic);
  return traffic;
}

// Returns an operator's bytes, and the messages of its batch if it is the first one.
Traffic member_traffic(const Module& module, const SharedBatches& batches, const Op& op, const Sizes& sizes,
                       int ranks) {
  const std::span<const Op> batch = batches.holding(op);
  const bool sliced = travel_in_slices(module, batches, batch, sizes);
  const auto exchanged = [&](std::span<const Op> ops) {
    return sliced ? sliced_traffic(module, ops, sizes, ranks)
                  : tree_traffic(module, batch_bytes(module, ops, sizes.totals), sizes.workers, ranks);
  };
  Traffic traffic = exchanged({&op, 1});
  traffic.rank_messages = &op == batch.data() ? exchanged(batch).rank_messages : 0;
  return traffic;
}

}  // namespace

const Type& held_type(const Module& module, const Op& op) {
  return module.type(op.code == OpCode::gather ? op.operands.at(0) : op.results.at(0));
}

std::int64_t moved_bytes(const Module& module, const Op& op, const Polynomial::Bindings& here) {
  return checked_mul(moved_elements(module, op, here), held_type(module, op).element.bytes(), exchange_memory);
}

std::int64_t batch_bytes(const Module& module, std::span<const Op> batch, const Polynomial::Bindings& here) {
  std::int64_t bytes = 0;
  for (const Op& op : batch) bytes = checked_add(bytes, moved_bytes(module, op, here), exchange_memory);
  return bytes;
}

bool travel_in_slices(const Module& module, const SharedBatches& batches, std::span<const Op> batch,
                      const Sizes& sizes) {
  return travels_in_slices(batches.is_paired(batch), batch_bytes(module, batch, sizes.totals), sizes.workers);
}

std::int64_t batch_packing_bytes(const Module& module, const SharedBatches& batches, const Op& op, const Sizes& sizes,
                                 int worker) {
  const std::span<const Op> batch = batches.led_by(op);
  if (batch.empty() || sizes.workers == 1) return 0;
  if (!travel_in_slices(module, batches, batch, sizes)) {
    return checked_mul(2, batch_bytes(module, batch, sizes.totals), exchange_memory);
  }
  std::int64_t bytes = 0;  // of a gather: the worker's slice of all other workers
  for (const Op& each : batch) {
    if (each.code != OpCode::gather) continue;
    const Slice slice = slice_of(moved_elements(module, each, sizes.totals), worker, sizes.workers);
    const std::int64_t slot = storage_bytes(held_type(module, each).element, slice.count());
    bytes = checked_add(bytes, checked_mul(sizes.workers - 1, slot, exchange_memory), exchange_memory);
  }
  return bytes;
}

namespace {

// The module itself, if it has a mesh and all sizes.
class SizedModule {
 public:
  SizedModule(const Module& module, const Sizes& sizes) : module_(module) {
    const bool known = !module.mesh.empty() && std::all_of(module.dims.begin(), module.dims.end(),
                                                           [](const Dimension& dim) { return dim.size >= 0; });
    if (!known) sized_ = sized_module(module, sizes);
  }
  [[nodiscard]] const Module& get() const { return sized_ ? *sized_ : module_; }

 private:
  const Module& module_;
  std::optional<Module> sized_;
};

// Each exchange by itself.
Traffic agreement_traffic(const Module& sized, const Op& op, int ranks) {
  std::map<int, OneExchange> exchanges;
  const int workers = mesh_workers(sized);
  for_each_agreement(sized, op, [&](const SortMessage& message) {
    exchanges.try_emplace(message.exchange, sized, workers, ranks)
        .first->second.move(message.from, message.to, message.bytes);
  });
  Traffic traffic;
  for (const auto& [number, exchange] : exchanges) exchange.add_to(traffic);
  return traffic;
}

// In the order of its rounds. Each is an exchange of its own.
Traffic carry_traffic(const Module& module, const Op& scan, const Sizes& sizes, int ranks) {
  std::vector<OneExchange> rounds;
  for_each_carry(module, scan, sizes, [&](std::int64_t round, int from, int to, std::int64_t bytes) {
    rounds.resize(std::max(rounds.size(), static_cast<std::size_t>(round) + 1),
                  OneExchange(module, sizes.workers, ranks));
    rounds[static_cast<std::size_t>(round)].move(from, to, bytes);
  });
  Traffic traffic;
  for (const OneExchange& round : rounds) round.add_to(traffic);
  return traffic;
}

// Each round is an exchange of its own.
Traffic block_traffic(const Module& sized, const Op& region, int ranks) {
  std::vector<OneExchange> rounds;
  for_each_block_message(sized, region, [&](std::size_t round, int from, int to, std::int64_t bytes) {
    rounds.resize(std::max(rounds.size(), round + 1), OneExchange(sized, mesh_workers(sized), ranks));
    rounds[round].move(from, to, bytes);
  });
  Traffic traffic;
  for (const OneExchange& round : rounds) round.add_to(traffic);
  return traffic;
}

}  // namespace

bool when_across(const Module& module, const Op& op, const Sizes& sizes, const AcrossUse& use) {
  if (!sorts_across(module, op)) return false;
  const SizedModule sized(module, sizes);
  if (sorts_across(sized.get(), op)) use(sized.get());
  return true;
}

bool when_picks(const Module& module, const Op& op, const Sizes& sizes, const AcrossUse& use) {
  if (!picks_on_the_way(module, op)) return false;
  const SizedModule sized(module, sizes);
  use(sized.get());
  return true;
}

void for_each_box_message(const Module& module, const Op& op, const Sizes& sizes, const BoxMessage& visit) {
  const SizedModule sized(module, sizes);
  for (int worker = 0; worker < sizes.workers; ++worker) {
    const BoxExchange exchange = box_exchange(sized.get(), op, worker);
    for (const BoxPiece& piece : exchange.sends) visit(worker, piece.peer, piece.bytes);
  }
}

void for_each_carry(const Module& module, const Op& scan, const Sizes& sizes, const Carry& visit) {
  const SizedModule sized(module, sizes);
  for (int worker = 0; worker < sizes.workers; ++worker) {
    const CarryExchange carry = carry_exchange(sized.get(), scan, worker);
    if (carry.behind >= 0) visit(carry.place, worker, carry.behind, carry.bytes);
  }
}

const SlavePairs* pairs_of(const Module& module, const Type& held, const Sizes& sizes) {
  const auto it = sizes.pairs.find({Layout(module, held).cut_name(), held.state.slaves});
  return held.state.slaves.empty() || it == sizes.pairs.end() ? nullptr : &it->second;
}

Traffic predict_traffic(const Module& module, const SharedBatches& batches, const Op& op, const Sizes& sizes,
                        int ranks) {
  Traffic traffic;
  if (is_epilogue(op)) return predict_traffic(module, batches, epilogue_gather(op), sizes, ranks);
  if (when_across(module, op, sizes, [&](const Module& sized) { traffic = agreement_traffic(sized, op, ranks); })) {
    return traffic;
  }
  if (carried_axes(module, op) != 0) return carry_traffic(module, op, sizes, ranks);
  if (is_blocks(op)) return block_traffic(SizedModule(module, sizes).get(), op, ranks);
  if (row(op.code).group != OpGroup::transition || picks_on_the_way(module, op)) return traffic;
  if (is_shared_transition(module, op)) return member_traffic(module, batches, op, sizes, ranks);
  OneExchange exchange(module, sizes.workers, ranks);  // a gather goes from holder to owner; the sums are the same
  if (names_layouts(module)) {
    for_each_box_message(module, op, sizes,
                         [&](int from, int to, std::int64_t bytes) { exchange.move(from, to, bytes); });
    exchange.add_to(traffic);
    return traffic;
  }
  const std::int64_t element = moved_bytes(module, op, sizes.totals);
  const Type& held = held_type(module, op);
  const SlavePairs* const pairs = pairs_of(module, held, sizes);
  if (pairs == nullptr) return traffic;
  for (const SlavePairs::Pair& pair : pairs->list) {
    exchange.move(pair.owner, pair.holder, checked_mul(pair.count, element, "predicted traffic"));
  }
  exchange.add_to(traffic);
  return traffic;
}

}  // namespace kasen
