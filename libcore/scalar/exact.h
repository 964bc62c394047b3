// Evaluation of scalar functions on numbers that do not round, for trying laws: over the rationals (integers never
// wrap), and with 50 digits where a value may be irrational.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/scalar/scalar.h"

namespace kasen {

using Rational = boost::multiprecision::cpp_rational;
using Planes = std::vector<Rational>;  // one number a plane of an element; bools are 0 and 1

[[nodiscard]] double evaluation_steps(const ScalarFunction& fn);  // operators; those in loops count in each iteration
// False where an operator's value may be irrational (exp, sqrt, x^0.5, ...), a literal is infinite or NaN, or there is
// too much to compute. Then evaluate_exactly must not be called.
[[nodiscard]] bool is_exact(const ScalarFunction& fn);

// The value of an exact function, or nothing where it is not defined (a division by zero).
[[nodiscard]] std::optional<Planes> evaluate_exactly(const ScalarFunction& fn, std::span<const Planes> args);

// The same numbers as machine words, rounded where they are not small dyadic fractions.
[[nodiscard]] std::vector<Word> to_words(const ElementType& type, const Planes& value);
[[nodiscard]] std::string planes_text(const ElementType& type, const Planes& value);  // "3", "0.5", "(1, [2, 3])"
// The same with the text that `number` gives for each plane.
[[nodiscard]] std::string planes_text(const ElementType& type,
                                      const std::function<std::string(Scalar scalar, size_t plane)>& number);

// Some of the finite numbers in the function's text, and those at distance one: its cases meet there.
[[nodiscard]] std::vector<Rational> literals_of(const ScalarFunction& fn, size_t most);

// Calls `visit` with values for each of `params`, inside their ranges, from a small grid and `literals`. It takes every
// combination if there are at most `limit`, else `limit` of them drawn by a fixed rule. The first has different values
// everywhere. Stops when `visit` returns false.
void for_points(std::span<const ScalarParam> params, std::span<const Rational> literals, std::int64_t limit,
                const std::function<bool(std::span<const Planes>)>& visit);

}  // namespace kasen
