// Compares fusion strategies by the price of the plans that they make. This gives the choice of `--strategy cost`, and
// the distance of the greedy plan from it.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/sync/plan_notes.h"

namespace kasen {

// Plans the program by each strategy and prices every whole plan by the actual column. It chooses the cheapest; of
// equal ones greedy, then the first.
[[nodiscard]] StrategyChoice weigh_strategies(const Module& program, LawChecker& laws, const OptimizeOptions& options);

// Returns cost where planning by every strategy takes well under 0.2 s: for programs of at most
// `most_automatic_operators` operators. Else, and over a mesh, greedy.
inline constexpr int most_automatic_operators = 300;
[[nodiscard]] Strategy automatic_strategy(const Module& program, const OptimizeOptions& options);

// The cheapest of the strategies that were not chosen.
[[nodiscard]] Strategy runner_up(const StrategyChoice& choice);
// The predicted time of the greedy plan over that of the chosen one.
[[nodiscard]] double regret_of_greedy(const StrategyChoice& choice);
// Returns "regret of the greedy plan: 1.02 (...)", with the prices, the choice and the runner-up.
[[nodiscard]] std::string strategies_text(const StrategyChoice& choice);

// Returns the values that several operators read, or at which operators may end (partition.h), and where `plan` has
// them. `placed` is the result of before_fusing for its program.
[[nodiscard]] std::vector<PointsNote> materialization_points(const Module& placed, const Module& plan,
                                                             const OptimizeOptions& options);

}  // namespace kasen
