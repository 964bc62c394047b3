// Reducers on points that treat all coordinates alike: a law is checked for one coordinate instead of all of them.
#pragma once

#include <optional>

#include "libcore/scalar/scalar.h"

namespace kasen {

// The same reducer on elements whose small arrays have one coordinate. Coordinate j of its result must depend only on
// coordinates j (of arrays as long) and on scalar components. No scalar component may depend on coordinates. A law that
// holds for it holds for `reducer`: every number of a result is one of its numbers. Empty if the reducer does not meet
// this, or has no array of several coordinates.
[[nodiscard]] std::optional<ScalarFunction> with_one_coordinate(const ScalarFunction& reducer);

}  // namespace kasen
