// Why: a plan whose buffers take more memory than there is would not run, though no operator needs all of them at once.
// Arrays leave for a disk where others need their room, and come back before they are read (SwapAdvisor: Huang, thesis,
// section 4.3). The naive way stores what was used longest ago; the planner (libopt/swap) takes what is needed latest,
// drops what the disk still has, and finds which arrays of a loop stay over its iterations. Operators are put into
// another order if that leaves less to move. Loops that do not fit are planned by themselves, then the program around
// them. Moves end where the memory that they leave is written again, so buffers are assigned anew, and say whether all
// fits. Requires level 3; keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/tiers.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/assign_buffers.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/swapping/block_order.h"
#include "libopt/swapping/block_plan.h"
#include "libopt/swapping/operator_seconds.h"
#include "libopt/swapping/predicted_timeline.h"
#include "libopt/swapping/write_moves.h"
#include "libopt/sync/plan_notes.h"

namespace kasen {
namespace {

using swapping::BlockGraph;
using swapping::BlockPlan;
using swapping::BufferSizes;
using swapping::OperatorSeconds;

struct Swapped {
  Module plan;
  std::int64_t pool = 0;
  std::vector<std::string> notes;
};

class Swapper {
 public:
  Swapper(const Module& module, PassContext& context) : given_(module), context_(context) {
    const BufferSizes sizes(module, context.options.sizes);
    smallest_ = sizes.pool();
    for (const BufferId b : module.buffers.ids()) {
      if (sizes.bytes(b) > 0) smallest_ = std::min(smallest_, sizes.bytes(b));
    }
  }

