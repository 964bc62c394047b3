// x^y, and the cube root.
#include <bit>
#include <limits>
#include <numbers>

#include "libkernels/math/functions.h"

namespace kasen {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

// log(a) for a >= 0, to 2^-63 of it. z = a / 2^k is in [sqrt(1/2), sqrt(2)); with s = (z - 1) / (z + 1), log z = 2 s (1
// + s^2/3 + s^4 (1/5 + ...)), and the first two terms take twice the digits.
TwoReals two_logs(Real a) {
  constexpr std::array terms{0.2,
                             0.14285714285714682,
                             0.11111111110828072,
                             0.09090909167667167,
                             0.07692297484382873,
                             0.06667402177031725,
                             0.058531227193470314,
                             0.05861541735342276};
  constexpr double third = 1.0 / 3, third_low = 1.850371707708594e-17;
  constexpr auto begin = std::bit_cast<std::uint64_t>(std::numbers::sqrt2 / 2);
  const Test subnormal = a < 0x1p-1022;
  const Integer word = bits(select(subnormal, a * 0x1p54, a));
  const Integer exponent = (word - begin) >> 52;
  const Real f = from_bits(word - (exponent << 52)) - 1.0;
  const Real k = from_bits(exponent - select(subnormal, 54, 0) + std::bit_cast<std::uint64_t>(rounding)) - rounding;
  const TwoReals below = ordered_sum(a.in->real(2), f);
  const Real inverse = 1.0 / below.high, s = f * inverse;
  const Real s_low = (fused(-s, below.high, f) - s * below.low) * inverse;
  const TwoReals square = exact_product(s, s);
  const Real square_low = fused(s + s, s_low, square.low);
  const TwoReals first = exact_product(square.high, a.in->real(third));
  const Real first_low = fused(square.high, third_low, fused(square_low, third, first.low));
  const Real more = square.high * square.high * polynomial(square.high, terms);
  const TwoReals factor = ordered_sum(first.high, more + first_low);
  const TwoReals product = exact_product(s, factor.high);
  const Real product_low = fused(s, factor.low, fused(s_low, factor.high, product.low));
  const TwoReals of_z = ordered_sum(s, product.high);
  const Real of_z_low = of_z.low + (product_low + s_low);
  const TwoReals main = ordered_sum(k * ln2_high, of_z.high * 2.0);
  const TwoReals all = ordered_sum(main.high, main.low + fused(k, ln2_low, of_z_low * 2.0));
  const Real ends = select(a == 0.0, -endless, select(a == endless, endless, a));  // NaN stays
  const Test normal = a > 0 && a < endless;
  return {select(normal, all.high, ends), select(normal, all.low, 0)};
}

}  // namespace

Real emit_pow(Real x, Real y) {
  const Real a = abs(x);
  const TwoReals log = two_logs(a);
  const TwoReals exponent = exact_product(y, log.high);
  const Test moderate = abs(exponent.high) < 746;
  const Real low = select(moderate, fused(y, log.low, exponent.low), 0);
  const Real power = power_of_e(exponent.high, &low);
  // What the C library says of the ends, and of negative numbers.
  const Real whole = floor(y), half = y * 0.5;
  const Test is_whole = whole == y, odd = is_whole && !(floor(half) == half);
  const Test negative{x.in, x.in->b.CreateICmpSLT(bits(x).value, x.in->integer(0).value)};
  Real result = select(odd && negative, -power, power);
  const Test no_number = x < 0 && x > -endless && !is_whole;
  result = select(no_number, std::numeric_limits<double>::quiet_NaN(), result);
  result = select(a == 1.0 && !(abs(y) < endless) && y == y, 1.0, result);
  return select(y == 0.0, 1.0, select(x == 1.0, 1.0, result));
}

// x = z 2^(3 q + r): a polynomial in z errs by 2^-24, and Halley's iteration trebles the digits.
Real emit_cbrt(Real x) {
  constexpr std::array terms{0.4271992078573546,  1.0494919967917438,  -0.8763453843873725,  0.629773233237034,
                             -0.3133092283040934, 0.10019650911433674, -0.01850623587250941, 0.0014999374772160568};
  const Real a = abs(x);
  const Test subnormal = a < 0x1p-1022;
  const Integer word = bits(select(subnormal, a * 0x1p54, a)), field = word >> 52;
  // Divided by 3 (2^17 / 3 is 43690.7); 1023 is 3 * 341, and 54 is 3 * 18.
  const Integer third{x.in, x.in->b.CreateLShr(x.in->b.CreateMul(field.value, x.in->integer(43691).value), 17)};
  const Integer rest = field - (third + (third << 1));
  const Real z = from_bits(word - (field << 52) + (std::uint64_t{1023} << 52));
  const Real cube = z * power_of_2(rest);
  const Real root_of_rest =
      select(rest == 0, 1.0, select(rest == 1, 1.2599210498948732, x.in->real(1.5874010519681994)));
  const Real y = polynomial(z, terms) * root_of_rest;
  const TwoReals square = exact_product(y, y), third_power = exact_product(square.high, y);
  const Real left = (cube - third_power.high) - fused(square.low, y, third_power.low);
  const Real root = y + y * left / (third_power.high + third_power.high + cube);
  const Integer shift = third - 341 - select(subnormal, 18, 0);
  const Real result = with_sign_of(root * power_of_2(shift), x);
  return select(a > 0 && a < endless, result, x);
}

}  // namespace kasen
