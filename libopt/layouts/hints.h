// What the user says about layouts over a mesh of workers.
#pragma once

#include <map>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/layouts/cut_rules.h"
#include "libopt/options/options.h"

namespace kasen {

// UserError (bad_input) for inputs that no mesh takes. `asked`: with --mesh; else the module has contractions.
void require_dense(const Module& module, bool asked);

// The cuts of inputs and outputs that the hints name. The module has its mesh. UserError (usage) for a hint that does
// not fit.
[[nodiscard]] std::map<ValueId, Cuts> asked_layouts(const Module& module, const std::vector<LayoutHint>& hints);

}  // namespace kasen
