// Products with a dense matrix through BLIS. Rows are taken in blocks of a fixed size, whose results are added in
// order, so that the result does not depend on the number of threads.
#pragma once

#include "libcore/kernel_set.h"
#include "libkernels/run_loops.h"

namespace kasen {

// `transposed`: mxvt, one result a row; else one a column. f64 or f32.
void run_blas(Workshop& shop, Scalar scalar, bool transposed, const DenseProductCall& call);

}  // namespace kasen
