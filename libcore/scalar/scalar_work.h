// What computing a scalar operator takes: the classes in which the cost model counts operations, and which a machine
// profile prices (libopt/time/machine.h). The column `work` of scalar_operators.def names each operator's.
#pragma once

#include <cstdint>

#include "libcore/scalar/scalar.h"

namespace kasen {

enum class ScalarWork : std::uint8_t {
  nothing,   // a name for what is there: literals, parameters, parts of tuples
  plain,     // one instruction or two: a sum of floating-point numbers, a comparison, a choice
  compound,  // some ten of them: sums and products of integers (which keep their infinities), minima and maxima
  division,  // a quotient, a square root
  exp,       // library functions from here on
  log,
  erf,
  tanh,
  sine,
  power,
  arithmetic,  // in the table alone: plain on floating-point numbers, compound on integers
};
inline constexpr int scalar_works = static_cast<int>(ScalarWork::arithmetic);  // classes that are counted, with nothing

// Of one operator on operands of this type (a loop over coordinates: of each turn); never arithmetic.
[[nodiscard]] ScalarWork work_of(ScalarOp op, Scalar operand);

}  // namespace kasen
