// Splits a function into a first and a second map. A pre-reduced operand then stays pre-reduced where the function as a
// whole obeys no law (DESIGN section 4). PageRank's damping, (1 - r) + r * x, is a scaling that exchanges with + and a
// shift that is pushed down into it. The function 3 * x * x over * is a square and a scaling. The caller asks which
// halves are lawful, and it may split a second half again.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// whole(..., x, ...) = second(first(x, ...), ...)
struct FunctionSplit {
  // The parameter of the whole function for each parameter of `first`; its parameter 0 is x.
  ScalarFunction first;
  std::vector<int> first_from;
  // The same for `second`; its parameter 0 is the first half's result and has -1 here.
  ScalarFunction second;
  std::vector<int> second_from;
};

// Returns the ways to split the function at its parameter x such that the value between the halves has x's type. Affine
// functions are first split into slope * x and + offset. Then the cuts are at every part of the expression that holds
// all uses of x, the largest first. Empty if the function's result has another type.
[[nodiscard]] std::vector<FunctionSplit> function_splits(const ScalarFunction& fn, int param);

}  // namespace kasen
