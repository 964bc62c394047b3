// Functions of real numbers as formulas (reals.h): most of them within 1 unit of the last place, and all within 3
// (tests/kernels/accuracy_test.cpp), with the C library's values at the ends of numbers and for NaN.
#pragma once

#include "libkernels/math/reals.h"

namespace kasen {

[[nodiscard]] Real emit_exp(Real x);
[[nodiscard]] Real emit_exp2(Real x);
[[nodiscard]] Real emit_expm1(Real x);
[[nodiscard]] Real emit_sinh(Real x);
[[nodiscard]] Real emit_cosh(Real x);
[[nodiscard]] Real emit_tanh(Real x);
[[nodiscard]] Real emit_log(Real x);
[[nodiscard]] Real emit_log2(Real x);
[[nodiscard]] Real emit_log10(Real x);
[[nodiscard]] Real emit_log1p(Real x);
[[nodiscard]] Real emit_asinh(Real x);
[[nodiscard]] Real emit_acosh(Real x);
[[nodiscard]] Real emit_atanh(Real x);
[[nodiscard]] Real emit_sin(Real x);
[[nodiscard]] Real emit_cos(Real x);
[[nodiscard]] Real emit_tan(Real x);
[[nodiscard]] Real emit_asin(Real x);
[[nodiscard]] Real emit_acos(Real x);
[[nodiscard]] Real emit_atan(Real x);
[[nodiscard]] Real emit_erf(Real x);
[[nodiscard]] Real emit_cbrt(Real x);
[[nodiscard]] inline Real emit_sqrt(Real x) { return sqrt(x); }
[[nodiscard]] Real emit_pow(Real x, Real y);

// ln 2 in two pieces; the first has 32 bits, so that its product with an exponent is exact.
constexpr double ln2_high = 0x1.62e42feep-1;
constexpr double ln2_low = 1.90821492927058770002e-10;

// e^(x + low) for a low that is far smaller than x; infinity and 0 beyond the numbers. `low` may be null.
[[nodiscard]] Real power_of_e(Real x, const Real* low);

}  // namespace kasen
