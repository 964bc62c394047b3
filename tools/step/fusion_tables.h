// The tables of fused operators, in place of a plan: `kasen fuse --print-memo` and `--print-plans`.
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"
#include "libopt/sync/plan_notes.h"

namespace kasen::tools {

// For each block of the program that the fusing passes get: the memo table, or with `plans` the choice that selection
// makes of it. `json`: a report of the kind "memo" or "plans". `notes` gets the sizes that decided and nobody gave.
[[nodiscard]] std::string fusion_tables(const Module& module, LawChecker& laws, const OptimizeOptions& options,
                                        bool plans, bool json, PlanNotes& notes);

}  // namespace kasen::tools