  // With buffers of so many bytes; nothing if that was not found.
  [[nodiscard]] std::optional<Swapped> fit(std::int64_t memory, int tries) {
    std::int64_t aim = memory;
    for (int i = 0; i < tries && aim > 0; ++i) {
      std::optional<Swapped> made = attempt(aim);
      if (!made) return std::nullopt;
      if (made->pool <= memory) return made;
      aim -= std::min(made->pool - memory,
                      std::max<std::int64_t>(1, smallest_ / 4));  // arrays could not be packed as the planner thought
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Swapped> attempt(std::int64_t aim) {
    Swapped made{given_, 0, {}};
    if (whole_program(made, aim)) return made;
    made = {given_, 0, {}};
    for (std::size_t at = 0; at < made.plan.body.ops.size(); ++at) {
      if (is_loop(made.plan.body.ops[at])) at += loop(made, at, aim);
    }
    if (made.notes.empty()) return std::nullopt;
    measure_pool(made);
    if (made.pool > aim) (void)whole_program(made, aim);
    return made;
  }

  [[nodiscard]] bool whole_program(Swapped& made, std::int64_t aim) {
    const Module before = made.plan;
    const BufferSizes sizes(before, context_.options.sizes);
    const OperatorSeconds seconds(before, context_.options.sizes, context_.options.machine);
    const BlockGraph block(before, nullptr, sizes, [&](int number) { return seconds.all(number); });
    const std::optional<BlockPlan> plan = planned(block, aim, true);
    if (!plan) return false;
    swapping::write_program(made.plan, block, *plan);
    note(made, "the program", block, *plan, aim, true);
    measure_pool(made);
    return true;
  }

  // Returns how many operators stand before the loop from now on that did not.
  [[nodiscard]] std::size_t loop(Swapped& made, std::size_t at, std::int64_t aim) {
    const Module before = made.plan;
    const BufferSizes sizes(before, context_.options.sizes);
    const OperatorSeconds seconds(before, context_.options.sizes, context_.options.machine);
    const BlockGraph block(before, &before.body.ops[at], sizes, [&](int number) { return seconds.all(number); });
    const std::optional<BlockPlan> plan = planned(block, aim, false);
    if (!plan || plan->swaps.moves.empty()) return 0;
    swapping::write_loop(made.plan, at, block, *plan);
    note(made, "an iteration", block, *plan, aim, false);
    measure_pool(made);
    std::size_t there = at;
    while (made.plan.body.ops[there].code != before.body.ops[at].code || !swaps(made.plan.body.ops[there])) ++there;
    return there - at;
  }

  [[nodiscard]] std::optional<BlockPlan> planned(const BlockGraph& block, std::int64_t memory, bool once) const {
    return swapping::plan_block(block, program_order(block.graph()), memory - block.pinned(), once,
                                context_.options.machine);
  }

  static bool swaps(const Op& op) {
    return std::any_of(op.blocks.begin(), op.blocks.end(), [](const Block& block) {
      return std::any_of(block.ops.begin(), block.ops.end(), [](const Op& inner) { return moves_tier(inner); });
    });
  }

  void note(Swapped& made, const std::string& what, const BlockGraph& block, const BlockPlan& plan, std::int64_t aim,
            bool once) const {
    const std::optional<BlockPlan> more = planned(block, aim + aim / 10, once);
    made.notes.push_back(fmt::format(
        "{} takes {:.4g} ms, of which operators run {:.4g}; with 10 % more memory {:.4g} ms", what,
        plan.time.seconds * 1e3, plan.time.computing * 1e3, (more ? more->time.seconds : plan.time.seconds) * 1e3));
    for (const std::string& line : explain_moves(block, plan)) made.notes.push_back("  " + line);
  }

  void measure_pool(Swapped& made) {
    compact_values(made.plan);
    (void)pass_buffers(made.plan, context_);
    made.pool = BufferSizes(made.plan, context_.options.sizes).pool();
  }

  const Module& given_;
  PassContext& context_;
  std::int64_t smallest_ = 1;  // bytes of a buffer
};

double seconds_of(const Module& plan, const PassContext& context) {
  constexpr double iterations = 10;  // of each loop: none of what is compared changes their number
  return swapping::predicted_timeline(plan, context.options.sizes, context.options.machine,
                                      [](int) { return iterations; })
      .timeline.seconds;
}

// With the operators in another order, if that is better.
std::optional<Swapped> fit(const Module& given, PassContext& context, std::int64_t memory, int tries) {
  std::optional<Swapped> made = Swapper(given, context).fit(memory, tries);
  Module other = given;
  const auto assign = [&](Module& module) {
    compact_values(module);
    (void)pass_buffers(module, context);
  };
  std::vector<std::string> notes =
      swapping::reorder(other, context.options.sizes, memory, context.options.machine, assign);
  if (notes.empty()) return made;
  std::optional<Swapped> ordered;
  const std::int64_t pool = BufferSizes(other, context.options.sizes).pool();
  if (pool <= memory) {
    ordered = Swapped{std::move(other), pool, {}};
  } else {
    ordered = Swapper(other, context).fit(memory, tries);
  }
  if (!ordered || (made && seconds_of(ordered->plan, context) >= seconds_of(made->plan, context))) return made;
  ordered->notes.insert(ordered->notes.begin(), notes.begin(), notes.end());
  return ordered;
}

// Buffers that do not wait for stores, if they take no more.
void keep_from_stores(Module& plan, const PassContext& context, std::int64_t memory) {
  if (!uses_disk(plan)) return;
  Module other = plan;
  (void)assign_buffers(other, BufferChoice::away_from_stores);
  if (BufferSizes(other, context.options.sizes).pool() <= memory) plan = std::move(other);
}

// Some bytes with which it was found to run, not many more than the fewest.
std::int64_t enough_memory(const Module& given, PassContext& context, std::int64_t too_little, std::int64_t enough) {
  while (enough - too_little > enough / 64 + 1) {
    const std::int64_t middle = too_little + (enough - too_little) / 2;
    (fit(given, context, middle, 16) ? enough : too_little) = middle;
  }
  return enough;
}

}  // namespace

bool pass_swap(Module& module, PassContext& context) {
  const std::int64_t memory = context.options.swap_memory;
  if (memory <= 0 || uses_disk(module) || module.buffers.empty()) return false;
  const std::int64_t pool = BufferSizes(module, context.options.sizes).pool();
  if (pool <= memory) return false;
  if (observes(module)) {
    fail(ExitStatus::limit, fmt::format("the plan's buffers take {} bytes on a worker, {} are allowed", pool, memory),
         "the run finds the size of a dimension, and such plans store nothing", "allow as much, or use more workers");
  }
  const Module given = module;
  std::optional<Swapped> made = fit(given, context, memory, 24);
  if (!made) {
    fail(ExitStatus::limit, fmt::format("the plan's buffers do not fit into {} bytes on a worker", memory),
         fmt::format("they take {}, and {} are enough with stores and loads", pool,
                     enough_memory(given, context, memory, pool)),
         "allow as much, or use more workers");
  }
  keep_from_stores(made->plan, context, memory);
  made->plan.memory = memory;
  if (context.options.notes != nullptr) context.options.notes->swaps = std::move(made->notes);
  module = std::move(made->plan);
  return true;
}

}  // namespace kasen
