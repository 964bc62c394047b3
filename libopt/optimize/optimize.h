/// \file
/// The optimizer: the passes of passes.def in order. Each is verified and timed, and an error names the pass that
/// breaks a rule.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"

namespace kasen {

/// Makes a level 3 plan of a level 1 module. Throws UserError for a program that breaks a rule, and InternalError with
/// the name of a pass that broke one.
[[nodiscard]] Module optimize(Module module, LawChecker& laws, const OptimizeOptions& options);

/// Makes the plan of a level 1 module by exactly these options. Nothing is given up or chosen by cost, but for what
/// `sync` and `epilogue_by_size` leave to a choice.
[[nodiscard]] Module optimize_exactly(Module module, LawChecker& laws, const OptimizeOptions& options);

/// Runs the named passes alone, in the order given, and verifies each. They run for any strategy, on any module of a
/// level that they take. Throws UserError: usage (no such pass), bad_input (another level; a program that breaks a
/// rule).
[[nodiscard]] Module run_passes(Module module, LawChecker& laws, const OptimizeOptions& options,
                                const std::vector<std::string>& names);

/// Returns the module as the first pass that forms regions finds it: placed, and with the moves of the strategy. A
/// module that already holds regions is returned as it is.
[[nodiscard]] Module before_fusing(Module module, LawChecker& laws, const OptimizeOptions& options);

/// Returns the module as the pass that cuts arrays over a mesh finds it.
[[nodiscard]] Module before_tiling(Module module, LawChecker& laws, const OptimizeOptions& options);

}  // namespace kasen
