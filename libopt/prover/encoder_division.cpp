// Division in every form, and operators that round its result: quotients, floor_div, mod, floor, and the cast to an
// integer.
#include <fmt/format.h>

#include <algorithm>

#include "libopt/prover/encoder.h"

namespace kasen::prover {

Term Encoder::divided(const Term& a, const Term& b) {
  const bool scaled = b.value.is_numeral();
  linear_ = linear_ && (scaled || numbers_ == Numbers::opaque);
  if (mode_ == Mode::defined) require(no(is_zero(b)));
  Term result = quotient(a, b, zero_sign(b.value));
  if (!scaled && numbers_ == Numbers::opaque) result.value = fresh("ratio", false);
  if (mode_ == Mode::machine) return result;
  if (infinite(a).is_false()) result.plus = result.minus = z3_.bool_val(false);
  if (infinite(a).is_false() && infinite(b).is_false()) result.nan = either(a.nan, b.nan);
  return result;
}

// Returns whether a zero divisor counts as negative. That is unknown, but each divisor has one answer.
z3::expr Encoder::zero_sign(const z3::expr& divisor) {
  auto at = std::find_if(divisors_.begin(), divisors_.end(), [&](const z3::expr& d) { return z3::eq(d, divisor); });
  if (at == divisors_.end()) at = divisors_.insert(at, divisor);
  return z3_.bool_const(fmt::format("sign!{}", at - divisors_.begin()).c_str());
}

// Returns q with q <= a / b < q + 1, and 0 for b = 0.
z3::expr Encoder::whole_quotient(const z3::expr& a, const z3::expr& b) {
  for (const auto& [of, known] : quotients_) {
    if (z3::eq(of.first, a) && z3::eq(of.second, b)) return known;
  }
  z3::expr q = fresh_whole("quotient");
  const z3::expr zero = b.is_int() ? z3_.int_val(0) : z3_.real_val(0);
  const z3::expr low = numbers_ == Numbers::opaque ? opaque_product(q, b) : q * b;
  linear_ = linear_ && (b.is_numeral() || numbers_ == Numbers::opaque);
  facts_.push_back(z3::implies(b > zero, low <= a && a < low + b));
  facts_.push_back(z3::implies(b < zero, low >= a && a > low + b));
  facts_.push_back(z3::implies(b == zero, q == zero));
  for (const auto& [of, other] : quotients_) {
    if (!z3::eq(of.second, b)) continue;  // they grow with the dividend, or fall
    facts_.push_back(
        z3::implies(b > zero, z3::implies(a <= of.first, q <= other) && z3::implies(a >= of.first, q >= other)));
    facts_.push_back(
        z3::implies(b < zero, z3::implies(a <= of.first, q >= other) && z3::implies(a >= of.first, q <= other)));
  }
  // And they lie between the dividend and its negative.
  facts_.push_back(z3::implies(b != zero && a >= zero, q <= a && q >= -a));
  facts_.push_back(z3::implies(b != zero && a <= zero, q >= a && q <= -a));
  quotients_.push_back({{a, b}, q});
  return q;
}

Term Encoder::floor_divided_integers(const Expr& e, const Term& a, const Term& b) {
  const Scalar scalar = e.type.scalar();
  const Term x = plain(as_number(a, scalar));
  const Term y = plain(as_number(b, scalar));
  Term q = plain(whole_quotient(x.value, y.value));
  if (e.op == ScalarOp::mod) return sum(x, negated(times(y, q)));
  if (infinite(a).is_false() && infinite(b).is_false()) {
    keep_in_type(q, scalar);
    return q;
  }
  const IntegerEnds ends = integer_ends(scalar);
  q.plus = q.value == number_of(scalar, ends.high);
  q.minus = q.value == number_of(scalar, ends.low);
  keep_in_type(q, scalar);
  return q;
}

Term Encoder::floor_divided(const Expr& e, const Term& a, const Term& b) {
  if (!is_float(e.type.scalar())) return floor_divided_integers(e, a, b);
  const Term q = whole_part(divided(a, b));
  return e.op == ScalarOp::floor_div ? q : sum(a, negated(times(b, q)));
}

Term Encoder::whole_part(const Term& a) {
  const z3::expr n = fresh_whole("floor");
  facts_.push_back(real(n) <= a.value && a.value < real(n) + 1);
  return {real(n), a.plus, a.minus, a.nan};
}

Term Encoder::truncated(const Term& a) {
  const z3::expr n = fresh_whole("trunc");
  const z3::expr x = real(n);
  const z3::expr zero = z3_.real_val(0);
  facts_.push_back(z3::implies(a.value >= zero, x <= a.value && a.value < x + 1));
  facts_.push_back(z3::implies(a.value < zero, a.value <= x && x < a.value + 1 && x <= zero));
  return plain(n);
}

}  // namespace kasen::prover
