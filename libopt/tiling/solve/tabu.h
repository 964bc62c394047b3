// Local search that goes on through worse assignments.
#pragma once

#include "libopt/tiling/solve/problem.h"

namespace kasen::tiling {

// Changes one variable of a part at a time, the one that costs least, even where each change makes it dearer; a
// variable that was changed then keeps its choice for some steps. Returns with the best assignment on the way. Ends
// after reading `work` costs. Without a budget.
void improve_by_tabu(const Problem& problem, const Part& part, Choices& at, double work);

}  // namespace kasen::tiling
