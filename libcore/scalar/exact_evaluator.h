// The meaning of scalar functions on numbers that round little or not at all. One evaluator serves rationals and
// floating-point numbers of 50 digits. Not for use outside libcore.
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <optional>
#include <span>
#include <vector>

#include "libcore/scalar/scalar.h"

namespace kasen::exact {

using Rational = boost::multiprecision::cpp_rational;
using Wide = boost::multiprecision::cpp_bin_float_50;

struct Undefined {};  // thrown where a function has no value; never leaves evaluate_with

// Operations that depend on the kind of number. Each throws Undefined where there is no value.
[[nodiscard]] Rational floor_of(const Rational& q);
[[nodiscard]] Wide floor_of(const Wide& q);
[[nodiscard]] Rational power(const Rational& a, const Rational& b);  // integer b alone
[[nodiscard]] Wide power(const Wide& a, const Wide& b);
[[nodiscard]] Rational transcendental(ScalarOp op, const Rational& a);  // never defined
[[nodiscard]] Wide transcendental(ScalarOp op, const Wide& a);

inline constexpr int most_loops = 64;
inline constexpr int largest_power = 8;  // numbers grow with it

template <class Number>
struct Evaluator {
  using Planes = std::vector<Number>;
  std::span<const Planes> args;
  std::vector<std::int64_t> loops = std::vector<std::int64_t>(most_loops, 0);

  Number divide(const Expr& e, const Number& a, const Number& b) const {
    const bool integer = !is_float(e.args[0].type.scalar());
    if (e.op != ScalarOp::div && integer && b == 0) return 0;  // the language's definition
    if (b == 0) throw Undefined{};
    if (e.op == ScalarOp::div) return Number(a / b);
    const Number quotient = floor_of(Number(a / b));
    return e.op == ScalarOp::floor_div ? quotient : Number(a - b * quotient);
  }

  Number binary(const Expr& e, const Number& a, const Number& b) const {
    const auto truth = [](bool holds) { return Number(holds ? 1 : 0); };
    switch (e.op) {
      case ScalarOp::add:
        return a + b;
      case ScalarOp::sub:
        return a - b;
      case ScalarOp::mul:
        return a * b;
      case ScalarOp::min:
        return b < a ? b : a;
      case ScalarOp::max:
        return b > a ? b : a;
      case ScalarOp::logical_or:
        return truth(a != 0 || b != 0);
      case ScalarOp::logical_and:
        return truth(a != 0 && b != 0);
      case ScalarOp::eq:
        return truth(a == b);
      case ScalarOp::ne:
        return truth(a != b);
      case ScalarOp::lt:
        return truth(a < b);
      case ScalarOp::le:
        return truth(a <= b);
      case ScalarOp::gt:
        return truth(a > b);
      case ScalarOp::ge:
        return truth(a >= b);
      case ScalarOp::pow:
        return power(a, b);
      default:
        return divide(e, a, b);
    }
  }

  Number unary(const Expr& e, const Number& a) const {
    switch (e.op) {
      case ScalarOp::neg:
        return -a;
      case ScalarOp::logical_not:
        return Number(a == 0 ? 1 : 0);
      case ScalarOp::abs:
        return a < 0 ? Number(-a) : a;
      case ScalarOp::floor:
        return floor_of(a);
      case ScalarOp::ceil:
        return -floor_of(Number(-a));
      case ScalarOp::cast:
        return cast(e, a);
      default:
        return transcendental(e.op, a);
    }
  }

  static Number cast(const Expr& e, const Number& a) {
    const Scalar to = e.type.scalar();
    if (to == Scalar::boolean) return Number(a != 0 ? 1 : 0);
    if (is_float(to)) return a;
    return a < 0 ? Number(-floor_of(Number(-a))) : floor_of(a);
  }

  Planes loop(const Expr& e) {
    Planes all;
    Number total = e.op == ScalarOp::prod_over ? 1 : 0;
    for (std::int64_t j = 0; j < e.count; ++j) {
      loops.at(static_cast<size_t>(e.index)) = j;
      Number next = eval(e.args[0])[0];
      if (e.op == ScalarOp::build) all.push_back(next);
      if (e.op == ScalarOp::sum_over) total += next;
      if (e.op == ScalarOp::prod_over) total *= next;
      if (e.op == ScalarOp::min_over && (j == 0 || next < total)) total = next;
      if (e.op == ScalarOp::max_over && (j == 0 || next > total)) total = next;
    }
    return e.op == ScalarOp::build ? all : Planes{total};
  }

  Planes part_of(const Expr& e) {
    const Planes whole = eval(e.args[0]);
    if (e.op == ScalarOp::component) {
      const auto first = whole.begin() + e.args[0].type.first_plane(e.index);
      return Planes(first, first + e.type.planes());
    }
    const Number last = static_cast<std::int64_t>(whole.size()) - 1;
    Number at = eval(e.args[1])[0];
    if (at < 0) at = 0;
    if (at > last) at = last;
    return {whole.at(at.template convert_to<size_t>())};
  }

  Planes tuple(const Expr& e) {
    Planes all;
    for (const Expr& arg : e.args) {
      const Planes part = eval(arg);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Planes eval(const Expr& e) {
    switch (e.op) {
      case ScalarOp::constant:
        return {is_float(e.type.scalar()) ? Number(e.literal.f) : Number(e.literal.i)};
      case ScalarOp::param:
        return args[static_cast<size_t>(e.index)];
      case ScalarOp::loop_var:
        return {Number(loops.at(static_cast<size_t>(e.index)))};
      case ScalarOp::select:
        return eval(e.args[eval(e.args[0])[0] != 0 ? 1 : 2]);
      case ScalarOp::make_tuple:
        return tuple(e);
      case ScalarOp::component:
      case ScalarOp::element:
        return part_of(e);
      case ScalarOp::sum_over:
      case ScalarOp::prod_over:
      case ScalarOp::min_over:
      case ScalarOp::max_over:
      case ScalarOp::build:
        return loop(e);
      default:
        break;
    }
    const Number a = eval(e.args[0])[0];
    if (is_opaque(e.op)) throw Undefined{};
    return {e.args.size() > 1 ? binary(e, a, eval(e.args[1])[0]) : unary(e, a)};
  }
};

// The function's value, or nothing where it has none.
template <class Number>
[[nodiscard]] std::optional<std::vector<Number>> evaluate_with(const ScalarFunction& fn,
                                                               std::span<const std::vector<Number>> args) {
  try {
    return Evaluator<Number>{args}.eval(fn.body);
  } catch (const Undefined&) {
    return std::nullopt;
  }
}

}  // namespace kasen::exact
