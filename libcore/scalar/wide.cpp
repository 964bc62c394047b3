#include "libcore/scalar/wide.h"

#include <fmt/format.h>

#include "libcore/scalar/elementary.h"
#include "libcore/scalar/exact_evaluator.h"

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

}  // namespace

Wide floor_of(const Wide& q) { return mp::floor(q); }

Wide power(const Wide& a, const Wide& b) {
  const bool whole = floor_of(b) == b;
  if ((a < 0 && !whole) || (a == 0 && b < 0)) throw Undefined{};
  return mp::pow(a, b);
}

namespace {

Wide in_domain(ScalarOp op, const Wide& a) {
  switch (op) {
#define ELEMENTARY(name, work, library, numeric, wide, shape, doc) \
  case ScalarOp::name:                                             \
    return wide;
#include "libcore/scalar/elementary.def"
#undef ELEMENTARY
    default:
      throw Undefined{};
  }
}

}  // namespace

Wide transcendental(ScalarOp op, const Wide& a) {
  const ElementaryRow* const function = elementary_row(op);
  if (function == nullptr) throw Undefined{};
  const FunctionShape& shape = function->shape;
  if (a < shape.from || a > shape.to) throw Undefined{};
  if ((shape.from_open && a == shape.from) || (shape.to_open && a == shape.to)) throw Undefined{};
  return in_domain(op, a);
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
  return planes_text(type, [&](Scalar scalar, size_t plane) -> std::string {
    const auto number = value[plane].convert_to<double>();
    if (scalar == Scalar::boolean) return number != 0 ? "true" : "false";
    return fmt::format("{:.6g}", number);
  });
}

}  // namespace kasen
