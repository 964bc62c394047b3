// Which way of placing transitions each unit of a program gets (units.h): the one that is forced, or the one with
// which the whole plan is cheapest. With each way, operands of products with one matrix have their slaves in common
// where that makes the plan cheaper: more is sent, and the matrix is read once for all of them.
#pragma once

#include <vector>

#include "libopt/options/pass.h"
#include "libopt/sync/placer.h"

namespace kasen {

// By value of the level 1 module. With SyncMode::automatic every combination is planned to the end and priced while
// there are at most `most_combinations`, and they come to at most `most_operators`; else the best uniform way is
// improved unit by unit until nothing gets cheaper. Equal prices prefer hybrid, then eager. Fills in
// context.options.notes, if there are any.
inline constexpr int most_combinations = 27;
inline constexpr int most_operators = 10'000;  // of the program, once for each combination
[[nodiscard]] Placement choose_sync(const Module& module, PassContext& context);

[[nodiscard]] std::string_view sync_name(SyncMode mode);

}  // namespace kasen
