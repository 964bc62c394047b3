// Ordinary products with some rows of a sparse matrix, and a vector. Rows may have few nonzeros, and each another
// number, which no processor foresees. So rows are taken a few at a time, and no branch depends on the number of one.
#pragma once

#include <cstdint>

#include "libcore/kernels/kernel_set.h"

namespace kasen {

template <class Real>
struct SparseRows {
  const std::int64_t* pointers = nullptr;  // of all rows, and one more
  const std::int32_t* columns = nullptr;
  const Real* values = nullptr;
};

// result[i] = the sum of m[i,j] * vector[j], in the order of the nonzeros and in segments of reduction_block.
template <class Real>
void multiply_sparse_rows(const SparseRows<Real>& matrix, const Range& rows, const Real* vector, Real* result);

// sums[j] += vector[i] * m[i,j], in the order of the nonzeros.
template <class Real>
void add_sparse_rows(const SparseRows<Real>& matrix, const Range& rows, const Real* vector, Real* sums);

}  // namespace kasen
