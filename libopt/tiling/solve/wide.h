// Local search in large neighbourhoods.
#pragma once

#include "libopt/tiling/solve/elimination.h"

namespace kasen::tiling {

// Chooses most variables of a part anew, by elimination, while some stay as they are: as many as it takes to keep the
// tables small, others in each round (by a fixed seed). Never makes the assignment dearer. Ends after reading `work`
// costs. Without a budget.
void improve_widely(const Problem& problem, const Part& part, Choices& at, std::uint64_t most_entries, double work);

}  // namespace kasen::tiling
