// The built-in laws: shapes of functions for which algebra over the reals shows an exchange, pushdown or distributive
// law. All other parameters are unknown finite numbers of their declared ranges.
#pragma once

#include <optional>

#include "libcore/ir/module.h"
#include "libcore/scalar/scalar.h"

namespace kasen {

// The reducers that the shapes know.
enum class Algebra : std::uint8_t { other, sum, product, minimum, maximum, all, any, bits, differing_bits };
[[nodiscard]] Algebra algebra_of(const ScalarFunction& reducer);

// fn(..., x, ...) = slope * x + offset. Neither slope nor offset uses x; both are over fn's own parameters.
struct AffineForm {
  Expr slope, offset;
};
[[nodiscard]] std::optional<AffineForm> affine_form(const ScalarFunction& fn, int param);
[[nodiscard]] bool uses_param(const Expr& e, int param);
[[nodiscard]] bool is_literal(const Expr& e, double value);  // the number `value`, of any numeric type

// True if algebra alone shows that fn, with parameter `operand` pre-reduced by `reducer`, obeys the law. It must also
// hold if one argument is the reducer's identity (DESIGN section 4). exchange and distributive are one question here.
[[nodiscard]] bool law_by_shape(LawKind kind, const ScalarFunction& fn, const ScalarFunction& reducer, int operand);

}  // namespace kasen
