// Angles so large that pi/2 must be known to hundreds of digits.
#pragma once

#include "libkernels/math/reals.h"

namespace kasen {

enum class AngleOf : std::uint8_t { sine, cosine, tangent };

// x = (2 turns) pi/2 + rest for the sine, (2 turns + 1) pi/2 + rest for the cosine, turns pi/2 + rest for the tangent;
// turns only modulo 4.
struct Angle {
  Integer turns;
  TwoReals rest;
};

// `near`, which is right below 2^30; but the angles of lanes beyond that by a function of their own. NaN for
// infinities.
[[nodiscard]] Angle with_far_angles(Real x, AngleOf function, const Angle& near);

}  // namespace kasen
