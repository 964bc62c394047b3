// Products with a dense matrix through the dense library (blas.h). Rows are taken in blocks of a fixed size, whose
// results are added in order, so that the result does not depend on the number of threads. Several products read the
// matrix once: a block is taken in tiles, and each of them by all products while it is in the cache, in an order that
// its size alone decides. Of a compressed matrix, or of a compressed operand, the rows of a tile are made dense there.
#pragma once

#include <span>

#include "libcore/kernels/kernel_set.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

struct DenseOperands {
  bool transposed = false;   // mxvt: one result a row; else one a column
  std::int64_t columns = 1;  // where there are several it stands alone
  const std::byte* vector = nullptr;
  std::byte* result = nullptr;
  const CompressedArray* compressed = nullptr;  // the operand, which then does not lie at `vector`
};

// `call` says of the matrix what counts. f64 or f32.
void run_blas(Workshop& shop, Scalar scalar, const DenseProductCall& call, std::span<const DenseOperands> products);

}  // namespace kasen
