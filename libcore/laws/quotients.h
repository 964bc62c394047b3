// Rational functions of numbered unknowns over the rationals: the result of a scalar function on one path through its
// cases. Equality is decided by multiplying out.
#pragma once

#include <map>
#include <vector>

#include "libcore/scalar/exact.h"

namespace kasen {

class RationalPolynomial {
 public:
  using Monomial = std::vector<int>;  // unknowns, ascending; a power is a repeat

  RationalPolynomial() = default;
  explicit RationalPolynomial(const Rational& constant) { add({}, constant); }
  static RationalPolynomial unknown(int number);

  RationalPolynomial& operator+=(const RationalPolynomial& other);
  RationalPolynomial& operator-=(const RationalPolynomial& other);
  RationalPolynomial& operator*=(const Rational& factor);
  void negate();
  friend RationalPolynomial operator*(const RationalPolynomial& a, const RationalPolynomial& b);
  friend bool operator==(const RationalPolynomial&, const RationalPolynomial&) = default;

  [[nodiscard]] const std::map<Monomial, Rational>& terms() const { return terms_; }
  [[nodiscard]] size_t size() const { return terms_.size(); }
  [[nodiscard]] bool is_zero() const { return terms_.empty(); }
  [[nodiscard]] bool is_constant() const { return is_zero() || (size() == 1 && terms_.begin()->first.empty()); }
  [[nodiscard]] Rational constant() const;  // the term without unknowns

 private:
  void add(const Monomial& monomial, const Rational& coefficient);

  std::map<Monomial, Rational> terms_;  // no zero coefficients
};

// over / under; under is not the zero polynomial. Only constants below are cancelled.
struct Quotient {
  RationalPolynomial over;
  RationalPolynomial under{Rational(1)};

  Quotient() = default;
  explicit Quotient(const Rational& constant) : over(constant) {}
  explicit Quotient(RationalPolynomial numerator) : over(std::move(numerator)) {}
  Quotient(RationalPolynomial numerator, const RationalPolynomial& denominator);

  [[nodiscard]] bool whole() const { return under.is_constant(); }  // then under is 1
};

[[nodiscard]] Quotient negated(Quotient a);
[[nodiscard]] Quotient operator+(const Quotient& a, const Quotient& b);
[[nodiscard]] Quotient operator*(const Quotient& a, const Quotient& b);
// a.over * b.under - b.over * a.under: zero exactly if they are equal.
[[nodiscard]] RationalPolynomial difference(const Quotient& a, const Quotient& b);
// A polynomial with the sign of the quotient wherever that is defined.
[[nodiscard]] RationalPolynomial sign_of(const Quotient& a);

}  // namespace kasen
