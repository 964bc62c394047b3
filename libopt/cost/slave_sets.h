// Which sets of slaves a module's sizes are asked for. Internal to libopt.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// The sets that matter to the module, with their dimensions; an empty set is the paper's union.
[[nodiscard]] std::vector<std::pair<std::string, SlaveSet>> slave_sets(const Module& module);

}  // namespace kasen
