#include "libcore/scalar/interval_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kasen {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
// From here on exp is above 0, for f32 and so for f64.
constexpr double exp_is_positive_from = -80;
constexpr double largest_exact_integer = 9007199254740992.0;

bool moderate(const Interval& a) { return a.low == a.high && std::fabs(a.low) >= 1e-100 && std::fabs(a.low) <= 1e100; }

}  // namespace

Interval closed(double low, double high) {
  if (std::isnan(low)) low = -endless;
  if (std::isnan(high)) high = endless;
  return {low, high};
}

double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval negated(const Interval& a) { return {0 - a.high, 0 - a.low, a.below, a.above, a.not_zero}; }

// A sum rounds to zero only where it is zero, so that an open bound at zero stays open.
Interval sum(const Interval& a, const Interval& b) {
  Interval r = closed(a.low + b.low, a.high + b.high);
  r.above = r.low == 0 && (a.above || b.above);
  r.below = r.high == 0 && (a.below || b.below);
  return r;
}

Interval product(const Interval& a, const Interval& b) {
  const std::array<double, 4> ends{times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                                   times(a.high, b.high)};
  Interval r = closed(*std::min_element(ends.begin(), ends.end()), *std::max_element(ends.begin(), ends.end()));
  // Away from underflow a product with a literal is zero only where its operand is.
  const bool keeps = (moderate(a) && b.excludes_zero()) || (moderate(b) && a.excludes_zero());
  r.above = keeps && r.low == 0;
  r.below = keeps && r.high == 0;
  r.not_zero = keeps && r.holds(0);
  return r;
}

Interval quotient(const Interval& a, const Interval& b) {
  if (b.low < 0 && b.high > 0) return {};
  if (b.low == 0 && b.high == 0) return {};
  // The divisor has one sign: bounds at 0 stand for numbers just beside it (its own sign does not matter at zero).
  // There the quotient is infinite with an unknown sign, unless zero is excluded.
  if (!b.excludes_zero()) return {};
  const double low = b.low == 0 ? std::numeric_limits<double>::denorm_min() : b.low;
  const double high = b.high == 0 ? -std::numeric_limits<double>::denorm_min() : b.high;
  const auto ratio = [](double x, double y) { return x == 0 ? 0 : std::isinf(x) && std::isinf(y) ? NAN : x / y; };
  const std::array<double, 4> ends{ratio(a.low, low), ratio(a.low, high), ratio(a.high, low), ratio(a.high, high)};
  double least = endless;
  double most = -endless;
  for (const double end : ends) {  // infinity over infinity: anything from 0 on, which the other ends cover
    least = std::min(least, std::isnan(end) ? 0 : end);
    most = std::max(most, std::isnan(end) ? 0 : end);
  }
  Interval r{least, most};
  if (moderate(b) && a.excludes_zero()) {
    r.above = r.low == 0;
    r.below = r.high == 0;
    r.not_zero = r.holds(0);
  }
  return r;
}

Interval least(const Interval& a, const Interval& b) {
  Interval r{std::min(a.low, b.low), std::min(a.high, b.high)};
  r.above = (a.low > r.low || a.above) && (b.low > r.low || b.above);
  r.below = (a.high == r.high && a.below) || (b.high == r.high && b.below);
  r.not_zero = r.holds(0) && a.excludes_zero() && b.excludes_zero();
  return r;
}

Interval absolute(const Interval& a) {
  if (a.low >= 0) return a;
  if (a.high <= 0) return negated(a);
  Interval r{0, std::max(-a.low, a.high)};
  r.above = a.excludes_zero();
  return r;
}

Interval square(const Interval& a) {
  const Interval size = absolute(a);
  return closed(size.low * size.low, size.high * size.high);
}

Interval exponential(const Interval& a) {
  Interval r = closed(std::exp(a.low) * (1 - 1e-6), std::exp(a.high) * (1 + 1e-6));
  if (a.low >= exp_is_positive_from) r.above = r.low == 0;
  if (a.low < exp_is_positive_from) r.low = 0;
  return r;
}

Interval rounded(Interval r, Scalar s) {
  if (s == Scalar::f32) {
    r.low = static_cast<double>(static_cast<float>(r.low));
    r.high = static_cast<double>(static_cast<float>(r.high));
  }
  return with_integer_ends(r, s);
}

Interval with_integer_ends(const Interval& range, Scalar scalar) {
  if (is_float(scalar) || scalar == Scalar::boolean || scalar == Scalar::null) return range;
  const IntegerEnds ends = integer_ends(scalar);
  const double low = std::max(static_cast<double>(ends.low), -largest_exact_integer);
  const double high = std::min(static_cast<double>(ends.high), largest_exact_integer);
  Interval r = range;
  if (r.low <= low) r = {-endless, r.high, false, r.below, r.not_zero};
  if (r.low >= high) r = {high, r.high, false, r.below, r.not_zero};
  if (r.high >= high) r = {r.low, endless, r.above, false, r.not_zero};
  if (r.high <= low) r = {r.low, low, r.above, false, r.not_zero};
  return r;
}

}  // namespace kasen
