// Finds the alternatives again that the optimizer weighed for a plan, by the options that the plan records.
#pragma once

#include <functional>
#include <optional>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/cost/sizes.h"
#include "libopt/options/record.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/machine.h"

namespace kasen {

struct Replanned {
  PlanRecord record;
  PlanNotes notes;  // the alternatives that were weighed, with the sizes and the machine at hand
};

// Makes `plan` again of `program`, its level 1 module (program_of), by the options that it records. Returns nothing if
// it records none, or if they give another plan: the plan was edited, or chosen by cost with other sizes.
[[nodiscard]] std::optional<Replanned> plan_again(const Module& plan, const Module& program, LawChecker& laws,
                                                  const std::function<Sizes(const Module&)>& sizes,
                                                  const MachineProfile& machine);

}  // namespace kasen
