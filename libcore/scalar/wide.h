// Evaluation with 50 digits, to distinguish functions that differ from functions that only round differently.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/scalar/exact.h"

namespace kasen {

using Wide = boost::multiprecision::cpp_bin_float_50;
using WidePlanes = std::vector<Wide>;

[[nodiscard]] WidePlanes to_wide(const Planes& value);
// Nothing where the function is not defined, or its value is not finite.
[[nodiscard]] std::optional<WidePlanes> evaluate_widely(const ScalarFunction& fn, std::span<const WidePlanes> args);
// True if they differ by more than rounding can explain, in some plane.
[[nodiscard]] bool differ(const WidePlanes& a, const WidePlanes& b);
[[nodiscard]] std::string wide_text(const ElementType& type, const WidePlanes& value);  // six digits of each number

}  // namespace kasen
