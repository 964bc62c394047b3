// Finds the alternatives again that the optimizer weighed for a plan. The plan alone is enough: it carries the
// program's source.
#pragma once

#include <functional>
#include <optional>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/cost/sizes.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/machine.h"

namespace kasen {

struct Replanned {
  OptimizeOptions options;  // the options that give the plan; notes, sizes and printing are left out
  PlanNotes notes;          // the alternatives that were weighed, with the sizes and the machine at hand
};

// Returns the level 1 module of a plan, made from the source that the plan carries, with its consts and the defaults of
// its params put in. Returns nothing if the plan carries no source, or one that states something else by now.
[[nodiscard]] std::optional<Module> program_of(const Module& plan);

// Compiles the plan's source (with its consts and the defaults of its params put in). Plans it in every way that `kasen
// fuse` offers until this very plan comes out, letter by letter. Returns nothing if none does: the plan was edited, or
// chosen by cost with other sizes.
[[nodiscard]] std::optional<Replanned> plan_again(const Module& plan, LawChecker& laws,
                                                  const std::function<Sizes(const Module&)>& sizes,
                                                  const MachineProfile& machine);

}  // namespace kasen
