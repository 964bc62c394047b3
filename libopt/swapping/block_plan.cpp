#include "libopt/swapping/block_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "libopt/swap/classes.h"

namespace kasen::swapping {
namespace {

// Each kind of buffers by itself: how many each has, and how eagerly arrays leave.
class Search {
 public:
  Search(const swap::TaskGraph& graph, swap::Order order, std::int64_t capacity, bool once, const swap::Links& links)
      : graph_(graph), sizes_(graph), order_(std::move(order)), capacity_(capacity), links_(links) {
    options_.once = once;
    for (std::size_t size = 0; size < sizes_.count(); ++size) classes_.push_back(static_cast<int>(size));
    least_ = least_counts(graph, sizes_, classes_);
    most_ = most_counts(graph, sizes_, classes_, order_);
  }

  [[nodiscard]] std::optional<BlockPlan> run() {
    swap::Allocation shared{classes_, most_};
    if (!fit(sizes_, shared, least_, capacity_)) return std::nullopt;
    fill(sizes_, shared, most_, capacity_);
    try_all(shared.counts);
    for (std::size_t giver = 0; giver < most_.size(); ++giver) {  // one kind alone has less than it could use
      swap::Counts counts = most_;
      if (take_from(giver, counts)) try_all(counts);
    }
    improve();
    return std::move(best_);
  }

 private:
  void try_all(const swap::Counts& counts) {
    constexpr std::array<std::pair<int, int>, 6> ways{{{2, 0}, {0, 0}, {1, 0}, {4, 0}, {2, 4}, {0, 4}}};
    for (const auto& [threshold, reluctance] : ways) {
      swap::PlanOptions options = options_;
      options.threshold = threshold;
      options.reluctance = reluctance;
      if (is_better(counts, options)) options_ = options;
    }
  }

  // Tries these counts; true if they give the best plan so far.
  bool is_better(const swap::Counts& counts, const swap::PlanOptions& options) {
    BlockPlan plan;
    if (!make_plan(graph_, sizes_, order_, {classes_, counts}, options, plan.swaps)) return false;
    plan.time = simulate(graph_, plan.swaps, links_);
    if (best_ && plan.time.seconds >= best_->time.seconds) return false;
    best_ = std::move(plan);
    return true;
  }

  // Takes objects of a kind away until all fit; false if it needs more.
  [[nodiscard]] bool take_from(std::size_t giver, swap::Counts& counts) const {
    while (counts[giver] > least_[giver] && swap::memory(sizes_, {classes_, counts}) > capacity_) --counts[giver];
    return swap::memory(sizes_, {classes_, counts}) <= capacity_;
  }

  // Gives one kind an object more, as long as that helps.
  void improve() {
    constexpr int most_tries = 64;
    int tries = 0;
    for (bool better = true; better && best_;) {
      better = false;
      for (std::size_t taker = 0; taker < most_.size() && !better; ++taker) {
        for (std::size_t giver = 0; giver < most_.size() && !better && tries < most_tries; ++giver) {
          swap::Counts counts = best_->swaps.allocation.counts;
          if (giver == taker || ++counts[taker] > most_[taker] || !take_from(giver, counts)) continue;
          ++tries;
          better = is_better(counts, options_);
        }
      }
    }
  }

  const swap::TaskGraph& graph_;
  const swap::Sizes sizes_;
  const swap::Order order_;
  const std::int64_t capacity_;
  const swap::Links links_;
  swap::PlanOptions options_;
  swap::Classes classes_;
  swap::Counts least_, most_;
  std::optional<BlockPlan> best_;
};

std::int64_t scaled(std::int64_t capacity, std::int64_t scale) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return capacity < most / scale - 1 ? capacity * scale + scale - 1 : most;
}

std::string duration(double seconds) { return fmt::format("{:.4g} ms", seconds * 1e3); }

// What moves: the value that the array had when it was stored.
std::string moved_name(const BlockGraph& block, const BlockPlan& plan, const swap::Move& move) {
  const swap::Move& out =
      move.in && move.content >= 0 ? plan.swaps.moves[static_cast<std::size_t>(move.content)] : move;
  const int task =
      out.in || out.after_task < 0 ? -1 : static_cast<int>(plan.swaps.order[static_cast<std::size_t>(out.after_task)]);
  return block.name_behind(move.tensor, task);
}

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

std::optional<BlockPlan> plan_block(const BlockGraph& block, const swap::Order& order, std::int64_t capacity, bool once,
                                    const MachineProfile& machine) {
  if (block.graph().tensors().size() == 0 || capacity <= 0) return std::nullopt;
  const auto scale = static_cast<double>(block.scale());
  const double in = machine.disk_read_bandwidth * scale, out = machine.disk_write_bandwidth * scale;
  return Search(block.graph(), order, scaled(capacity, block.scale()), once, {in, out, std::max(in, out)}).run();
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
    lines.push_back(fmt::format("{} %{}: {} bytes, {}, {}; {} {}", move.in ? "load" : "store",
                                moved_name(block, plan, move), tensor.bytes / block.scale(),
                                duration(span.end - span.begin), beside(block, plan, span), needed,
                                move.in ? "reads it" : "needs the room"));
  }
  return lines;
}

}  // namespace kasen::swapping
