// Reducers on points that treat all coordinates alike: a law is asked of one coordinate instead of all of them.
#pragma once

#include <optional>

#include "libcore/scalar/scalar.h"

namespace kasen {

// The same reducer on elements whose small arrays have one coordinate, if each coordinate j of its result depends on
// coordinates j (of arrays as long) and on scalar components alone, and no scalar component depends on coordinates. A
// law of reducers that holds of it holds of `reducer`: every number of a result is one of its numbers. Nothing if the
// reducer is not so, or has no array of several coordinates.
[[nodiscard]] std::optional<ScalarFunction> with_one_coordinate(const ScalarFunction& reducer);

}  // namespace kasen
