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
// The known range of a number of this type: an end of an integer type stands for an infinity, and bounds beyond 2^53
// are not distinguished.
[[nodiscard]] Interval with_integer_ends(const Interval& range, Scalar scalar);
// The range of a scalar expression, from the parameters' declared ranges alone.
[[nodiscard]] Interval scalar_range(const Expr& e, const std::vector<ScalarParam>& params);

}  // namespace kasen
