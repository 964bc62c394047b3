// The most that sets of ghosts can have, for reports on sizes that a user gives.
#pragma once

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// Gives sets of ghosts that have no number the most that they can have: every index on every worker, or one for each
// nonzero, whichever is less and known. Sizes::at_most and its notes tell of them.
void bound_ghosts(const Module& module, Sizes& sizes);

}  // namespace kasen
