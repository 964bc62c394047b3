// Ranges of reducers. A law may fail for some numbers and still hold for those that reach a reducer in this program
// (counts that are positive, for example). The ranges are found in the lowered program, which is then lowered again.
#pragma once

#include <map>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen::lang {

struct ReducerRange {
  ScalarFunction reducer;  // without declared ranges
  ElementRange range;      // of both parameters, and so of its result
};
using ReducerRanges = std::vector<ReducerRange>;

// The same function without declared ranges.
[[nodiscard]] ScalarFunction without_ranges(ScalarFunction fn);

// Learns from a module that declares the ranges learned so far. `masked` has the reducers as they were before they got
// their presence mask. False if nothing changes.
[[nodiscard]] bool learn_ranges(const Module& module, const std::map<FnId, ScalarFunction>& masked,
                                ReducerRanges& ranges);

}  // namespace kasen::lang
