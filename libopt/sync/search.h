// Chooses the way of placing transitions for each unit of a program (units.h): the forced one, or the one with the
// cheapest whole plan. In each way, operands of products with one matrix have common ghosts if that makes the plan
// cheaper. More is sent then, and the matrix is read once for all of them.
#pragma once

#include <vector>

#include "libopt/options/pass.h"
#include "libopt/sync/placer.h"

namespace kasen {

// Returns the modes by value of the level 1 module. SyncMode::automatic plans and prices every combination to the end,
// if there are at most `most_combinations` of at most `most_operators` together. Otherwise the best uniform way is
// improved unit by unit until nothing gets cheaper, or plans of so many operators together are priced, as the greedy
// strategy fuses them. So are combinations of more than `most_of_any_strategy` together. Equal prices prefer hybrid,
// then eager. Fills in context.options.notes if it is set.
inline constexpr int most_combinations = 27;
inline constexpr int most_operators = 10'000;  // operators of the program, once for each combination
// Up to so many, the combinations are weighed by plans of the strategy asked for. Beyond, by greedy's.
inline constexpr int most_of_any_strategy = 2'000;
[[nodiscard]] Placement choose_sync(const Module& module, PassContext& context);

}  // namespace kasen
