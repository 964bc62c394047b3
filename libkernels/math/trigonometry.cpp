// Sine, cosine, tangent: x = n pi/2 + r; and their inverses.
#include <numbers>

#include "libkernels/math/far_angles.h"
#include "libkernels/math/functions.h"

namespace kasen {
namespace {

constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_next = 6.123233995736766e-17,
                 half_pi_last = -1.4973849048591698e-33;

// n = 2 m for the sine, 2 m + 1 for the cosine, m for the tangent.
Real nearest_turn(Real x, AngleOf function) {
  switch (function) {
    case AngleOf::sine:
      return fused(x, std::numbers::inv_pi, rounding);
    case AngleOf::cosine:
      return fused(x, std::numbers::inv_pi, -0.5) + rounding;
    default:
      return fused(x, 2 * std::numbers::inv_pi, rounding);
  }
}

// The first product is exact up to pi/2 itself, since its upper digits cancel x.
Angle near_angle(Real x, AngleOf function) {
  const Rounded m = nearest_integer(nearest_turn(x, function));
  const Real n = function == AngleOf::tangent  ? m.number
                 : function == AngleOf::cosine ? fused(m.number, 2.0, 1.0)
                                               : m.number * 2.0;
  const Real first = fused(-n, half_pi, x);
  const TwoReals product = exact_product(n, x.in->real(half_pi_next)), sum = exact_sum(first, -product.high);
  return {m.integer, {sum.high, sum.low - fused(n, half_pi_last, product.low)}};
}

Angle angle_of(Real x, AngleOf function) { return with_far_angles(x, function, near_angle(x, function)); }

Real negated_if_odd(Real x, Integer m) { return from_bits(bits(x) ^ (m << 63)); }

// |r| <= pi/2.
Real sine(const TwoReals& r) {
  constexpr std::array terms{-0.16666666666666666,   0.008333333333333333,    -0.0001984126984126984,
                             2.755731922398586e-06,  -2.5052108385432754e-08, 1.6059043835464758e-10,
                             -7.647163606755866e-13, 2.811450117127078e-15,   -8.218171904353374e-18,
                             1.9101305255104e-20};
  const Real square = r.high * r.high;
  const Real tail = square * r.high * polynomial(square, terms);
  return r.high + fused(r.low, fused(square, -0.5, 1.0), tail);
}

}  // namespace

Real emit_sin(Real x) {
  const Angle angle = angle_of(x, AngleOf::sine);
  return select(x == 0.0, x, negated_if_odd(sine(angle.rest), angle.turns));
}

Real emit_cos(Real x) {
  const Angle angle = angle_of(x, AngleOf::cosine);
  return negated_if_odd(sine(angle.rest), angle.turns + 1);
}

// |r| <= pi/4: the sine over the cosine, or the other way round with the other sign.
Real emit_tan(Real x) {
  constexpr std::array of_sine{-0.16666666666666666,   0.008333333333333331,    -0.00019841269841265063,
                               2.7557319219337672e-06, -2.5052106231927857e-08, 1.6058531536611833e-10,
                               -7.586692262094344e-13};
  constexpr std::array of_cosine{0.041666666666666664,    -0.0013888888888888887, 2.4801587301584645e-05,
                                 -2.7557319221401993e-07, 2.087675579079147e-09,  -1.1470460841811526e-11,
                                 4.7458692024108734e-14};
  const Angle angle = angle_of(x, AngleOf::tangent);
  const TwoReals& r = angle.rest;
  const Real square = r.high * r.high, half = square * 0.5;
  const Real sine = r.high + fused(r.low, 1.0 - half, square * r.high * polynomial(square, of_sine));
  const TwoReals main = ordered_sum(x.in->real(1), -half);
  const Real tail = fused(-r.high, r.low, square * square * polynomial(square, of_cosine));
  const Real cosine = main.high + (main.low + tail);
  const Test even = (angle.turns & 1) == 0;
  return select(x == 0.0, x, select(even, sine, cosine) / select(even, cosine, -sine));
}

namespace {

// |x| up to 1/2, or the root of (1 - |x|) / 2, and (asin(root) - root).
struct Arc {
  Test near;
  Real root, tail;
};

Arc arc_of(Real x) {
  constexpr std::array terms{0.16666666666666669, 0.07499999999998433,  0.04464285714635543,  0.030381944138531247,
                             0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
                             0.01032281435018578, 0.005457506718640358, 0.01740087944269402,  -0.014851887071247204,
                             0.028757851367421566};
  const Real a = abs(x);
  const Test near = !(a > 0.5);
  const Real square = select(near, a * a, (1.0 - a) * 0.5);
  const Real root = select(near, a, sqrt(square));
  const Real left = select(!near && root > 0, fused(-root, root, square) / (root + root), 0);
  return {near, root, root * square * polynomial(square, terms) + left};
}

// base + x + tail, where the base has two pieces.
Real on_base(const TwoReals& base, Real x, Real tail) {
  const TwoReals main = ordered_sum(base.high, x);
  return main.high + (main.low + (base.low + tail));
}

}  // namespace

Real emit_asin(Real x) {
  const Arc arc = arc_of(x);
  const Real far = on_base({x.in->real(half_pi), x.in->real(half_pi_next)}, arc.root * -2.0, arc.tail * -2.0);
  return with_sign_of(select(arc.near, arc.root + arc.tail, far), x);
}

Real emit_acos(Real x) {
  const Arc arc = arc_of(x);
  const Real near = on_base({x.in->real(half_pi), x.in->real(half_pi_next)}, -x, with_sign_of(arc.tail, -x));
  const Real small = (arc.root + arc.tail) * 2.0;
  const Real large = on_base({x.in->real(2 * half_pi), x.in->real(2 * half_pi_next)}, arc.root * -2.0, arc.tail * -2.0);
  return select(arc.near, near, select(x > 0, small, large));
}

// For |x| from tan(pi/8) on, the angle beyond pi/4, from tan(3 pi/8) on the one that pi/2 lacks.
Real emit_atan(Real x) {
  constexpr std::array terms{-0.3333333333333333,   0.19999999999995519, -0.14285714284666184, 0.11111111015227572,
                             -0.09090904576954117,  0.07692183163650894, -0.06664511064599371, 0.05858145587628202,
                             -0.050854323376990765, 0.0392311556198723,  -0.01917627151752634};
  const Reals& in = *x.in;
  const Real a = at_most(abs(x), 0x1p60);
  const Test near = !(a > std::numbers::sqrt2 - 1), far = a > std::numbers::sqrt2 + 1;
  const Real above = select(near, a, select(far, -1.0, a - 1.0));
  const TwoReals sum = exact_sum(a, in.real(1));
  const Real below = select(near, 1.0, select(far, a, sum.high));
  const Real inverse = 1.0 / below, t = above * inverse;
  const Real below_low = select(near, 0, select(far, 0, sum.low));
  const Real left = fused(-t, below, above) - t * below_low;
  const auto base = [&](double part) { return select(near, 0, select(far, part, in.real(part / 2))); };
  const Real square = t * t;
  const Real tail = fused(left, inverse, t * square * polynomial(square, terms));
  return with_sign_of(on_base({base(half_pi), base(half_pi_next)}, t, tail), x);
}

}  // namespace kasen
