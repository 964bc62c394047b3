#include "libcore/laws/numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/scalar/elementary.h"
#include "libcore/scalar/exact_evaluator.h"

namespace kasen {
namespace {

using Kind = CaseNumber::Kind;

CaseNumber not_a_number() { return {Kind::nan, {}}; }

}  // namespace

void CaseArithmetic::charge(const Quotient& a, const Quotient& b) {
  path_.step(1 + (a.over.size() + a.under.size()) * (b.over.size() + b.under.size()));
}

// ---- operands decided at once

CaseNumber CaseArithmetic::number(const Rational& value) { return {Kind::finite, Quotient(value)}; }

CaseNumber CaseArithmetic::infinity(bool positive) { return {positive ? Kind::plus : Kind::minus, {}}; }

CaseNumber CaseArithmetic::literal(Scalar scalar, Word word) const {
  if (is_float(scalar)) {
    if (std::isnan(word.f)) return not_a_number();
    return std::isinf(word.f) ? infinity(word.f > 0) : number(Rational(word.f));
  }
  const IntegerEnds ends = integer_ends(scalar);
  const bool end = word.i == ends.low || word.i == ends.high;
  return end && mode_ == CaseMode::machine ? infinity(word.i == ends.high) : number(Rational(word.i));
}

// ---- comparisons

int CaseArithmetic::sign(const CaseNumber& a) {
  if (a.infinite()) return a.kind == Kind::plus ? 1 : -1;
  charge(a.value, a.value);
  const RationalPolynomial p = sign_of(a.value);
  return path_.negative(p) ? -1 : path_.zero(p) ? 0 : 1;
}

bool CaseArithmetic::is_zero(const CaseNumber& a) { return a.finite() && path_.zero(a.value.over); }

bool CaseArithmetic::less(const CaseNumber& a, const CaseNumber& b) {
  if (a.nan() || b.nan()) return false;
  if (a.infinite() || b.infinite()) return a.kind != b.kind && (a.kind == Kind::minus || b.kind == Kind::plus);
  charge(a.value, b.value);
  return path_.negative(sign_of(a.value + kasen::negated(b.value)));
}

bool CaseArithmetic::equal(const CaseNumber& a, const CaseNumber& b) {
  if (a.nan() || a.kind != b.kind) return false;
  if (a.infinite()) return true;
  charge(a.value, b.value);
  return path_.zero(difference(a.value, b.value));
}

bool CaseArithmetic::same(const CaseNumber& a, const CaseNumber& b) {
  if (a.kind != b.kind) return false;
  if (!a.finite()) return true;
  charge(a.value, b.value);
  return path_.always_zero(difference(a.value, b.value));
}

// ---- arithmetic

CaseNumber CaseArithmetic::negated(const CaseNumber& a) {
  if (a.infinite()) return infinity(a.kind == Kind::minus);
  return {a.kind, kasen::negated(a.value)};
}

CaseNumber CaseArithmetic::sum(const CaseNumber& a, const CaseNumber& b, bool integers) {
  if (a.nan() || b.nan()) return not_a_number();
  if (a.infinite() && b.infinite() && a.kind != b.kind) return integers ? infinity(false) : not_a_number();
  if (a.infinite() || b.infinite()) return a.infinite() ? a : b;
  charge(a.value, b.value);
  return {Kind::finite, a.value + b.value};
}

CaseNumber CaseArithmetic::product(const CaseNumber& a, const CaseNumber& b, bool integers) {
  if (a.nan() || b.nan()) return not_a_number();
  if (a.infinite() || b.infinite()) {
    const int joint = sign(a) * sign(b);
    if (joint != 0) return infinity(joint > 0);
    return integers ? number(0) : not_a_number();
  }
  charge(a.value, b.value);
  return {Kind::finite, a.value * b.value};
}

CaseNumber CaseArithmetic::quotient(const CaseNumber& a, const CaseNumber& b) {
  if (a.nan() || b.nan() || (a.infinite() && b.infinite())) return not_a_number();
  if (b.infinite()) return number(0);
  if (mode_ == CaseMode::defined) {
    path_.require_not_zero(b.value.over);
  } else if (!path_.never_zero(b.value.over)) {
    throw Undecided{};
  }
  if (a.infinite()) return infinity(sign(a) * sign(b) > 0);
  charge(a.value, b.value);
  return {Kind::finite, Quotient(a.value.over * b.value.under, a.value.under * b.value.over)};
}

CaseNumber CaseArithmetic::extremum(const CaseNumber& a, const CaseNumber& b, bool least) {
  if (a.nan() || b.nan()) return not_a_number();
  return less(b, a) == least ? b : a;
}

// ---- uninterpreted functions

// One value for arguments that are the same whatever the unknowns are.
CaseNumber CaseArithmetic::apply(ScalarOp op, std::vector<Quotient> args) {
  const auto alike = [&](const Quotient& a, const Quotient& b) {
    charge(a, b);
    return difference(a, b).is_zero();
  };
  for (const Application& known : applications_) {
    if (known.op == op && std::equal(args.begin(), args.end(), known.args.begin(), alike)) return known.value;
  }
  applications_.push_back({op, std::move(args), unknown()});
  CaseNumber value = applications_.back().value;
  tell_bounds(op, value);
  return value;
}

// The machine's exp may be 0, its tanh 1.
void CaseArithmetic::tell_bounds(ScalarOp op, const CaseNumber& value) {
  const ElementaryRow* const function = elementary_row(op);
  if (function == nullptr) return;
  const FunctionShape& shape = function->shape;
  const bool defined = mode_ == CaseMode::defined;
  const auto bound = [&](double end, bool strict, bool from_above) {
    RationalPolynomial p = value.value.over;
    p += RationalPolynomial(Rational(-end));
    path_.given(p, strict, from_above);
  };
  if (std::isfinite(shape.least)) bound(shape.least, defined && shape.least_open, false);
  if (std::isfinite(shape.most)) bound(shape.most, defined && shape.most_open, true);
}

CaseNumber CaseArithmetic::whole_part(const CaseNumber& a) {
  if (!a.finite()) return a;
  const Quotient& q = a.value;
  if (q.whole() && q.over.is_constant()) return number(exact::floor_of(q.over.constant()));
  return apply(ScalarOp::floor, {q});
}

CaseNumber CaseArithmetic::truncated(const CaseNumber& a) {
  if (!a.finite()) throw Undecided{};
  const Quotient& q = a.value;
  if (q.whole() && q.over.is_constant()) {
    const Rational c = q.over.constant();
    return number(c < 0 ? Rational(-exact::floor_of(Rational(-c))) : exact::floor_of(c));
  }
  if (mode_ == CaseMode::machine) throw Undecided{};
  return apply(ScalarOp::cast, {q});
}

CaseNumber CaseArithmetic::whole_quotient(ScalarOp op, const CaseNumber& a, const CaseNumber& b) {
  if (!a.finite() || !b.finite()) throw Undecided{};
  if (a.value.over.is_constant() && b.value.over.is_constant()) {  // integers have no denominators
    const Rational x = a.value.over.constant();
    const Rational y = b.value.over.constant();
    const Rational q = y == 0 ? Rational(0) : exact::floor_of(Rational(x / y));
    return number(op == ScalarOp::floor_div ? q : Rational(x - y * q));
  }
  if (mode_ == CaseMode::machine) throw Undecided{};
  return apply(op, {a.value, b.value});
}

CaseNumber CaseArithmetic::power(const CaseNumber& a, const CaseNumber& b, const Expr& exponent) {
  const bool small = exponent.op == ScalarOp::constant && std::fabs(exponent.literal.f) <= exact::largest_power &&
                     std::floor(exponent.literal.f) == exponent.literal.f;
  if (small) {
    CaseNumber result = number(1);
    for (int i = 0; i < static_cast<int>(std::fabs(exponent.literal.f)); ++i) {
      result = i == 0 ? a : product(result, a, false);
    }
    return exponent.literal.f < 0 ? quotient(number(1), result) : result;
  }
  if (!a.finite() || !b.finite() || mode_ == CaseMode::machine) throw Undecided{};
  return apply(ScalarOp::pow, {a.value, b.value});
}

CaseNumber CaseArithmetic::elementary(ScalarOp op, const CaseNumber& a) {
  const ElementaryRow* const function = elementary_row(op);
  if (function == nullptr) throw Undecided{};
  const bool plus = a.kind == Kind::plus, partial = !function->shape.everywhere();
  if (a.nan()) return a;
  if (a.finite()) {
    if (partial && mode_ == CaseMode::machine) throw Undecided{};
    for (const Application& known : applications_) {  // log(exp(x)), and exp(log(x)) if log has a value
      const bool undone = (op == ScalarOp::log && known.op == ScalarOp::exp) ||
                          (op == ScalarOp::exp && known.op == ScalarOp::log && mode_ == CaseMode::defined);
      if (undone && difference(a.value, known.value.value).is_zero()) return {Kind::finite, known.args[0]};
    }
    return apply(op, {a.value});
  }
  const double limit = plus ? function->shape.at_plus : function->shape.at_minus;
  if (std::isnan(limit)) return partial ? throw Undecided{} : not_a_number();
  if (std::isinf(limit)) return infinity(limit > 0);
  if (std::floor(limit) != limit) throw Undecided{};  // no number that can be written here
  return number(Rational(limit));
}

}  // namespace kasen
