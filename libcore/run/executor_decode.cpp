// Decoding: one step for each operator of the plan, with what it has to know of its neighbours.
#include <algorithm>
#include <iterator>

#include "libcore/analysis/mesh_rules.h"
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
  if (is_slice(op) || op.code == OpCode::batch) found.push_back(&op);
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
    case OpGroup::join:
      return make_join_step(run, op, number);
    case OpGroup::contraction:
      throw InternalError("a contraction that is no product");
    case OpGroup::axis:
      if (const Op& of_plan = *planned.at(static_cast<size_t>(number)); sorts_across(run.plan, of_plan)) {
        return make_sort_step(run, op, of_plan, number);
      }
      return make_axis_step(run, op, *planned.at(static_cast<size_t>(number)), number);
    case OpGroup::linear:
      return make_linear_step(run, op, *planned.at(static_cast<size_t>(number)), number);
    case OpGroup::shared:
      return op.code == OpCode::apply ? make_apply_step(run, op, number) : make_single_step(op, number);
    case OpGroup::transition:
      if (!run.forms.are_boxes()) return make_transition_step(run, op, number);
      return make_box_transition(run, op, *planned.at(static_cast<size_t>(number)), number);
    case OpGroup::tier:
      return make_tier_step(op, number);
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
  if (is_blocks(op)) return make_blocks_step(run, op, *planned.at(static_cast<size_t>(number)), number);
  if (is_rows(op)) return make_rows_step(run, matrices, op, number);
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
  const std::span<const Op> batch = ahead.first(planned_batch.size());
  std::unique_ptr<Step> step = make_batch_step(run, batch, batches.is_paired(planned_batch), number);
  step->together = batch;
  return step;
}

Sequence Decoder::decode(const Block& block) {
  Sequence sequence;
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const Op& op = block.ops[i];
    const int number = next++;
    std::unique_ptr<Step> step = make_in_batch(std::span(block.ops).subspan(i), number);
    step->slices = slices_of(op);
    step->in_loop = loops > 0;
    charge_shareds(run, op, *step);
    const auto add_stand_ins = [&](const std::vector<ValueId>& values, std::vector<ValueId>& found) {
      for (const ValueId v : values) {
        const ValueId memory = run.forms.memory_of(v);
        if (run.form.original(memory) != memory) found.push_back(memory);
      }
    };
    add_stand_ins(op.operands, step->reads_whole);
    add_stand_ins(op.results, step->makes_whole);
    all.push_back(step.get());
    sequence.steps.push_back(std::move(step));
  }
  add_lines(block, sequence);
  return sequence;
}

// Memory is made and matrices are formed before the first line. A block's end is counted like an operator.
void Decoder::add_lines(const Block& block, Sequence& sequence) const {
  std::vector<Line>& lines = sequence.lines;
  std::vector<std::ptrdiff_t> last(block.ops.size(), -1);  // line, by operator
  const auto add = [&](LineAct act, LineRows rows, int op, int number) {
    const auto at = static_cast<size_t>(op);
    const bool first = last[at] < 0;
    if (!first) lines[static_cast<size_t>(last[at])].last = false;
    last[at] = std::ssize(lines);
    lines.push_back({act, rows, sequence.steps[at].get(), -1, first, true, number, -1});
  };
  for (const ScheduleLine& line : block.schedule) {
    const int number = numbers.at(&line);
    if (line.kind == LineKind::free) lines.push_back({LineAct::free, LineRows::all, nullptr, line.form, true, true});
    if (line.kind == LineKind::move) sequence.move = number;
    if (line.kind == LineKind::copy) sequence.copy = number;
    if (line.op < 0) continue;
    const bool adjacent = !lines.empty() && lines.back().act == LineAct::start &&
                          lines.back().step == sequence.steps[static_cast<size_t>(line.op)].get();
    if (line.kind == LineKind::wait && adjacent) {
      lines.back().act = LineAct::exchange;
      lines.back().wait = number;
    } else {
      add(line.kind == LineKind::run     ? LineAct::run
          : line.kind == LineKind::start ? LineAct::start
                                         : LineAct::wait,
          line.rows, line.op, number);
    }
    if (line.kind != LineKind::wait) continue;
    for (int member = 1; member < line.count; ++member) add(LineAct::run, LineRows::all, line.op + member, -1);
  }
  if (!block.ops.empty() && block.ops.back().code == OpCode::yield) {
    add(LineAct::run, LineRows::all, static_cast<int>(block.ops.size()) - 1, -1);
  }
}

}  // namespace kasen::executor
