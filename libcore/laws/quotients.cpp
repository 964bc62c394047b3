#include "libcore/laws/quotients.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kasen {

RationalPolynomial RationalPolynomial::unknown(int number) {
  RationalPolynomial p;
  p.add({number}, 1);
  return p;
}

void RationalPolynomial::add(const Monomial& monomial, const Rational& coefficient) {
  if (coefficient == 0) return;
  const auto [place, is_new] = terms_.emplace(monomial, coefficient);
  if (is_new) return;
  place->second += coefficient;
  if (place->second == 0) terms_.erase(place);
}

RationalPolynomial& RationalPolynomial::operator+=(const RationalPolynomial& other) {
  if (this == &other) return *this *= Rational(2);
  for (const auto& [monomial, coefficient] : other.terms_) add(monomial, coefficient);
  return *this;
}

RationalPolynomial& RationalPolynomial::operator-=(const RationalPolynomial& other) {
  if (this == &other) return *this = {};
  for (const auto& [monomial, coefficient] : other.terms_) add(monomial, Rational(-coefficient));
  return *this;
}

RationalPolynomial& RationalPolynomial::operator*=(const Rational& factor) {
  if (factor == 0) terms_.clear();
  if (factor == 1) return *this;
  for (auto& [monomial, coefficient] : terms_) coefficient *= factor;
  return *this;
}

void RationalPolynomial::negate() {
  for (auto& [monomial, coefficient] : terms_) coefficient.backend().negate();
}

RationalPolynomial operator*(const RationalPolynomial& a, const RationalPolynomial& b) {
  RationalPolynomial product;
  for (const auto& [x, p] : a.terms_) {
    for (const auto& [y, q] : b.terms_) {
      RationalPolynomial::Monomial both;
      both.reserve(x.size() + y.size());
      std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both));
      product.add(both, Rational(p * q));
    }
  }
  return product;
}

Rational RationalPolynomial::constant() const {
  const auto at = terms_.find({});
  return at == terms_.end() ? Rational(0) : at->second;
}

Quotient::Quotient(RationalPolynomial numerator, const RationalPolynomial& denominator) : over(std::move(numerator)) {
  if (denominator.is_constant()) {
    if (denominator.constant() != 1) over *= Rational(1 / denominator.constant());
  } else if (!over.is_zero()) {
    under = denominator;
  }
}

Quotient negated(Quotient a) {
  a.over.negate();
  return a;
}

Quotient operator+(const Quotient& a, const Quotient& b) {
  if (a.whole() && b.whole()) {
    RationalPolynomial sum = a.over;
    return Quotient(sum += b.over);
  }
  if (a.under == b.under) {
    RationalPolynomial sum = a.over;
    return {sum += b.over, a.under};
  }
  RationalPolynomial sum = a.over * b.under;
  return {sum += b.over * a.under, a.under * b.under};
}

Quotient operator*(const Quotient& a, const Quotient& b) {
  if (a.whole() && b.whole()) return Quotient(a.over * b.over);
  return {a.over * b.over, a.under * b.under};
}

RationalPolynomial difference(const Quotient& a, const Quotient& b) {
  RationalPolynomial d;
  if ((a.whole() && b.whole()) || a.under == b.under) {
    d = a.over;
    return d -= b.over;
  }
  d = a.over * b.under;
  return d -= b.over * a.under;
}

RationalPolynomial sign_of(const Quotient& a) { return a.whole() ? a.over : a.over * a.under; }

}  // namespace kasen
