// What the optimizer weighed when it made a plan, found again from the plan alone: it carries the program's source.
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
  OptimizeOptions options;  // with which the plan comes out; notes, sizes and printing left out
  PlanNotes notes;          // what was weighed, with the sizes and the machine at hand
};

// The level 1 module that a plan was made of, from the source that it carries (its consts and the defaults of its
// params put in). Nothing where it carries none, or one that says something else by now.
[[nodiscard]] std::optional<Module> program_of(const Module& plan);

// Compiles the plan's source (its consts and the defaults of its params put in) and plans it in every way that
// `kasen fuse` offers until this very plan comes out, letter by letter. Nothing where none does: the plan was edited,
// or chosen by cost with other sizes.
[[nodiscard]] std::optional<Replanned> plan_again(const Module& plan, LawChecker& laws,
                                                  const std::function<Sizes(const Module&)>& sizes,
                                                  const MachineProfile& machine);

}  // namespace kasen
