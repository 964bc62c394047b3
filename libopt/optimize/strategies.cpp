#include "libopt/optimize/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libopt/fusion/explore.h"
#include "libopt/fusion/from_module.h"
#include "libopt/fusion/partition.h"
#include "libopt/optimize/optimize.h"
#include "libopt/sync/plan_memo.h"

namespace kasen {
namespace {

// If prices are equal, the preferred strategy comes first.
constexpr std::array weighed_strategies{Strategy::greedy, Strategy::fuse_no_redundancy, Strategy::fuse_all,
                                        Strategy::mpskip, Strategy::none};

std::string milliseconds(const Price& price) { return fmt::format("{:.6g} ms", price.seconds * 1e3); }

const Price& price_of(const StrategyChoice& choice, Strategy strategy) {
  return std::find_if(choice.prices.begin(), choice.prices.end(),
                      [&](const StrategyPrice& priced) { return priced.strategy == strategy; })
      ->price.actual;
}

}  // namespace

StrategyChoice weigh_strategies(const Module& program, LawChecker& laws, const OptimizeOptions& options) {
  OptimizeOptions tried = quiet(options);
  tried.bounded = true;
  if (!tried.memo) tried.memo = std::make_shared<PlanMemo>();
  Pricing pricing(options.sizes, options.machine);
  StrategyChoice choice;
  choice.asked = options.strategy;
  for (const Strategy strategy : weighed_strategies) {
    tried.strategy = strategy;
    choice.prices.push_back({strategy, pricing(optimize(program, laws, tried))});
  }
  const StrategyPrice* best = choice.prices.data();
  for (const StrategyPrice& priced : choice.prices) {
    if (dearer(best->price.actual.seconds, priced.price.actual.seconds)) best = &priced;
  }
  choice.chosen = best->strategy;
  const bool decided = std::all_of(choice.prices.begin(), choice.prices.end(), [&](const StrategyPrice& priced) {
    return never_dearer(best->price.actual_form, priced.price.actual_form, options.machine);
  });
  if (!decided) choice.defaults = pricing.defaults();
  return choice;
}

Strategy automatic_strategy(const Module& program, const OptimizeOptions& options) {
  int operators = 0;
  for_each_op(program, [&](const Op&, int, int) { ++operators; });
  const bool meshed = names_layouts(program) || !options.mesh.empty() || options.mesh_workers > 0;
  return meshed || operators > most_automatic_operators ? Strategy::greedy : Strategy::cost;
}

Strategy runner_up(const StrategyChoice& choice) {
  const StrategyPrice* next = nullptr;
  for (const StrategyPrice& priced : choice.prices) {
    if (priced.strategy == choice.chosen) continue;
    if (next == nullptr || dearer(next->price.actual.seconds, priced.price.actual.seconds)) next = &priced;
  }
  return next->strategy;
}

double regret_of_greedy(const StrategyChoice& choice) {
  return price_of(choice, Strategy::greedy).seconds / price_of(choice, choice.chosen).seconds;
}

std::string strategies_text(const StrategyChoice& choice) {
  std::string text;
  for (const StrategyPrice& priced : choice.prices) {
    text += fmt::format("  {:<18} {}\n", strategy_name(priced.strategy), milliseconds(priced.price.actual));
  }
  const Price& best = price_of(choice, choice.chosen);
  const Strategy next = runner_up(choice);
  const Price& price = price_of(choice, next);
  text += fmt::format("  cost takes {}; the runner-up, {}, is {}\n", strategy_name(choice.chosen), strategy_name(next),
                      dearer(price.seconds, best.seconds) ? "predicted to take " + milliseconds(price)
                                                          : std::string("predicted to take the same"));
  if (choice.asked != Strategy::cost && choice.asked != choice.chosen) {
    text += fmt::format("  this plan is by --strategy {}, which was {}\n", strategy_name(choice.asked),
                        choice.other_sizes ? "cheapest with the sizes of its planning" : "asked for");
  }
  return text + fmt::format("  regret of the greedy plan: {:.4g} ({} by {})\n", regret_of_greedy(choice),
                            milliseconds(price_of(choice, Strategy::greedy)), milliseconds(best));
}

std::vector<PointsNote> materialization_points(const Module& placed, const Module& plan,
                                               const OptimizeOptions& options) {
  std::set<std::string> stored, inside;
  const auto collect = [&](const auto& self, const Block& block, bool in_region) -> void {
    for (const Op& op : block.ops) {
      for (const ValueId value : op.results) (in_region ? inside : stored).insert(plan.value(value).name);
      for (const Block& inner : op.blocks) self(self, inner, op.code == OpCode::region);
    }
  };
  collect(collect, plan.body, false);
  Pricing pricing(options.sizes, options.machine);
  std::vector<PointsNote> notes;
  for (const fusion::BlockDag& block : fusion::fusion_dags(placed, pricing.time_case(placed))) {
    PointsNote note{block.title, {}, {}};
    for (const fusion::Partition& partition : fusion::partitions(block.dag, fusion::explore(block.dag))) {
      for (const fusion::NodeId id : partition.shared) {
        const std::string& name = block.dag[id].name;
        if (stored.contains(name)) note.stored.push_back(name);
        if (inside.contains(name)) note.inside.push_back(name);
      }
    }
    notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace kasen
