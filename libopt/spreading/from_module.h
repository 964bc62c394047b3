// The block operators of a program of dense arrays (libopt/spread): every array is cut in blocks along its dimensions.
// The body of a loop is taken once, and so is the first branch of an `if`. Single values that a program or its user
// gives are in every operator, as constants; those that a reduction makes are blocks of one element.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "libcore/ir/module.h"
#include "libopt/spread/arrays.h"

namespace kasen {

struct SpreadingOptions {
  spread::Layout layout;
  std::map<std::string, spread::Grid> grids;  // of inputs by name; others get the default grid
  bool softmax = false;                       // the default grid of NumS's paper, not of its code
};

// `sized`: of level 1, without cuts, and with the sizes of all dimensions. A dimension is cut in one number of blocks
// wherever it stands, a local one in none. Outputs and what loops carry end where their layouts put them. Throws
// UserError(usage) for grids that do not fit, UserError(bad_input) at an operator that has no block operators (of
// sparse matrices, along one dimension, on lists), UserError(limit) for too many.
[[nodiscard]] spread::Arrays block_operators(const Module& sized, const SpreadingOptions& options);

}  // namespace kasen
