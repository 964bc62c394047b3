// Explains a plan by the user's source lines: each transition, split, moved statement, region and buffer. It states the
// rule and law by which each stands there, its cost, and the cost of the runner-up.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/cost/sizes.h"
#include "libopt/sync/plan_notes.h"

namespace kasen {

// Explains a module of level 2 or 3. If `sizes` is null, the text has formulas alone. `notes` holds the whole plan's
// cost in other modes, which is known only where the plan is made, or made again (replan.h). It may be null, and the
// text says so. The text ends with a line end.
[[nodiscard]] std::string explain_text(const Module& plan, const Sizes* sizes, const PlanNotes* notes,
                                       const MachineProfile& machine, LawChecker& laws);

}  // namespace kasen
