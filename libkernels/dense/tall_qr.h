// The factors of a matrix of many rows and few columns, block by block of rows that fit the cache (a flat tree: Demmel,
// Grigori, Hoemmen and Langou, SIAM Journal on Scientific Computing 34, 2012). The first rows, as many as there are
// columns, are factored before. Each block is then reflected onto the triangle so far, and Q is formed from the last
// block up. So the matrix is read once, and Q written twice and read once.
#pragma once

#include <cstdint>

#include "libkernels/dense/tall_block.h"

namespace kasen {

/// Whether it pays: many more rows than columns, and columns of which a block's rows fit the cache.
[[nodiscard]] bool is_very_tall(std::int64_t rows, std::int64_t cols);

template <class T>
struct TallMatrix {
  std::int64_t rows = 0, cols = 0;
  const T* a = nullptr;       ///< by rows
  const T* head_q = nullptr;  ///< of the first `cols` rows: orthonormal
  T* q = nullptr;             ///< null: R alone
  T* r = nullptr;             ///< of the first rows; then of all, without negative numbers on its diagonal
  TallCode code = best_tall_code();
};

/// False where numbers are too large or too small for sums of squares, or NaN; r and q then hold anything.
[[nodiscard]] bool factor_tall_matrix(const TallMatrix<double>& matrix);
[[nodiscard]] bool factor_tall_matrix(const TallMatrix<float>& matrix);

}  // namespace kasen
