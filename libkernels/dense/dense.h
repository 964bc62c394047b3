// Products with a dense matrix through the dense library (blas.h). Rows are taken in blocks of a fixed size, whose
// results are added in order, so that the result does not depend on the number of threads. Several products read the
// matrix once. A block is taken in tiles, and all products take a tile while it is in the cache, in an order that its
// size alone decides. The rows of a tile of a compressed matrix or operand are made dense there.
#pragma once

#include <span>

#include "libcore/kernels/kernel_set.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

struct DenseOperands {
  bool transposed = false;   // mxvt: one result a row; else one a column
  std::int64_t columns = 1;  // if there are several, the product runs alone
  const std::byte* vector = nullptr;
  std::byte* result = nullptr;
  const CompressedArray* compressed = nullptr;  // the operand, which is then not at `vector`
  bool onto = false;                            // added to what the result holds
};

// `call` has the relevant facts of the matrix. f64 or f32.
void run_blas(Workshop& shop, Scalar scalar, const DenseProductCall& call, std::span<const DenseOperands> products);

}  // namespace kasen
