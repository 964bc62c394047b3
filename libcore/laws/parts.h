// Reducers that treat the parts of an element independently: a law is checked for each part alone.
#pragma once

#include <vector>

#include "libcore/scalar/scalar.h"

namespace kasen {

// The reducers of single numbers of which `reducer` consists: one for each component of its tuple, or one for all
// coordinates of a small array. A reducer's law that holds for each of them holds for `reducer`. Declared ranges are
// left out, so that the law is asked of more numbers. Empty if some part depends on another, or if there is one number.
[[nodiscard]] std::vector<ScalarFunction> parts_of(const ScalarFunction& reducer);

}  // namespace kasen
