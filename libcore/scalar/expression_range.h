// Interval arithmetic on scalar functions: the numbers that a function can give, from the known ranges of its
// arguments. It is right for the machine's rounded numbers: exp of a very small number is 0, and a product of positive
// numbers may underflow. Integers are mathematical ones (docs/laws.md: the program has to avoid overflow). The ends of
// an integer type are infinities.
#pragma once

#include <span>
#include <vector>

#include "libcore/scalar/element_range.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

// `args` holds one for each parameter; what the function itself declares of a parameter is used as well.
[[nodiscard]] ElementRange range_of(const ScalarFunction& fn, std::span<const ElementRange> args);
// The range of a scalar expression, from the parameters' declared ranges alone.
[[nodiscard]] Interval scalar_range(const Expr& e, const std::vector<ScalarParam>& params);

}  // namespace kasen
