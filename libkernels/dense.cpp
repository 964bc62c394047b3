#include "libkernels/dense.h"

#include <blis-openmp/cblas.h>

#include <algorithm>
#include <limits>

#include "libcore/error.h"

namespace kasen {
namespace {

constexpr std::int64_t block_rows = 1024;

void gemv(CBLAS_TRANSPOSE side, std::int64_t rows, std::int64_t cols, const double* a, const double* x, double* y) {
  const auto m = static_cast<f77_int>(rows), n = static_cast<f77_int>(cols);
  cblas_dgemv(CblasRowMajor, side, m, n, 1.0, a, n, x, 1, 0.0, y, 1);
}

void gemv(CBLAS_TRANSPOSE side, std::int64_t rows, std::int64_t cols, const float* a, const float* x, float* y) {
  const auto m = static_cast<f77_int>(rows), n = static_cast<f77_int>(cols);
  cblas_sgemv(CblasRowMajor, side, m, n, 1.0F, a, n, x, 1, 0.0F, y, 1);
}

template <class T>
void run(Workshop& shop, bool transposed, const DenseProductCall& call) {
  const auto* a = reinterpret_cast<const T*>(call.matrix.data);
  const auto* x = reinterpret_cast<const T*>(call.vector.data);
  auto* y = reinterpret_cast<T*>(call.result.data);
  std::fill_n(y, transposed ? call.rows : call.cols, T{0});
  if (call.rows == 0 || call.cols == 0) return;
  const std::int64_t blocks = (call.rows + block_rows - 1) / block_rows;
  auto* partials = transposed
                       ? nullptr
                       : reinterpret_cast<T*>(shop.partials(blocks * call.cols * static_cast<std::int64_t>(sizeof(T))));
  WorkQueue queue(blocks, shop.pool.threads());
  shop.pool.run([&](int t) {
    for (std::int64_t b = queue.next(t); b >= 0; b = queue.next(t)) {
      const std::int64_t first = b * block_rows;
      const std::int64_t rows = std::min(block_rows, call.rows - first);
      if (transposed) {
        gemv(CblasNoTrans, rows, call.cols, a + first * call.cols, x, y + first);
      } else {
        gemv(CblasTrans, rows, call.cols, a + first * call.cols, x + first, partials + b * call.cols);
      }
    }
  });
  for (std::int64_t b = 0; !transposed && b < blocks; ++b) {
    for (std::int64_t j = 0; j < call.cols; ++j) y[j] += partials[b * call.cols + j];
  }
}

}  // namespace

void run_blas(Workshop& shop, Scalar scalar, bool transposed, const DenseProductCall& call) {
  if (call.cols > std::numeric_limits<f77_int>::max()) {
    fail(ExitStatus::limit, "a dense matrix with more than 2^31 columns", "BLIS counts them in 32 bits");
  }
  if (scalar == Scalar::f64) {
    run<double>(shop, transposed, call);
  } else {
    run<float>(shop, transposed, call);
  }
}

}  // namespace kasen
