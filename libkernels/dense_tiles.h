// Tiles of a dense matrix and what the dense library does with them. Internal to dense.cpp and dense_chain.cpp.
#pragma once

#include <cstdint>

#include "libkernels/blas.h"

namespace kasen {

// Rows of a matrix, of which each takes `stride` elements.
template <class T>
struct Tile {
  const T* a;
  std::int64_t rows, cols, stride;
};

// y = A x, or A' x with CblasTrans; onto what y holds if `beta` is 1.
inline void gemv(CBLAS_TRANSPOSE side, const Tile<double>& t, const double* x, double beta, double* y) {
  const auto m = static_cast<BlasInteger>(t.rows), n = static_cast<BlasInteger>(t.cols);
  cblas_dgemv(CblasRowMajor, side, m, n, 1.0, t.a, static_cast<BlasInteger>(t.stride), x, 1, beta, y, 1);
}

inline void gemv(CBLAS_TRANSPOSE side, const Tile<float>& t, const float* x, float beta, float* y) {
  const auto m = static_cast<BlasInteger>(t.rows), n = static_cast<BlasInteger>(t.cols);
  cblas_sgemv(CblasRowMajor, side, m, n, 1.0F, t.a, static_cast<BlasInteger>(t.stride), x, 1, beta, y, 1);
}

}  // namespace kasen
