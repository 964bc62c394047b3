// The optimizer: the passes of passes.def in order, each verified, timed and named when it breaks a rule.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"

namespace kasen {

// A level 1 module to a level 3 plan. Throws UserError for a program that breaks a rule, InternalError naming the pass
// that broke one.
[[nodiscard]] Module optimize(Module module, LawChecker& laws, const OptimizeOptions& options);

// The named passes alone, in the order given, each verified: whatever the strategy, on any module of a level that they
// take. Throws UserError: usage (no such pass), bad_input (another level; a program that breaks a rule).
[[nodiscard]] Module run_passes(Module module, LawChecker& laws, const OptimizeOptions& options,
                                const std::vector<std::string>& names);

// The module as the first pass that forms regions finds it: placed, with what the strategy moves before. One that holds
// regions already is returned as it is.
[[nodiscard]] Module before_fusing(Module module, LawChecker& laws, const OptimizeOptions& options);

}  // namespace kasen
