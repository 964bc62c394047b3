// Builds the pull form of a sparse part (numbering.h): the nonzeros that meet each element of a product's result.
#pragma once

#include "libcore/kernels/form_store.h"
#include "libcore/kernels/numbering.h"

namespace kasen {

// `transposed`: false for mxv (operand over the rows, result over the columns), true for mxvt. The spaces are those of
// the product's operand and result on this part. They must hold every row and column that has a nonzero here, else
// UserError(bad_input). Nonzeros of one output ascend by the operand's global index. `numbered`: with the numbers of
// the nonzeros. UserError(limit) if a part has too many for them.
[[nodiscard]] LocalMatrix make_local_matrix(const PartMatrix& matrix, bool transposed, const LocalSpace& operand,
                                            const LocalSpace& result, bool numbered = false);

// The same, without numbers, from a store that has a form of that name; otherwise it is made and offered to the store
// (null: there is none). UserError as FormStore.
[[nodiscard]] LocalMatrix local_matrix(const PartMatrix& matrix, bool transposed, const LocalSpace& operand,
                                       const LocalSpace& result, FormStore* forms, const FormName& name);

}  // namespace kasen
