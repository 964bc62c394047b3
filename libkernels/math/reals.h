// Arithmetic on floating-point numbers in generated code, as formulas: each value is one number, or a vector of them.
// Every operation rounds once, and nothing is contracted: the bits are the same on every processor.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <cstdint>
#include <vector>

#include "libkernels/jit/target.h"

namespace kasen {

class Reals;

struct Real {  // f64
  const Reals* in;
  llvm::Value* value;
};
struct Integer {  // i64, which wraps
  const Reals* in;
  llvm::Value* value;
};
struct Test {
  const Reals* in;
  llvm::Value* value;
};

// A number that is known to more digits than one f64 has: high + low, where low is below half a unit of high.
struct TwoReals {
  Real high, low;
};

// Values of one shape, that of `like`, written at the builder's place.
class Reals {
 public:
  Reals(llvm::IRBuilder<>& builder, llvm::Type* shape, const Target& target);

  llvm::IRBuilder<>& b;

  [[nodiscard]] Real take(llvm::Value* value) const { return {this, value}; }
  [[nodiscard]] Real real(double value) const;
  [[nodiscard]] Integer integer(std::uint64_t value) const;
  [[nodiscard]] llvm::Type* type() const { return type_; }
  [[nodiscard]] llvm::Type* bits_type() const;
  [[nodiscard]] const Target& target() const { return target_; }
  [[nodiscard]] unsigned lanes() const;  // 1: no vector

  // table[index], where the index is one of the table's.
  [[nodiscard]] Real entry(llvm::ArrayRef<double> table, const char* name, Integer index) const;

 private:
  [[nodiscard]] llvm::Value* lane_by_lane(llvm::Value* addresses) const;

  llvm::Type* type_;
  const Target& target_;
};

[[nodiscard]] Real operator+(Real x, Real y);
[[nodiscard]] Real operator-(Real x, Real y);
[[nodiscard]] Real operator*(Real x, Real y);
[[nodiscard]] Real operator/(Real x, Real y);
[[nodiscard]] Real operator-(Real x);
[[nodiscard]] inline Real operator+(Real x, double y) { return x + x.in->real(y); }
[[nodiscard]] inline Real operator-(Real x, double y) { return x - x.in->real(y); }
[[nodiscard]] inline Real operator-(double x, Real y) { return y.in->real(x) - y; }
[[nodiscard]] inline Real operator*(Real x, double y) { return x * x.in->real(y); }
[[nodiscard]] inline Real operator/(double x, Real y) { return y.in->real(x) / y; }
[[nodiscard]] Test operator<(Real x, double y);
[[nodiscard]] Test operator>(Real x, double y);
[[nodiscard]] Test operator==(Real x, Real y);
[[nodiscard]] inline Test operator==(Real x, double y) { return x == x.in->real(y); }
[[nodiscard]] Integer operator+(Integer x, Integer y);
[[nodiscard]] Integer operator-(Integer x, Integer y);
[[nodiscard]] Integer operator<<(Integer x, std::uint64_t bits);
[[nodiscard]] Integer operator>>(Integer x, std::uint64_t bits);  // of a number with a sign
[[nodiscard]] inline Integer operator+(Integer x, std::uint64_t y) { return x + x.in->integer(y); }
[[nodiscard]] inline Integer operator-(Integer x, std::uint64_t y) { return x - x.in->integer(y); }
[[nodiscard]] Integer operator&(Integer x, std::uint64_t y);
[[nodiscard]] Integer operator^(Integer x, Integer y);
[[nodiscard]] Test operator==(Integer x, std::uint64_t y);
[[nodiscard]] Test operator&&(Test x, Test y);
[[nodiscard]] Test operator!(Test x);

[[nodiscard]] Real fused(Real x, Real y, Real z);  // x y + z, rounded once
[[nodiscard]] inline Real fused(Real x, double y, Real z) { return fused(x, x.in->real(y), z); }
[[nodiscard]] inline Real fused(Real x, double y, double z) { return fused(x, x.in->real(y), x.in->real(z)); }
[[nodiscard]] Real abs(Real x);
[[nodiscard]] Real sqrt(Real x);
[[nodiscard]] Real floor(Real x);
[[nodiscard]] Real with_sign_of(Real x, Real sign);  // copysign
[[nodiscard]] Real select(Test test, Real yes, Real no);
[[nodiscard]] inline Real select(Test test, double yes, Real no) { return select(test, no.in->real(yes), no); }
[[nodiscard]] inline Real select(Test test, Real yes, double no) { return select(test, yes, yes.in->real(no)); }
[[nodiscard]] Integer select(Test test, std::uint64_t yes, std::uint64_t no);
[[nodiscard]] Integer bits(Real x);
[[nodiscard]] Real from_bits(Integer x);
[[nodiscard]] Integer at_least(Integer x, std::int64_t limit);
[[nodiscard]] Integer at_most(Integer x, std::uint64_t limit);  // of numbers without a sign
// x, but `limit` if x is beyond it; NaN stays.
[[nodiscard]] inline Real at_most(Real x, double limit) { return select(x > limit, limit, x); }
[[nodiscard]] inline Real at_least(Real x, double limit) { return select(x < limit, limit, x); }

// x + y and x y, exactly, if neither overflows nor is too small.
[[nodiscard]] TwoReals exact_sum(Real x, Real y);
[[nodiscard]] TwoReals exact_product(Real x, Real y);
// x + y exactly, if |x| >= |y| or x is 0.
[[nodiscard]] TwoReals ordered_sum(Real x, Real y);

// c0 + c1 x + ...: pairs of neighbours first, then pairs of pairs (Estrin), so that no operation waits for all before
// it.
[[nodiscard]] Real polynomial(Real x, std::vector<Real> c);
template <std::size_t n>
[[nodiscard]] Real polynomial(Real x, const std::array<double, n>& c) {
  std::vector<Real> values;
  for (const double value : c) values.push_back(x.in->real(value));
  return polynomial(x, std::move(values));
}

// Added to a number below 2^51, it leaves the nearest integer in the last bits.
constexpr double rounding = 0x1.8p52;

struct Rounded {
  Real number;
  Integer integer;
};
// Of a sum x + rounding.
[[nodiscard]] Rounded nearest_integer(Real shifted);
// 2^n for -1022 <= n <= 1023.
[[nodiscard]] Real power_of_2(Integer n);
// x 2^n for an integer n, rounded once. x is between 1/2 and 2.
[[nodiscard]] Real scaled(Real x, const Rounded& n);

}  // namespace kasen
