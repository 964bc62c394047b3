// Exact evaluation of scalar functions over the rationals (integers never wrap), for trying laws on small values.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/scalar.h"

namespace kasen {

using Rational = boost::multiprecision::cpp_rational;
using Planes = std::vector<Rational>;  // one number a plane of an element; bools are 0 and 1

// Steps of one evaluation. More than most_exact_steps where an operator's value may be irrational (exp, sqrt, x^0.5,
// ...) or a literal is infinite or NaN: then evaluate_exactly must not be called.
inline constexpr double most_exact_steps = 20'000;
[[nodiscard]] double exact_steps(const ScalarFunction& fn);
[[nodiscard]] inline bool is_exact(const ScalarFunction& fn) { return exact_steps(fn) <= most_exact_steps; }

// The value of an exact function, or nothing where it is not defined (a division by zero).
[[nodiscard]] std::optional<Planes> evaluate_exactly(const ScalarFunction& fn, std::span<const Planes> args);

// The same numbers as machine words; trial values are small dyadic fractions, so that nothing is rounded.
[[nodiscard]] std::vector<Word> to_words(const ElementType& type, const Planes& value);
[[nodiscard]] std::string planes_text(const ElementType& type, const Planes& value);  // "3", "0.5", "(1, [2, 3])"

// Calls `visit` with values for each of `types`, taken from a small grid: every combination if there are at most
// `limit`, else `limit` of them drawn by a fixed rule. The first has different values everywhere. Stops at false.
void for_points(std::span<const ElementType> types, std::int64_t limit,
                const std::function<bool(std::span<const Planes>)>& visit);

}  // namespace kasen
