// Verdicts that travel with a plan: what was found of its reducers, for whoever reads it and has only trials.
#pragma once

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen {

// Lists that a reducer of the module is associative and commutative, where that is not obvious from its shape. The
// module is valid; laws that it lists already stay.
void record_reducer_laws(Module& module, LawChecker& laws);

}  // namespace kasen
