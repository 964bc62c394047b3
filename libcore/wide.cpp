#include "libcore/wide.h"

#include <fmt/format.h>

#include "libcore/exact_evaluator.h"

namespace kasen {

namespace mp = boost::multiprecision;

namespace exact {
namespace {

constexpr int most_terms = 400;

// 2 / sqrt(pi) * sum of (-1)^k x^(2k+1) / (k! (2k+1)); the terms grow to about e^(x*x) first, so large x are left out.
Wide error_function(const Wide& x) {
  if (mp::abs(x) > 6) throw Undefined{};
  Wide power = x;
  Wide sum = x;
  for (int k = 1; k < most_terms; ++k) {
    power *= -x * x / k;
    sum += power / (2 * k + 1);
  }
  return 2 / mp::sqrt(4 * mp::atan(Wide(1))) * sum;
}

Wide positive(const Wide& a) {
  if (a <= 0) throw Undefined{};
  return a;
}

}  // namespace

Wide floor_of(const Wide& q) { return mp::floor(q); }

Wide power(const Wide& a, const Wide& b) {
  const bool whole = floor_of(b) == b;
  if ((a < 0 && !whole) || (a == 0 && b < 0)) throw Undefined{};
  return mp::pow(a, b);
}

Wide transcendental(ScalarOp op, const Wide& a) {
  switch (op) {
    case ScalarOp::exp:
      return mp::exp(a);
    case ScalarOp::expm1:
      return mp::exp(a) - 1;
    case ScalarOp::log:
      return mp::log(positive(a));
    case ScalarOp::log1p:
      return mp::log(positive(a + 1));
    case ScalarOp::sqrt:
      return a == 0 ? a : mp::sqrt(positive(a));
    case ScalarOp::erf:
      return error_function(a);
    case ScalarOp::tanh:
      return mp::tanh(a);
    case ScalarOp::sin:
      return mp::sin(a);
    case ScalarOp::cos:
      return mp::cos(a);
    default:
      throw Undefined{};
  }
}

}  // namespace exact

WidePlanes to_wide(const Planes& value) {
  WidePlanes wide;
  for (const Rational& number : value) wide.push_back(Wide(numerator(number)) / Wide(denominator(number)));
  return wide;
}

std::optional<WidePlanes> evaluate_widely(const ScalarFunction& fn, std::span<const WidePlanes> args) {
  auto value = exact::evaluate_with<Wide>(fn, args);
  if (!value) return std::nullopt;
  for (const Wide& number : *value) {
    if (!mp::isfinite(number)) return std::nullopt;
  }
  return value;
}

bool differ(const WidePlanes& a, const WidePlanes& b) {
  static const Wide tolerance("1e-20");
  for (size_t p = 0; p < a.size(); ++p) {
    const Wide size = Wide(1) + mp::abs(a[p]) + mp::abs(b[p]);
    if (mp::abs(Wide(a[p] - b[p])) > tolerance * size) return true;
  }
  return false;
}

std::string wide_text(const ElementType& type, const WidePlanes& value) {
  std::string text;
  size_t plane = 0;
  for (const Component& c : type.components) {
    std::string part;
    for (std::int64_t j = 0; j < c.planes(); ++j) {
      const auto number = value[plane++].convert_to<double>();
      part += j > 0 ? ", " : "";
      part += c.scalar == Scalar::boolean ? (number != 0 ? "true" : "false") : fmt::format("{:.6g}", number);
    }
    text += (text.empty() ? "" : ", ") + (c.count > 0 ? '[' + part + ']' : part);
  }
  return type.tuple ? '(' + text + ')' : text;
}

}  // namespace kasen
