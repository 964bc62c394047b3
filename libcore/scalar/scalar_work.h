// The cost classes of scalar operators. The cost model counts operations by class, and a machine profile prices each
// class (libopt/time/machine.h). The column `work` of scalar_operators.def gives each operator's class.
#pragma once

#include <cstdint>

#include "libcore/scalar/scalar.h"

namespace kasen {

enum class ScalarWork : std::uint8_t {
  nothing,   // names for existing values: literals, parameters, parts of tuples
  plain,     // one instruction or two: a sum of floating-point numbers, a comparison, a choice
  compound,  // about ten of them: sums and products of integers (which keep their infinities), minima and maxima
  division,  // a quotient, a square root
  exp,       // library functions from here on
  log,
  erf,
  tanh,
  sine,
  power,
  term,        // of a sum of products in a product with a dense matrix: a multiplication and an addition
  arithmetic,  // in the table alone: plain on floating-point numbers, compound on integers
};
inline constexpr int scalar_works = static_cast<int>(ScalarWork::arithmetic);  // that are counted, `nothing` included

// The class of one operator on operands of this type (a loop over coordinates: of each iteration); never arithmetic.
[[nodiscard]] ScalarWork work_of(ScalarOp op, Scalar operand);

}  // namespace kasen
