#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "libkernels/math/functions.h"

namespace kasen {
namespace {

constexpr int erf_steps = 256;  // points a unit, at which erf and its derivative are known
constexpr int erf_end = 6;      // erf is 1 from there on
struct ErfTables {
  std::array<double, erf_steps * erf_end + 1> value, slope;
};

const ErfTables& erf_tables() {
  static const ErfTables tables = [] {
    ErfTables made{};
    for (std::size_t i = 0; i < made.value.size(); ++i) {
      const long double place = static_cast<long double>(i) / erf_steps;
      made.value[i] = static_cast<double>(std::erf(place));
      made.slope[i] = static_cast<double>(2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-place * place));
    }
    return made;
  }();
  return tables;
}

}  // namespace

// Taylor's sum at the nearest point p of the table, d = |x| - p, |d| <= 1/512: erf(x) = erf(p) + erf'(p) d (1 + c1 d +
// c2 d^2 + ...), whose coefficients follow from erf'' = -2 x erf'. The sixth term is below 2^-55.
Real emit_erf(Real x) {
  const Real magnitude = at_most(abs(x), erf_end);
  const Rounded at = nearest_integer(fused(magnitude, erf_steps, rounding));
  const Integer index = at_most(at.integer, erf_steps * erf_end);  // for NaN
  const Real p = at.number * (1.0 / erf_steps);
  const Real d = magnitude - p, square = p * p;
  const Real c1 = -p;
  const Real c2 = fused(square, 2.0 / 3, -1.0 / 3);
  const Real c3 = p * fused(square, -1.0 / 3, 1.0 / 2);
  const Real c4 = fused(square, fused(square, 4.0 / 30, -12.0 / 30), x.in->real(3.0 / 30));
  const Real tail = d * polynomial(d, {c1, c2, c3, c4});
  const ErfTables& tables = erf_tables();
  const Real step = x.in->entry(tables.slope, "erf_slope", index) * d;
  const Real result = x.in->entry(tables.value, "erf_value", index) + fused(step, tail, step);
  return with_sign_of(result, x);
}

}  // namespace kasen
