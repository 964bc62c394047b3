// The meaning of each scalar operator on concrete values: the reference for every code generator.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "libcore/base/error.h"
#include "libcore/base/floor_quotient.h"
#include "libcore/scalar/elementary.h"
#include "libcore/scalar/scalar.h"

namespace kasen {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

bool is_end(const IntegerEnds& ends, std::int64_t v) { return v == ends.low || v == ends.high; }

// Two's complement arithmetic without undefined behaviour; i32 results are cut back to 32 bits.
std::int64_t wrap(Scalar s, std::uint64_t v) {
  return s == Scalar::i32 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(v)) : static_cast<std::int64_t>(v);
}

// The sum of opposite infinities is the smallest number, in either order.
std::int64_t integer_sum(Scalar s, std::int64_t a, std::int64_t b) {
  const IntegerEnds e = integer_ends(s);
  if (a == e.low || b == e.low) return e.low;
  if (a == e.high || b == e.high) return e.high;
  return wrap(s, static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t integer_difference(Scalar s, std::int64_t a, std::int64_t b) {
  const IntegerEnds e = integer_ends(s);
  if (a == e.low || b == e.high) return e.low;
  if (a == e.high || b == e.low) return e.high;
  return wrap(s, static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::int64_t integer_negative(Scalar s, std::int64_t a) {
  const IntegerEnds e = integer_ends(s);
  if (a == e.low) return e.high;
  return a == e.high ? e.low : -a;
}

std::int64_t integer_product(Scalar s, std::int64_t a, std::int64_t b) {
  const IntegerEnds e = integer_ends(s);
  if (a == 0 || b == 0) return 0;
  if (is_end(e, a) || is_end(e, b)) return (a < 0) != (b < 0) ? e.low : e.high;
  return wrap(s, static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014; the constants are
// variant 13 of Stafford's): its output number b + 1 from state a. Generated code: libkernels/emit/emit_operators.cpp.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + (b + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::int64_t split_mix(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

std::int64_t shifted_left(std::int64_t a, std::int64_t b) {
  return b < 0 || b > 63 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
}

std::int64_t shifted_right(std::int64_t a, std::int64_t b) { return a >> (b < 0 || b > 63 ? 63 : b); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  return floor_quotient(a, b);
}

// IEEE 754-2019 minimum and maximum: NaN propagates, -0 below +0.
double ieee_min(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double ieee_max(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double real_op(ScalarOp op, std::span<const Word> w) {
  const double a = w[0].f;
  const double b = w.size() > 1 ? w[1].f : 0.0;
  switch (op) {
    case ScalarOp::add:
      return a + b;
    case ScalarOp::sub:
      return a - b;
    case ScalarOp::mul:
      return a * b;
    case ScalarOp::div:
      return a / b;
    case ScalarOp::floor_div:
      return std::floor(a / b);
    case ScalarOp::mod:
      return a - b * std::floor(a / b);
    case ScalarOp::neg:
      return -a;
    case ScalarOp::min:
      return ieee_min(a, b);
    case ScalarOp::max:
      return ieee_max(a, b);
    case ScalarOp::abs:
      return std::fabs(a);
    case ScalarOp::floor:
      return std::floor(a);
    case ScalarOp::ceil:
      return std::ceil(a);
    case ScalarOp::pow:
      return std::pow(a, b);
    case ScalarOp::fmod:
      return std::fmod(a, b);
    default:
      break;
  }
  const ElementaryRow* const function = elementary_row(op);
  if (function == nullptr) throw InternalError("evaluate: no such operator on floating-point numbers");
  return function->value(a);
}

// The same in single precision. Composite operators round after each step, as generated f32 code does.
double single_op(ScalarOp op, std::span<const Word> w) {
  const auto a = static_cast<float>(w[0].f);
  const auto b = w.size() > 1 ? static_cast<float>(w[1].f) : 0.0F;
  switch (op) {
    case ScalarOp::floor_div:
      return std::floor(a / b);
    case ScalarOp::mod: {
      const float quotient = std::floor(a / b);
      const float product = b * quotient;
      return a - product;
    }
    default:
      return static_cast<float>(real_op(op, w));
  }
}

std::int64_t integer_op(ScalarOp op, Scalar s, std::span<const Word> w) {
  const std::int64_t a = w[0].i;
  const std::int64_t b = w.size() > 1 ? w[1].i : 0;
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case ScalarOp::add:
      return integer_sum(s, a, b);
    case ScalarOp::sub:
      return integer_difference(s, a, b);
    case ScalarOp::mul:
      return integer_product(s, a, b);
    case ScalarOp::floor_div:
      return wrap(s, static_cast<std::uint64_t>(floor_divide(a, b)));
    case ScalarOp::mod: {
      if (b == 0) return 0;
      return wrap(s, ua - ub * static_cast<std::uint64_t>(floor_divide(a, b)));
    }
    case ScalarOp::neg:
      return integer_negative(s, a);
    case ScalarOp::abs:
      return a < 0 ? integer_negative(s, a) : a;
    case ScalarOp::min:
      return std::min(a, b);
    case ScalarOp::max:
      return std::max(a, b);
#define BITS(name, arity, work, numeric, doc) \
  case ScalarOp::name:                        \
    return numeric;
#include "libcore/scalar/bits.def"
#undef BITS
    case ScalarOp::logical_and:
      return a & b;
    case ScalarOp::logical_or:
      return a | b;
    case ScalarOp::logical_not:
      return a ^ 1;
    default:
      throw InternalError("evaluate: no such operator on integers");
  }
}

template <class T>
bool compare(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::eq:
      return a == b;
    case ScalarOp::ne:
      return a != b;
    case ScalarOp::lt:
      return a < b;
    case ScalarOp::le:
      return a <= b;
    case ScalarOp::gt:
      return a > b;
    default:
      return a >= b;
  }
}

std::int64_t saturate(double v, Scalar to) {
  if (std::isnan(v)) return 0;
  if (to == Scalar::i32) {
    return static_cast<std::int64_t>(std::clamp(std::trunc(v), -2147483648.0, 2147483647.0));
  }
  if (v >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  return v < -0x1p63 ? lowest : static_cast<std::int64_t>(v);
}

}  // namespace

IntegerEnds integer_ends(Scalar scalar) {
  if (scalar != Scalar::i32) return {lowest, std::numeric_limits<std::int64_t>::max()};
  return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
}

Word evaluate_op(ScalarOp op, Scalar operand, std::span<const Word> args) {
  if (row(op).result == ResultRule::compare) {
    const bool yes = is_float(operand) ? compare(op, args[0].f, args[1].f) : compare(op, args[0].i, args[1].i);
    return Word::integer(yes ? 1 : 0);
  }
  if (operand == Scalar::f64) return Word::real(real_op(op, args));
  if (operand == Scalar::f32) return Word::real(single_op(op, args));
  return Word::integer(integer_op(op, operand, args));
}

// To an integer: towards zero, clamped to its range, NaN to 0.
Word convert(Scalar from, Scalar to, Word value) {
  if (to == Scalar::boolean) return Word::integer(is_float(from) ? value.f != 0 : value.i != 0);
  if (is_float(to)) {
    const bool single = to == Scalar::f32;
    if (is_float(from)) return Word::real(single ? static_cast<float>(value.f) : value.f);
    return Word::real(single ? static_cast<double>(static_cast<float>(value.i)) : static_cast<double>(value.i));
  }
  if (is_float(from)) return Word::integer(saturate(value.f, to));
  if (to == Scalar::i32) {
    const IntegerEnds ends = integer_ends(to);
    return Word::integer(std::clamp(value.i, ends.low, ends.high));
  }
  return value;
}

}  // namespace kasen
