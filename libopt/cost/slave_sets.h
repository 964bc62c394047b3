// The sets of ghosts for which a module's sizes are needed. Internal to libopt.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// Returns the sets that matter to the module, with their dimensions. An empty set is the paper's union.
[[nodiscard]] std::vector<std::pair<std::string, SlaveSet>> slave_sets(const Module& module);

}  // namespace kasen
