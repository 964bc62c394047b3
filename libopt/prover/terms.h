// Terms for the solver: numbers that may be infinite or no number at all, as far as they can be, and truth values. What
// is known to be finite costs nothing: tags that are plainly false vanish.
#pragma once

#include <z3++.h>

#include <vector>

namespace kasen::prover {

// A number has a value if all tags are false; at most one is true. Of a truth value only `value` counts.
struct Term {
  z3::expr value;
  z3::expr plus, minus, nan;  // infinity, -infinity, not a number
};
using Element = std::vector<Term>;  // one a plane of the element type

// Logic that drops what is plainly true or false.
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

// As IEEE 754 has it, without rounding and with one zero.
[[nodiscard]] Term negated(const Term& a);
// As integers have it, of which the ends of the type stand for infinities: where IEEE 754 has no number, opposite
// infinities add up to the smallest one, and zero times an infinity is zero.
[[nodiscard]] Term of_integers(const Term& sum);
[[nodiscard]] Term product_of_integers(const Term& product);
[[nodiscard]] Term sum(const Term& a, const Term& b);
[[nodiscard]] Term product(const Term& a, const Term& b);
// `negative_zero`: where b is zero, whether it stands for a negative one.
[[nodiscard]] Term quotient(const Term& a, const Term& b, const z3::expr& negative_zero);
[[nodiscard]] z3::expr less(const Term& a, const Term& b);  // false for what is no number
[[nodiscard]] z3::expr equal(const Term& a, const Term& b);
[[nodiscard]] Term lesser(const Term& a, const Term& b);    // min; no number wins
[[nodiscard]] z3::expr same(const Term& a, const Term& b);  // equal, or neither a number

}  // namespace kasen::prover
