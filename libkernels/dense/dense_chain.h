// A row_chain region. Blocks of rows of a dense matrix go through products with one result a row, vector work on those
// and products with one result a column. Meanwhile they are in the core's cache, so that the matrix is read once.
// Blocks and chunks follow from the matrix's size alone and their results are added in order. So the bits do not depend
// on the number of threads.
#pragma once

#include "libcore/kernels/kernel_set.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

void run_row_chain(Workshop& shop, const PlanKernels& plan, const ChainKernels& kernels, const DenseProductCall& call);

}  // namespace kasen
