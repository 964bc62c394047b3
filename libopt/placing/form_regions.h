// Makes regions of blocks (libcore/blocks) of operators that stand one behind the other. Tasks get no workers yet.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/placing/grid_hint.h"

namespace kasen::placing {

// What the values of regions were outside: the blocks of `value` lie on the workers as this type says.
using OutsideTypes = std::map<ValueId, Type>;

// `module` has level 1, a mesh, and cuts. Maps, reductions, contractions and relayouts that follow one another become
// one region if they need elements of other workers. A dimension has as many blocks as a hint says, or as the mesh cuts
// some array of the region into. True if there are any. UserError (usage) for a hint that does not fit.
bool form_regions(Module& module, const std::vector<GridHint>& hints, OutsideTypes& outside);

}  // namespace kasen::placing
