// Terms for the solver: truth values, and numbers that may be infinite or not a number, if they can be. Terms that are
// known to be finite cost nothing: tags that are plainly false vanish.
#pragma once

#include <z3++.h>

#include <vector>

namespace kasen::prover {

// A number has a value if all tags are false; at most one is true. For a truth value only `value` counts.
struct Term {
  z3::expr value;
  z3::expr plus, minus, nan;  // infinity, -infinity, not a number
};
using Element = std::vector<Term>;  // one for each plane of the element type

// Logic that drops operands that are plainly true or false.
[[nodiscard]] z3::expr both(const z3::expr& a, const z3::expr& b);
[[nodiscard]] z3::expr either(const z3::expr& a, const z3::expr& b);
[[nodiscard]] z3::expr no(const z3::expr& a);
[[nodiscard]] z3::expr choose(const z3::expr& condition, const z3::expr& then, const z3::expr& other);

[[nodiscard]] Term plain(const z3::expr& value);
[[nodiscard]] Term select(const z3::expr& condition, const Term& then, const Term& other);
[[nodiscard]] z3::expr infinite(const Term& a);
[[nodiscard]] z3::expr finite(const Term& a);
[[nodiscard]] z3::expr above_zero(const Term& a);
[[nodiscard]] z3::expr below_zero(const Term& a);
[[nodiscard]] z3::expr is_zero(const Term& a);

// Follows IEEE 754, without rounding and with one zero.
[[nodiscard]] Term negated(const Term& a);
// Follows integers, where the ends of the type stand for infinities. Where IEEE 754 has no number, opposite infinities
// sum to the smallest one, and zero times an infinity is zero.
[[nodiscard]] Term of_integers(const Term& sum);
[[nodiscard]] Term product_of_integers(const Term& product);
[[nodiscard]] Term sum(const Term& a, const Term& b);
[[nodiscard]] Term product(const Term& a, const Term& b);
// `negative_zero` says, where b is zero, whether it stands for a negative zero.
[[nodiscard]] Term quotient(const Term& a, const Term& b, const z3::expr& negative_zero);
[[nodiscard]] z3::expr less(const Term& a, const Term& b);  // false if one is not a number
[[nodiscard]] z3::expr equal(const Term& a, const Term& b);
[[nodiscard]] Term lesser(const Term& a, const Term& b);    // min; not-a-number wins
[[nodiscard]] z3::expr same(const Term& a, const Term& b);  // equal, or neither is a number

}  // namespace kasen::prover
