// Builds the pull form of a sparse part (numbering.h): for each element of a product's result the entries that meet it.
#pragma once

#include "libcore/kernels/numbering.h"

namespace kasen {

// `transposed` false: mxv (operand over the rows, result over the columns); true: mxvt. The spaces are those in which
// the product's operand and result live on this part; they hold every row and column that has an entry here, else
// UserError(bad_input). Entries of one output ascend by the operand's global index.
[[nodiscard]] LocalMatrix make_local_matrix(const PartMatrix& matrix, bool transposed, const LocalSpace& operand,
                                            const LocalSpace& result);

}  // namespace kasen
