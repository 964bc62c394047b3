// The split of a function into a first and a second map, so that a pre-reduced operand stays so where the function as a
// whole obeys no law (DESIGN section 4): PageRank's damping, (1 - r) + r * x, is a scaling that exchanges with + and a
// shift that is pushed down into it; 3 * x * x over * is a square and a scaling. Which halves are lawful is asked by
// whoever splits; a second half may be split again.
#pragma once

#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// whole(..., x, ...) = second(first(x, ...), ...)
struct FunctionSplit {
  // Each parameter of `first` is this parameter of the whole function; its parameter 0 is x.
  ScalarFunction first;
  std::vector<int> first_from;
  // Likewise; parameter 0 stands for the first half's result and has -1 here.
  ScalarFunction second;
  std::vector<int> second_from;
};

// The ways to take the function apart at its parameter x such that what passes between the halves has x's type: first
// slope * x and + offset for affine ones, then at every part of the expression that holds all uses of x, the largest
// first. Empty if the function's result has another type.
[[nodiscard]] std::vector<FunctionSplit> function_splits(const ScalarFunction& fn, int param);

}  // namespace kasen
