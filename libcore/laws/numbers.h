// Numbers and truth values on one path through the cases of a law, and what the operators make of them. IEEE 754
// without rounding and with one zero; integers are whole numbers without end, of which the ends of their type stand for
// infinities. Not for use outside of libcore.
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
  defined,  // where an operator has no value (x / 0) nothing is asked
  machine,  // it has the one that the machine gives it: what is not known to have one is not decided
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
  struct Application {  // of a function that is not interpreted
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
