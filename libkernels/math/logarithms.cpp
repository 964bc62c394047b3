// log x and its kin: x = 2^k z with z in [sqrt(1/2), sqrt(2)).
#include <bit>
#include <limits>
#include <numbers>

#include "libkernels/math/functions.h"

namespace kasen {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest = 0x1p-1022;  // normal number

// With f = z - 1 and s = f / (2 + f), log z = 2 atanh(s) = f - s (f - 2 (s^2/3 + s^4/5 + ...)) = f - (f^2/2 - s (f^2/2
// + R)).
struct Parts {
  Real k, f, s, half, series;  // half: f^2/2; series: f^2/2 + R
};

// Of a normal number; `less` is taken from k. The polynomial in s^2 for R / s^2 has the least error of R, 2^-58.4 (the
// exchange of Remez in 60 digits, then rounded).
Parts parts_of(Real x, const Integer* less) {
  constexpr std::array terms{0.6666666666666734,  0.39999999999414321, 0.28571428742474397, 0.22222198563552553,
                             0.18183564862500348, 0.15314035955641916, 0.14796104129218132};
  constexpr auto begin = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  Integer k = (bits(x) - begin) >> 52;
  const Real f = from_bits(bits(x) - (k << 52)) - 1.0;
  if (less != nullptr) k = k - *less;
  // An integer below 2^51 behind the bits of `rounding` is that number plus `rounding`.
  const Real exponent = from_bits(k + std::bit_cast<std::uint64_t>(rounding)) - rounding;
  const Real s = f / (f + 2.0), square = s * s, half = f * 0.5 * f;
  return {exponent, f, s, half, fused(square, polynomial(square, terms), half)};
}

// log(x) + more, less k if it is given.
Real log_of_normal(Real x, const Integer* less, const Real* more) {
  const Parts p = parts_of(x, less);
  Real low = p.k * ln2_low;
  if (more != nullptr) low = low + *more;
  const Real tail = p.half - fused(p.s, p.series, low);
  return fused(p.k, ln2_high, p.f - tail);
}

// `result`, or the logarithm's value for an x that is no normal number above 0.
Real with_ends(Real x, Real result) {
  result = select(x == infinity, x, result);
  const Real outside = select(x == 0.0, -infinity, x.in->real(std::numeric_limits<double>::quiet_NaN()));
  return select(x > 0, result, outside);
}

struct Normal {
  Real x;
  Integer less;  // of the exponent
};
Normal made_normal(Real x) {
  const Test subnormal = x < smallest;
  return {select(subnormal, x * 0x1p54, x), select(subnormal, 54, 0)};
}

// log z to more digits than one number has.
TwoReals two_logs(const Parts& p) {
  const TwoReals main = ordered_sum(p.f, -p.half);
  const Real lost = fused(p.f * 0.5, p.f, -p.half);
  return {main.high, fused(p.s, p.series, main.low - lost)};
}

// The logarithm of another base, of which 1 / ln(base) and log(2) have two pieces each.
Real log_to(Real x, const TwoReals& by, const TwoReals& of_2) {
  const Normal normal = made_normal(x);
  const Parts p = parts_of(normal.x, &normal.less);
  const TwoReals log = two_logs(p), product = exact_product(log.high, by.high);
  const Real low = product.low + fused(log.high, by.low, log.low * by.high);
  const TwoReals main = ordered_sum(p.k * of_2.high, product.high);
  return with_ends(x, main.high + (main.low + fused(p.k, of_2.low, low)));
}

// log(high + low) for a high of at least 1, or of x where it is so `large` that it would be log(2 x).
Real log_of_sum(const TwoReals& sum, Real x, Test large) {
  const Real argument = select(large, x, sum.high);
  const Real more = select(large, 0, sum.low / sum.high);
  const Integer less = select(large, ~std::uint64_t{0}, 0);
  return with_ends(argument, log_of_normal(argument, &less, &more));
}

constexpr double large_root = 0x1p28;  // from there on the root of x^2 +- 1 is x

// x + the square root of `square`.
TwoReals plus_root(Real x, const TwoReals& square) {
  const Real root = sqrt(square.high);
  const Real left = (fused(-root, root, square.high) + square.low) / (root + root);
  const TwoReals sum = exact_sum(x, root);
  return {sum.high, sum.low + select(root > 0, left, 0)};
}

}  // namespace

Real emit_log(Real x) {
  const Normal normal = made_normal(x);
  return with_ends(x, log_of_normal(normal.x, &normal.less, nullptr));
}

Real emit_log2(Real x) {
  const Reals& r = *x.in;
  return log_to(x, {r.real(std::numbers::log2e), r.real(2.0355273740931033e-17)}, {r.real(1), r.real(0)});
}

// The first piece of log10(2) has 40 bits, so that its product with an exponent is exact.
Real emit_log10(Real x) {
  const Reals& r = *x.in;
  return log_to(x, {r.real(std::numbers::log10e), r.real(1.098319650216765e-17)},
                {r.real(0x1.34413509f6p-2), r.real(3.694239077158931e-13)});
}

// The logarithm of u, which is 1 + x rounded, plus the effect of the rounding error to first order.
Real emit_log1p(Real x) {
  const Real u = x + 1.0, of_x = u - 1.0;
  const Real lost = (1.0 - (u - of_x)) + (x - of_x);  // exactly
  const Real more = lost / u;
  return with_sign_of(with_ends(u, log_of_normal(u, nullptr, &more)), x);  // for -0
}

Real emit_asinh(Real x) {
  const Real a = abs(x), moderate = at_most(a, large_root);
  const TwoReals square = exact_product(moderate, moderate), sum = exact_sum(square.high, x.in->real(1));
  const TwoReals argument = plus_root(moderate, {sum.high, sum.low + square.low});
  return with_sign_of(log_of_sum(argument, a, !(a < large_root)), x);
}

Real emit_acosh(Real x) {
  const Real moderate = at_most(x, large_root);
  const TwoReals square = exact_product(moderate, moderate), less = ordered_sum(square.high, x.in->real(-1));
  const TwoReals argument = plus_root(moderate, ordered_sum(less.high, less.low + square.low));
  const Real result = log_of_sum(argument, x, !(x < large_root));
  return select(x < 1, std::numeric_limits<double>::quiet_NaN(), result);
}

// Half the logarithm of (1 + a) / (1 - a), and of what that quotient leaves.
Real emit_atanh(Real x) {
  const Real a = abs(x), one = x.in->real(1);
  const TwoReals above = ordered_sum(one, a), below = ordered_sum(one, -a);
  const Real quotient = above.high / below.high;
  const Real left = fused(-quotient, below.high, above.high) + fused(-quotient, below.low, above.low);
  const Real more = left / above.high;
  return with_sign_of(with_ends(quotient, log_of_normal(quotient, nullptr, &more)) * 0.5, x);
}

}  // namespace kasen
