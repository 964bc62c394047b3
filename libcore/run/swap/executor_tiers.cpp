// Arrays that a plan stores on a disk and loads again. They move beside the steps that follow (stream::TierMover); a
// step waits for what it reads, and before it writes over what is still being stored. Memory is known by its address:
// names that exchange their memory take the moves of it along.
#include <fmt/format.h>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/ir/tiers.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

class TierStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const bool in = op.code == OpCode::load;
    const ValueId memory = in ? op.results[0] : op.operands[0], place = in ? op.operands[0] : op.results[0];
    for (int part = 0; part < run.part_count(); ++part) {
      const View& here = run.storage.view(memory, part);
      const ElementMemory elements{here.data, run.module.type(memory).element, here.capacity};
      const std::byte* const there = run.storage.view(place, part).data;
      const std::int64_t count = run.storage.elements(memory, part);
      in ? run.tier_mover->load(there, elements, count, number) : run.tier_mover->store(there, elements, count, number);
    }
  }
};

}  // namespace

std::unique_ptr<Step> make_tier_step(const Op& op, int number) { return std::make_unique<TierStep>(op, number); }

void Storage::place_on_disk(stream::TierMover& mover, Tier& tier) {
  for (Slot& slot : slots_) {
    if (!slot.on_disk) continue;
    for (size_t p = 0; p < parts_; ++p) slot.views[p].data = mover.add(slot.element, slot.capacity[p], tier);
  }
}

std::int64_t Storage::planned_pool_bytes(int part) const {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots_) {
    if (!slot.pooled) continue;
    bytes =
        checked_add(bytes, storage_bytes(slot.element, slot.capacity[static_cast<size_t>(part)]), "the pool's size");
  }
  return bytes;
}

void Execution::check_pool() const {
  for (int part = 0; plan.memory > 0 && part < part_count(); ++part) {
    const std::int64_t bytes = storage.planned_pool_bytes(part);
    if (bytes <= plan.memory) continue;
    fail(ExitStatus::limit,
         fmt::format("worker {}'s arrays take {} bytes of memory, the plan allows {}",
                     parts[static_cast<size_t>(part)].worker, bytes, plan.memory),
         "it was planned for other sizes, or for more workers",
         "plan again with this bundle and more --memory, or use more workers");
  }
}

void Execution::begin_moves() {
  if (!uses_disk(plan)) return;
  if (options.spill == nullptr) {
    fail(ExitStatus::usage, "the plan stores arrays on a disk, and the run has no folder for them", "",
         "plan without --swap");
  }
  tier_mover = std::make_unique<stream::TierMover>();
  storage.place_on_disk(*tier_mover, *options.spill);
}

void Execution::await_moves(const Step& step) {
  if (step.control || moves_tier(step.op)) return;
  const auto await = [&](ValueId v, bool writes) {
    if (module.type(v).sparse || storage.info(forms.memory_of(v)).slot < 0) return;
    for (int part = 0; part < part_count(); ++part) {
      const std::byte* const data = storage.view(v, part).data;
      writes ? tier_mover->await_writing(data) : tier_mover->await_reading(data);
    }
  };
  const auto await_all = [&](const Op& op) {
    const bool gives_away = op.code == OpCode::output;  // its memory may become the result's
    for (const ValueId v : op.operands) {
      await(v, gives_away);
      await(form.original(v), gives_away);
    }
    for (const ValueId v : op.results) {
      await(v, true);
      await(form.original(v), true);
    }
  };
  await_all(step.op);
  for (const Op& other : step.together) await_all(other);
  if (step.op.code != OpCode::region) return;
  for (const Op& inner : step.op.blocks.at(0).ops) {  // rows that wait for a gather
    for (const ValueId v : inner.results) {
      if (module.value(v).buffer != no_buffer) await(v, true);
    }
  }
}

void Execution::count_moves() {
  for (const stream::TierMover::Moved& moved : tier_mover->take_moved()) {
    count(moved.op).disk_read_bytes += moved.read;
    count(moved.op).disk_written_bytes += moved.written;
  }
}

void Execution::finish_moves() {
  if (tier_mover == nullptr) return;
  tier_mover->finish();
  count_moves();
}

}  // namespace kasen::executor
