// e^x and its kin: x = n ln 2 + r with |r| <= ln 2 / 2.
#include <numbers>

#include "libkernels/math/functions.h"

namespace kasen {
namespace {

struct Reduced {
  Rounded n;
  Real exact, rest;  // x - n ln2_high, and r, rounded
};

Reduced reduced(Real x) {
  const Rounded n = nearest_integer(fused(x, std::numbers::log2e, rounding));
  const Real minus_n = -n.number, exact = fused(minus_n, ln2_high, x);
  return {n, exact, fused(minus_n, ln2_low, exact)};
}

// What r lost when it was rounded.
Real lost(const Reduced& r) { return fused(-r.n.number, ln2_low, r.exact - r.rest); }

// e^r - 1 - r. The polynomial errs by at most 2^-57.9 of e^r, in all of that range alike.
Real tail_of_exp(Real r) {
  constexpr std::array terms{0.50000000000000111,    0.16666666666666413,   0.041666666666530155,
                             0.0083333333334944647,  0.0013888888943631107, 0.00019841269506574687,
                             2.4801493097934204e-05, 2.755758637548783e-06, 2.7630248706991783e-07,
                             2.5000061506648057e-08};
  return r * r * polynomial(r, terms);
}

// e^(r + more) - 1 - r, to first order of `more`.
Real with_more(Real tail, Real r, Real more) { return tail + fused(more, tail + r, more); }

// sinh r - r and cosh r - 1, by polynomials in r^2 that err by less than 2^-57.
Real tail_of_sinh(Real r, Real square) {
  constexpr std::array terms{0.16666666666666666,    0.008333333333333333,   0.00019841269841263295,
                             2.7557319247226118e-06, 2.5052071086390453e-08, 1.608663088038875e-10};
  return r * square * polynomial(square, terms);
}
Real tail_of_cosh(Real square) {
  constexpr std::array terms{0.5,
                             0.04166666666666668,
                             0.001388888888887907,
                             2.480158733645332e-05,
                             2.755726326723126e-07,
                             2.0918142124023773e-09};
  return square * polynomial(square, terms);
}

// sinh and cosh of n ln 2 + r are (2^n cosh r -+ 2^-n cosh r) / 2 plus (2^n sinh r +- 2^-n sinh r) / 2. The larger
// terms, and only these, are summed to twice the digits.
Real hyperbolic(Real a, bool odd) {
  const Reduced r = reduced(at_most(a, 710.6));
  const Real square = r.rest * r.rest;
  const Real up = power_of_2(r.n.integer - 2);  // a quarter of what they are: the last of them leave the numbers
  const Real down = from_bits(at_least(r.rest.in->integer(1021) - r.n.integer, 0) << 52);
  const Real sum = up + down, difference = up - down;
  const Real by_cosh = odd ? difference : sum, by_sinh = odd ? sum : difference;
  const TwoReals product = exact_product(by_sinh, r.rest);
  const TwoReals main = ordered_sum(by_cosh, product.high);
  const Real tails = fused(by_cosh, tail_of_cosh(square), by_sinh * (tail_of_sinh(r.rest, square) + lost(r)));
  return (main.high + (main.low + product.low + tails)) * 2.0;
}

// e^x - 1, or half of it: 2^n (e^r - 1) + 2^n - 1.
TwoReals less_one(const Reduced& r, double times) {
  const TwoReals part = ordered_sum(r.rest, tail_of_exp(r.rest));
  const Real power = power_of_2(times == 1 ? r.n.integer : r.n.integer - 1);
  const TwoReals main = ordered_sum(power - times, power * part.high);
  return {main.high, fused(power, part.low + lost(r), main.low)};
}

constexpr double tiny = 0x1p-27;  // below it, the square of a number is lost beside 1

}  // namespace

Real power_of_e(Real x, const Real* low) {
  x = at_least(at_most(x, 710), -746);  // infinity and 0 from there on
  const Reduced r = reduced(x);
  Real tail = tail_of_exp(r.rest);
  if (low != nullptr) tail = with_more(tail, r.rest, lost(r) + *low);
  return scaled(tail + r.rest + 1.0, r.n);
}

Real emit_exp(Real x) { return power_of_e(x, nullptr); }

Real emit_exp2(Real x) {
  constexpr double ln2 = std::numbers::ln2, ln2_rest = 2.3190468138462996e-17;
  x = at_least(at_most(x, 1025), -1080);
  const Rounded n = nearest_integer(x + rounding);
  const Real part = x - n.number;  // exactly
  const TwoReals r = exact_product(part, x.in->real(ln2));
  return scaled(with_more(tail_of_exp(r.high), r.high, fused(part, ln2_rest, r.low)) + r.high + 1.0, n);
}

Real emit_expm1(Real x) {
  const TwoReals m = less_one(reduced(at_least(at_most(x, 710), -50)), 0.5);  // 2^1024 is no number
  return select(abs(x) < 0x1p-54, x, (m.high + m.low) * 2.0);
}

Real emit_sinh(Real x) {
  const Real a = abs(x);
  return with_sign_of(select(a < tiny, a, hyperbolic(a, true)), x);
}

Real emit_cosh(Real x) { return hyperbolic(abs(x), false); }

// With m = e^2x - 1, it is m / (m + 2). The quotient is corrected by what it leaves.
Real emit_tanh(Real x) {
  const Real a = abs(x);
  const TwoReals m = less_one(reduced(at_most(a, 22) * 2.0), 1);
  const TwoReals below = exact_sum(m.high, x.in->real(2));
  const Real inverse = 1.0 / below.high, quotient = m.high * inverse;
  const Real left = fused(-quotient, below.high, m.high) + fused(-quotient, below.low + m.low, m.low);
  return with_sign_of(select(a < tiny, a, fused(left, inverse, quotient)), x);
}

}  // namespace kasen
