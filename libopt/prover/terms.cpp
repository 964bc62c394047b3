#include "libopt/prover/terms.h"

namespace kasen::prover {
namespace {

z3::expr falsehood(const z3::expr& like) { return like.ctx().bool_val(false); }
z3::expr zero(const z3::expr& like) { return like.is_int() ? like.ctx().int_val(0) : like.ctx().real_val(0); }

z3::expr negative_sign(const Term& a) { return either(a.minus, both(finite(a), a.value < zero(a.value))); }

}  // namespace

z3::expr both(const z3::expr& a, const z3::expr& b) {
  if (a.is_true() || b.is_false()) return b;
  if (b.is_true() || a.is_false()) return a;
  return a && b;
}

z3::expr either(const z3::expr& a, const z3::expr& b) {
  if (a.is_false() || b.is_true()) return b;
  if (b.is_false() || a.is_true()) return a;
  return a || b;
}

z3::expr no(const z3::expr& a) {
  if (a.is_true()) return a.ctx().bool_val(false);
  if (a.is_false()) return a.ctx().bool_val(true);
  return !a;
}

z3::expr choose(const z3::expr& condition, const z3::expr& then, const z3::expr& other) {
  if (condition.is_true() || z3::eq(then, other)) return then;
  if (condition.is_false()) return other;
  if (then.is_true() && other.is_false()) return condition;
  return z3::ite(condition, then, other);
}

Term plain(const z3::expr& value) {
  const z3::expr none = falsehood(value);
  return {value, none, none, none};
}

Term select(const z3::expr& condition, const Term& then, const Term& other) {
  return {choose(condition, then.value, other.value), choose(condition, then.plus, other.plus),
          choose(condition, then.minus, other.minus), choose(condition, then.nan, other.nan)};
}

z3::expr infinite(const Term& a) { return either(a.plus, a.minus); }
z3::expr finite(const Term& a) { return no(either(infinite(a), a.nan)); }
z3::expr above_zero(const Term& a) { return either(a.plus, both(finite(a), a.value > zero(a.value))); }
z3::expr below_zero(const Term& a) { return negative_sign(a); }
z3::expr is_zero(const Term& a) { return both(finite(a), a.value == zero(a.value)); }

Term negated(const Term& a) { return {-a.value, a.minus, a.plus, a.nan}; }

Term sum(const Term& a, const Term& b) {
  const z3::expr clash = either(both(a.plus, b.minus), both(a.minus, b.plus));
  const z3::expr nan = either(either(a.nan, b.nan), clash);
  return {a.value + b.value, both(no(nan), either(a.plus, b.plus)), both(no(nan), either(a.minus, b.minus)), nan};
}

Term product(const Term& a, const Term& b) {
  const z3::expr any = either(infinite(a), infinite(b));
  if (any.is_false()) return {a.value * b.value, any, any, either(a.nan, b.nan)};
  const z3::expr clash = either(both(infinite(a), is_zero(b)), both(infinite(b), is_zero(a)));
  const z3::expr nan = either(either(a.nan, b.nan), clash);
  const z3::expr negative = choose(negative_sign(a), no(negative_sign(b)), negative_sign(b));
  const z3::expr large = both(any, no(nan));
  return {a.value * b.value, both(large, no(negative)), both(large, negative), nan};
}

Term of_integers(const Term& sum) { return {sum.value, sum.plus, either(sum.minus, sum.nan), falsehood(sum.value)}; }

Term product_of_integers(const Term& product) {
  return {choose(product.nan, zero(product.value), product.value), product.plus, product.minus,
          falsehood(product.value)};
}

Term quotient(const Term& a, const Term& b, const z3::expr& negative_zero) {
  const z3::expr clash = either(both(infinite(a), infinite(b)), both(is_zero(a), is_zero(b)));
  const z3::expr nan = either(either(a.nan, b.nan), clash);
  const z3::expr large = both(no(nan), either(infinite(a), is_zero(b)));
  const z3::expr below = choose(is_zero(b), negative_zero, negative_sign(b));
  const z3::expr negative = choose(negative_sign(a), no(below), below);
  const z3::expr value = choose(infinite(b), zero(a.value), a.value / b.value);
  return {value, both(large, no(negative)), both(large, negative), nan};
}

z3::expr less(const Term& a, const Term& b) {
  const z3::expr numbers = no(either(a.nan, b.nan));
  const z3::expr infinities = either(both(a.minus, no(b.minus)), both(b.plus, no(a.plus)));
  const z3::expr values = both(both(finite(a), finite(b)), a.value < b.value);
  return both(numbers, either(infinities, values));
}

z3::expr equal(const Term& a, const Term& b) {
  if (a.value.is_bool()) return a.value == b.value;
  const z3::expr infinities = either(both(a.plus, b.plus), both(a.minus, b.minus));
  return either(infinities, both(both(finite(a), finite(b)), a.value == b.value));
}

Term lesser(const Term& a, const Term& b) {
  const Term least = select(less(b, a), b, a);
  const z3::expr nan = either(a.nan, b.nan);
  return {least.value, both(no(nan), least.plus), both(no(nan), least.minus), nan};
}

z3::expr same(const Term& a, const Term& b) {
  if (a.value.is_bool()) return a.value == b.value;
  return either(equal(a, b), both(a.nan, b.nan));
}

}  // namespace kasen::prover
