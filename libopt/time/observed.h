// What an earlier run of the same program counted, and its text does not tell: iterations of loops, branches taken, and
// the sizes of the data (docs/cost.md, "Numbers of an earlier run").
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"
#include "libopt/time/run_report.h"

namespace kasen {

// Throws UserError(bad_input) if the counters, read from `file`, are of another program than this module's, or of
// another version of its source.
void require_run_of(const Module& module, const RunReport& run, const std::string& file);

// Adds the counted numbers that `sizes` lacks. `plan` is of that program, at any level. A loop has its mean number of
// iterations, at least 1; an `if` takes the branch that ran more often. Returns what was added, as "trips@7 = 57".
std::vector<std::string> add_observed(const Module& plan, const RunReport& run, Sizes& sizes);

}  // namespace kasen
