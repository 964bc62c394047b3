// A contraction as kernels compute it: as products of a matrix with columns, one for each tuple of indices of the
// labels that both operands and the result have (the *batch*), or element by element if no label is summed.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "libcore/ir/contraction.h"

namespace kasen {

// For each batch, matrix[rows, terms] (or [terms, rows]) times vector[terms, columns] gives result[rows, columns].
struct ContractionForm {
  std::size_t matrix = 1;                   // the operand that is the matrix; the other one is the vector
  bool transposed = false;                  // the matrix is [terms, rows]: mxv
  std::string batch, rows, terms, columns;  // labels; terms is empty if none is summed
  std::array<std::string, 2> operands;      // the order of axes that the product needs of each operand
  std::string result;                       // and of its result
};

// The form that needs the fewest copies; of equal ones, the first. `as_it_is`: an operand that is read as it lies in
// memory, if its axes have the right order.
[[nodiscard]] ContractionForm contraction_form(const Labels& labels, const std::array<bool, 2>& as_it_is);

}  // namespace kasen
