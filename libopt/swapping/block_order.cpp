#include "libopt/swapping/block_order.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "libopt/rewrite/rewrite.h"
#include "libopt/swapping/block_plan.h"
#include "libopt/swapping/operator_seconds.h"

namespace kasen::swapping {
namespace {

// Another order has to be better by more than rounding.
constexpr double better = 0.999;

struct Ordered {
  std::vector<std::size_t> operators;  // of the block, by their places before
  double seconds = 0, before = 0;      // before: of the given order; 0: it does not fit
};

class Orders {
 public:
  Orders(const Module& module, const std::function<Sizes(const Module&)>& sizes, std::int64_t memory,
         const MachineProfile& machine)
      : m_(module), memory_(memory), machine_(machine), sizes_(module, sizes), seconds_(module, sizes, machine) {}

  // Nothing: no order is better than the given one.
  [[nodiscard]] std::optional<Ordered> best(const Op* loop) const {
    const BlockGraph block(m_, loop, sizes_, [&](int number) { return seconds_.all(number); });
    const swap::TaskGraph& graph = block.graph();
    const auto planned = [&](const swap::Order& order) {
      return plan_block(block, order, memory_ - block.pinned(), loop == nullptr, machine_);
    };
    const std::optional<BlockPlan> given = planned(program_order(graph));
    if (given && given->swaps.moves.empty()) return std::nullopt;
    std::optional<Ordered> best;
    double least = given ? better * given->time.seconds : 0;
    for (const swap::Order& order : {depth_first(graph), least_live(graph)}) {
      const std::optional<BlockPlan> plan = planned(order);
      if (!plan || (least > 0 && plan->time.seconds >= least)) continue;
      least = plan->time.seconds;
      best = Ordered{block.operators(order), least, given ? given->time.seconds : 0};
    }
    return best;
  }

 private:
  const Module& m_;
  const std::int64_t memory_;
  const MachineProfile& machine_;
  const BufferSizes sizes_;
  const OperatorSeconds seconds_;
};

std::string told(const std::string& what, const Ordered& ordered) {
  const std::string before = ordered.before > 0
                                 ? fmt::format("would take {:.4g} ms in the given one", ordered.before * 1e3)
                                 : "does not fit in the given one";
  return fmt::format("the operators of {} are in another order, in which it takes {:.4g} ms; it {}", what,
                     ordered.seconds * 1e3, before);
}

void apply(Block& block, const std::vector<std::size_t>& operators) {
  std::vector<Op> ops;
  for (const std::size_t op : operators) ops.push_back(std::move(block.ops.at(op)));
  block.ops = std::move(ops);
}

}  // namespace

std::vector<std::string> reorder(Module& module, const std::function<Sizes(const Module&)>& sizes, std::int64_t memory,
                                 const MachineProfile& machine, const std::function<void(Module&)>& assign) {
  std::vector<std::string> notes;
  const auto order = [&](Op* loop) {
    const std::optional<Ordered> best = Orders(module, sizes, memory, machine).best(loop);
    if (!best) return;
    const std::string what = loop == nullptr ? "the program"
                             : loop->where.line > 0
                                 ? fmt::format("an iteration of the loop at line {}", loop->where.line)
                                 : "an iteration of a loop";
    apply(loop == nullptr ? module.body : loop->blocks.at(0), best->operators);
    notes.push_back(told(what, *best));
  };
  for (Op& op : module.body.ops) {
    if (is_loop(op)) order(&op);
  }
  if (!notes.empty()) assign(module);
  const std::size_t loops = notes.size();
  order(nullptr);
  if (notes.size() > loops) assign(module);
  return notes;
}

}  // namespace kasen::swapping
