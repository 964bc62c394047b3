// Numbers and truth values on one path through the cases of a law, and the operators on them. They follow IEEE 754
// without rounding and with one zero. Integers are unbounded; the ends of their type stand for infinities. Not for use
// outside libcore.
#pragma once

#include <vector>

#include "libcore/laws/path.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

struct CaseNumber {
  enum class Kind : std::uint8_t { finite, plus, minus, nan };
  Kind kind = Kind::finite;
  Quotient value;  // if finite

  [[nodiscard]] bool finite() const { return kind == Kind::finite; }
  [[nodiscard]] bool nan() const { return kind == Kind::nan; }
  [[nodiscard]] bool infinite() const { return !finite() && !nan(); }
};

enum class CaseMode : std::uint8_t {
  defined,  // nothing is asked if an operator has no value (x / 0)
  machine,  // an operator has the machine's value; undecided if none is known
};

class CaseArithmetic {
 public:
  CaseArithmetic(LawPath& path, CaseMode mode) : path_(path), mode_(mode) {}

  [[nodiscard]] CaseMode mode() const { return mode_; }
  [[nodiscard]] LawPath& path() { return path_; }
  [[nodiscard]] static CaseNumber number(const Rational& value);
  [[nodiscard]] static CaseNumber infinity(bool positive);
  [[nodiscard]] CaseNumber unknown() {
    return {CaseNumber::Kind::finite, Quotient(RationalPolynomial::unknown(names_++))};
  }
  [[nodiscard]] int name() { return names_++; }
  [[nodiscard]] CaseNumber literal(Scalar scalar, Word word) const;

  [[nodiscard]] bool less(const CaseNumber& a, const CaseNumber& b);
  [[nodiscard]] bool equal(const CaseNumber& a, const CaseNumber& b);
  [[nodiscard]] bool is_zero(const CaseNumber& a);
  [[nodiscard]] bool same(const CaseNumber& a, const CaseNumber& b);  // wherever this path leads; or neither a number

  [[nodiscard]] static CaseNumber negated(const CaseNumber& a);
  [[nodiscard]] CaseNumber sum(const CaseNumber& a, const CaseNumber& b, bool integers);
  [[nodiscard]] CaseNumber product(const CaseNumber& a, const CaseNumber& b, bool integers);
  [[nodiscard]] CaseNumber quotient(const CaseNumber& a, const CaseNumber& b);
  [[nodiscard]] CaseNumber extremum(const CaseNumber& a, const CaseNumber& b, bool least);
  [[nodiscard]] CaseNumber whole_part(const CaseNumber& a);
  [[nodiscard]] CaseNumber whole_quotient(ScalarOp op, const CaseNumber& a, const CaseNumber& b);  // of integers
  [[nodiscard]] CaseNumber truncated(const CaseNumber& a);
  [[nodiscard]] CaseNumber power(const CaseNumber& a, const CaseNumber& b, const Expr& exponent);
  [[nodiscard]] CaseNumber elementary(ScalarOp op, const CaseNumber& a);

 private:
  struct Application {  // of an uninterpreted function
    ScalarOp op;
    std::vector<Quotient> args;
    CaseNumber value;
  };

  [[nodiscard]] int sign(const CaseNumber& a);
  [[nodiscard]] CaseNumber apply(ScalarOp op, std::vector<Quotient> args);
  void tell_bounds(ScalarOp op, const CaseNumber& value);
  void charge(const Quotient& a, const Quotient& b);

  LawPath& path_;
  CaseMode mode_;
  std::vector<Application> applications_;
  int names_ = 0;
};

}  // namespace kasen
