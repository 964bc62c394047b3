// What kasen fuse chose, in JSON.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/json/text.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"
#include "libopt/sync/plan_notes.h"

namespace kasen::tools {

struct FuseReport {
  std::string strategy;               // that had an effect
  std::string sync;                   // as it was asked for
  std::vector<std::string> observed;  // sizes of an earlier run
  std::string output;                 // the file of the plan
  bool explains = false;
  Json tilings;  // how arrays are cut, where a plan over a mesh is explained; else null
};

// A report of the kind "fusion", with the plan's costs by the sizes and the machine of `options`.
[[nodiscard]] std::string fuse_document(const Module& plan, const FuseReport& report, const PlanNotes& notes,
                                        const OptimizeOptions& options, LawChecker& laws);
// The passes in their order: a report of the kind "passes".
[[nodiscard]] std::string passes_document();

}  // namespace kasen::tools
