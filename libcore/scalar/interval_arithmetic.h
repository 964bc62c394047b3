// Arithmetic on intervals, right for the machine's rounded numbers: a result holds whatever the operands' numbers give.
#pragma once

#include "libcore/scalar/interval.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

// Closed bounds from computed numbers; a NaN (infinity minus infinity) gives no bound.
[[nodiscard]] Interval closed(double low, double high);
[[nodiscard]] double times(double a, double b);  // 0 times infinity is 0: infinity is a bound that no number reaches

[[nodiscard]] Interval negated(const Interval& a);
[[nodiscard]] Interval sum(const Interval& a, const Interval& b);
[[nodiscard]] Interval product(const Interval& a, const Interval& b);
[[nodiscard]] Interval quotient(const Interval& a, const Interval& b);
[[nodiscard]] Interval least(const Interval& a, const Interval& b);
[[nodiscard]] Interval absolute(const Interval& a);
[[nodiscard]] Interval square(const Interval& a);
[[nodiscard]] Interval exponential(const Interval& a);

template <class Function>
Interval increasing(const Interval& a, Function f) {
  return closed(f(a.low), f(a.high));
}

// The range of the numbers rounded to type `s`: rounding keeps order, so the rounded bounds hold for them.
[[nodiscard]] Interval rounded(Interval r, Scalar s);
// The known range of a number of this type: an end of an integer type stands for an infinity, and bounds beyond 2^53
// are not distinguished.
[[nodiscard]] Interval with_integer_ends(const Interval& range, Scalar scalar);

}  // namespace kasen
