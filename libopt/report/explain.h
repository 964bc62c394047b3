// Why a plan is as it is, by the user's source lines: each transition, split, moved statement, region and buffer, by
// which rule and law it stands there, what it costs, and what the runner-up would have cost.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/cost/sizes.h"
#include "libopt/sync/plan_notes.h"

namespace kasen {

// Of a module of level 2 or 3. `sizes` may be null: then formulas alone. `notes` may be null: what the whole plan would
// cost in other modes is known where it is made, or made again (replan.h); the text says so. Ends with a line end.
[[nodiscard]] std::string explain_text(const Module& plan, const Sizes* sizes, const PlanNotes* notes,
                                       const MachineProfile& machine, LawChecker& laws);

}  // namespace kasen
