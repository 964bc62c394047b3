// The memory of plans that name layouts, for each worker.
#include <algorithm>

#include "libcore/analysis/liveness.h"
#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/base/checked.h"
#include "libcore/blocks/block_bytes.h"
#include "libcore/boxes/box_exchange.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libcore/sorting/sort_plan.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/traffic.h"

namespace kasen {
namespace {

class BoxParts {
 public:
  BoxParts(const Module& module, const Sizes& sizes)
      : m_(sized_module(module, sizes)),
        sizes_(sizes),
        batches_(m_),
        live_(m_),
        inside_(made_in_regions(m_)),
        on_disk_(values_on_disk(m_)),
        is_input_(m_.values.size(), false) {
    for_each_op(m_, [&](const Op& op, int, int) {
      if (op.code == OpCode::input) is_input_[op.results.at(0)] = true;
      if (is_blocks(op)) regions_.push_back(block_bytes(m_, op));
    });
  }

  [[nodiscard]] PartCount predict(int worker) const {
    const BoxForm form = box_form(m_, worker);
    PartCount part;
    part.worker = worker;
    for (const BufferId b : m_.buffers.ids()) {
      if (!m_.buffers[b].on_disk) add(part.buffer_bytes, storage_bytes(m_.buffers[b].element, form.elements[b]));
    }
    for (const ValueId v : m_.values.ids()) {
      if (is_input_[v]) add(part.input_bytes, box_bytes(m_, v, worker));
      if (has_own_memory(v)) add(part.buffer_bytes, box_bytes(m_, v, worker));
    }
    part.exchange_bytes = packing(worker);
    for (const BlockBytes& region : regions_) add(part.exchange_bytes, region.arranged);
    for (const BoxStandIn& some : form.stand_ins) {
      if (some.memory != no_value) continue;  // that of another value
      const std::int64_t count = elements_of(m_, some.box, worker).count();
      add(part.exchange_bytes, storage_bytes(m_.type(some.of).element, count));
    }
    if (!sizes_.list_bytes.empty()) part.list_bytes = sizes_.list_bytes.at(static_cast<size_t>(worker));
    return part;
  }

 private:
  static void add(std::int64_t& sum, std::int64_t bytes) { sum = checked_add(sum, bytes, "a plan's memory"); }

  [[nodiscard]] bool has_own_memory(ValueId v) const {
    return m_.value(v).buffer == no_buffer && !inside_[v] && !is_input_[v] && !m_.type(v).dims.empty() &&
           !live_.is_view(v) && !on_disk_[v];
  }

  // One area serves all exchanges.
  [[nodiscard]] std::int64_t packing(int worker) const {
    std::int64_t largest = 0;
    for (const BlockBytes& region : regions_) {
      largest = std::max(largest, region.areas.at(static_cast<size_t>(worker)));
    }
    for_each_op(m_, [&](const Op& op, int, int) {
      if (sorts_across(m_, op)) largest = std::max(largest, sort_areas(sort_plan(m_, op, worker)).total);
      if (carried_axes(m_, op) != 0) largest = std::max(largest, carry_exchange(m_, op, worker).packing);
      if (row(op.code).group != OpGroup::transition) return;
      const bool shared = is_shared_transition(m_, op);
      if (picks_on_the_way(m_, op)) {
        largest = std::max(largest, pick_packing(m_, op, worker));
        return;
      }
      largest = std::max(largest, shared ? batch_packing_bytes(m_, batches_, op, sizes_, worker)
                                         : box_exchange(m_, op, worker).packing);
    });
    return largest;
  }

  const Module m_;
  const Sizes& sizes_;
  const SharedBatches batches_;
  const Liveness live_;
  const IdMap<ValueId, bool> inside_, on_disk_;
  IdMap<ValueId, bool> is_input_;
  std::vector<BlockBytes> regions_;  // of blocks
};

}  // namespace

std::int64_t box_bytes(const Module& sized, ValueId value, int worker) {
  const Type& type = sized.type(value);
  const std::int64_t array = storage_bytes(type.element, elements_of(sized, stored_box(sized, type), worker).count());
  return checked_mul(array, std::max<std::int64_t>(type.list, 1), "a plan's memory");
}

std::vector<PartCount> predict_box_parts(const Module& module, const Sizes& sizes) {
  const BoxParts predictor(module, sizes);
  std::vector<PartCount> parts;
  for (int worker = 0; worker < sizes.workers; ++worker) parts.push_back(predictor.predict(worker));
  return parts;
}

}  // namespace kasen
