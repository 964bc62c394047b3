// Ranges of reducers: laws that do not hold of all numbers may hold of those that reach a reducer in this program
// (counts that are positive, for example). They are found in the program as it was lowered, which is then lowered
// again.
#pragma once

#include <map>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen::lang {

struct ReducerRange {
  ScalarFunction reducer;  // as it declares nothing
  ElementRange range;      // of both parameters, and so of its result
};
using ReducerRanges = std::vector<ReducerRange>;

// The same function without declared ranges.
[[nodiscard]] ScalarFunction without_ranges(ScalarFunction fn);

// Learns from a module that declares the ranges learned so far. `masked`: what the reducers are without the presence
// mask that they were given. False if nothing is to be changed.
[[nodiscard]] bool learn_ranges(const Module& module, const std::map<FnId, ScalarFunction>& masked,
                                ReducerRanges& ranges);

}  // namespace kasen::lang
