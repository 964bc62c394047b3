#include "libopt/swapping/block_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "libopt/swap/classes.h"

namespace kasen::swapping {
namespace {

// Each kind of buffers by itself: the first has the counts that the order could use, as far as memory goes.
std::optional<swap::Allocation> allocate(const swap::TaskGraph& graph, const swap::Sizes& sizes,
                                         const swap::Order& order, std::int64_t capacity) {
  swap::Allocation allocation;
  for (std::size_t size = 0; size < sizes.count(); ++size) allocation.classes.push_back(static_cast<int>(size));
  const swap::Counts least = least_counts(graph, sizes, allocation.classes);
  const swap::Counts most = most_counts(graph, sizes, allocation.classes, order);
  allocation.counts = most;
  if (!fit(sizes, allocation, least, capacity)) return std::nullopt;
  fill(sizes, allocation, most, capacity);
  return allocation;
}

std::int64_t scaled(std::int64_t capacity, std::int64_t scale) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return capacity < most / scale - 1 ? capacity * scale + scale - 1 : most;
}

std::string duration(double seconds) { return fmt::format("{:.4g} ms", seconds * 1e3); }

// The tasks that run while a move does.
std::string beside(const BlockGraph& block, const BlockPlan& plan, const swap::Span& move) {
  const auto name = [&](std::size_t at) { return block.graph().tasks()[plan.swaps.order[at]].name; };
  std::optional<std::size_t> first, last;
  for (std::size_t at = 0; at < plan.time.tasks.size(); ++at) {
    const swap::Span& task = plan.time.tasks[at];
    if (task.end <= move.begin || task.begin >= move.end) continue;
    if (!first) first = at;
    last = at;
  }
  if (!first) return "beside no operator";
  return *first == *last ? "beside " + name(*first) : fmt::format("beside {} to {}", name(*first), name(*last));
}

}  // namespace

std::optional<BlockPlan> plan_block(const BlockGraph& block, std::int64_t capacity, bool once,
                                    const MachineProfile& machine) {
  const swap::TaskGraph& graph = block.graph();
  if (graph.tensors().size() == 0 || capacity <= 0) return std::nullopt;
  const swap::Sizes sizes(graph);
  const swap::Order order = program_order(graph);
  const auto allocation = allocate(graph, sizes, order, scaled(capacity, block.scale()));
  if (!allocation) return std::nullopt;
  const auto scale = static_cast<double>(block.scale());
  const double in = machine.disk_read_bandwidth * scale, out = machine.disk_write_bandwidth * scale;
  const swap::Links links{in, out, std::max(in, out)};
  std::optional<BlockPlan> best;
  constexpr std::array<std::pair<int, int>, 6> ways{{{2, 0}, {0, 0}, {1, 0}, {4, 0}, {2, 4}, {0, 4}}};
  for (const auto& [threshold, reluctance] : ways) {
    BlockPlan plan;
    const swap::PlanOptions options{.threshold = threshold, .reluctance = reluctance, .once = once};
    if (!make_plan(graph, sizes, order, *allocation, options, plan.swaps)) continue;
    plan.time = simulate(graph, plan.swaps, links);
    if (!best || plan.time.seconds < best->time.seconds) best = std::move(plan);
  }
  return best;
}

std::vector<std::string> explain_moves(const BlockGraph& block, const BlockPlan& plan) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.swaps.moves.size(); ++i) {
    const swap::Move& move = plan.swaps.moves[i];
    const swap::Tensor& tensor = block.graph().tensors()[move.tensor];
    const swap::Span& span = plan.time.moves[i];
    const std::string needed =
        move.before_task < 0 ? "the end of the iteration"
                             : block.graph().tasks()[plan.swaps.order[static_cast<std::size_t>(move.before_task)]].name;
    lines.push_back(fmt::format("{} %{}: {} bytes, {}, {}; {} {}", move.in ? "load" : "store", tensor.name,
                                tensor.bytes / block.scale(), duration(span.end - span.begin),
                                beside(block, plan, span), needed, move.in ? "reads it" : "needs the room"));
  }
  return lines;
}

}  // namespace kasen::swapping
