// Verdicts that travel with a plan: the findings about its reducers, for readers that have only trials.
#pragma once

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen {

// Lists that a reducer of the module is associative and commutative, if that is not obvious from its shape. The module
// is valid. Laws that it already lists stay.
void record_reducer_laws(Module& module, LawChecker& laws);

}  // namespace kasen
