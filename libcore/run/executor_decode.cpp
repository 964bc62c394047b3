// Decoding: one step for each operator of the plan, with what it has to know of its neighbours.
#include <algorithm>
#include <iterator>

#include "libcore/analysis/shared_traffic.h"
#include "libcore/base/checked.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/run/executor_boxes.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

// The operator that holds a block binds the values that the block yields. This step only counts the block's executions.
class YieldStep : public Step {
 public:
  using Step::Step;
  void run(Execution& /*run*/) override {}
};

// True if `gather` gathers a result that `step`, a sparse product or a region of them, has just made.
bool is_product(const Module& module, const Step& step, const Op& gather) {
  const Op& op = step.op;
  const bool product = is_product(op) || is_fold(op) || (op.code == OpCode::region && op.kind == RegionKind::mxm);
  if (!product || Layout(module, gather.operands.at(0)).is_shared()) return false;
  return std::find(op.results.begin(), op.results.end(), gather.operands[0]) != op.results.end();
}

// True if `op` is a product that reads the result of `step`, a scatter. It computes rows that need no ghost meanwhile.
bool is_scatter_of(const Module& module, const Step& step, const Op& op) {
  if (step.op.code != OpCode::scatter || Layout(module, step.op.results.at(0)).is_shared()) return false;
  const bool region = op.code == OpCode::region && row(op.kind).entry == RegionEntry::product;
  if (!region && !is_product(op) && !is_fold(op)) return false;
  if (!module.type(product_matrix(op)).sparse) return false;
  return std::find(op.operands.begin(), op.operands.end(), step.op.results[0]) != op.operands.end();
}

// Counts operators; they keep the plan's numbers.
void count_inside(const KernelForm& form, const Block& block, int& count) {
  for (const Op& op : block.ops) {
    if (!op.results.empty() && form.is_mark(op.results[0])) continue;
    ++count;
    for (const Block& inner : op.blocks) count_inside(form, inner, count);
  }
}

std::vector<const Op*> slices_of(const Op& op) {
  std::vector<const Op*> found;
  if (is_slice(op)) found.push_back(&op);
  for (const Block& block : op.blocks) {
    for (const Op& inner : block.ops) {
      if (op.code == OpCode::region && is_slice(inner)) found.push_back(&inner);
    }
  }
  return found;
}

}  // namespace

std::unique_ptr<Step> Decoder::make(const Op& op, int number) {
  switch (row(op.code).group) {
    case OpGroup::source:
      return make_source_step(run, op, number);
    case OpGroup::vector:
      return make_elementwise_step(run, op, number);
    case OpGroup::product:
    case OpGroup::entries:
      return make_product_step(run, matrices, op, number);
    case OpGroup::contraction:
      throw InternalError("a contraction that is no product");
    case OpGroup::linear:
      return make_linear_step(op, number);
    case OpGroup::shared:
      return make_apply_step(run, op, number);
    case OpGroup::transition:
      if (!run.forms.are_boxes()) return make_transition_step(run, op, number);
      return make_box_transition(run, op, *planned.at(static_cast<size_t>(number)), number);
    case OpGroup::list:
      return make_list_step(run, op, number);
    case OpGroup::control:
      break;
    case OpGroup::end:
      if (op.code == OpCode::output) return make_output_step(run, op, number);
      return std::make_unique<YieldStep>(op, number);
  }
  if (op.code != OpCode::region) return make_control_step(*this, op, number);
  count_inside(run.form, op.blocks.at(0), next);
  if (row(op.kind).entry == RegionEntry::elementwise) return make_elementwise_step(run, op, number);
  return make_product_step(run, matrices, op, number);
}

// A value that is made whole is counted when it goes to its own storage.
void charge_shareds(const Execution& run, const Op& op, Step& step) {
  const SharedTraffic traffic = shared_traffic(run.module, op);
  const auto bytes = [&](ValueId v) {
    std::int64_t elements = 0;
    for (int p = 0; p < run.part_count(); ++p) elements += run.storage.inner(run.forms.memory_of(v), p);
    return checked_mul(elements, run.module.type(v).element.bytes(), "a shared array");
  };
  for (const ValueId v : traffic.read) step.shared_reads += bytes(v);
  for (const ValueId v : traffic.written) {
    const ValueId memory = run.forms.memory_of(v);
    if (run.form.original(memory) == memory && !run.form.is_mark(v)) step.shared_writes += bytes(v);
  }
}

std::unique_ptr<Step> Decoder::make_in_batch(std::span<const Op> ahead, int number) {
  if (batched > 0) {
    --batched;
    return make_batched_step(ahead.front(), number);
  }
  const std::span<const Op> planned_batch = batches.led_by(*planned.at(static_cast<size_t>(number)));
  if (planned_batch.empty()) return make(ahead.front(), number);
  batched = planned_batch.size() - 1;
  return make_batch_step(run, ahead.first(planned_batch.size()), batches.is_paired(planned_batch), number);
}

Sequence Decoder::decode(const Block& block) {
  Sequence steps;
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const Op& op = block.ops[i];
    const int number = next++;
    if (depth == 0) matrices.begin_step(number);
    ++depth;
    std::unique_ptr<Step> step = make_in_batch(std::span(block.ops).subspan(i), number);
    --depth;
    step->slices = slices_of(op);
    charge_shareds(run, op, *step);
    const auto add_stand_ins = [&](const std::vector<ValueId>& values, std::vector<ValueId>& found) {
      for (const ValueId v : values) {
        const ValueId memory = run.forms.memory_of(v);
        if (run.form.original(memory) != memory) found.push_back(memory);
      }
    };
    add_stand_ins(op.operands, step->reads_whole);
    add_stand_ins(op.results, step->makes_whole);
    if (op.code == OpCode::gather && !steps.empty() && is_product(run.module, *steps.back(), op)) {
      steps.back()->follower = step.get();
    }
    if (!steps.empty() && step->reads_whole.empty() && is_scatter_of(run.module, *steps.back(), op)) {
      step->leader = steps.back().get();
      step->leader->late = true;
    }
    all.push_back(step.get());
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace kasen::executor
