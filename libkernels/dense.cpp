#include "libkernels/dense.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "libcore/error.h"
#include "libkernels/blas.h"

namespace kasen {
namespace {

constexpr std::int64_t block_rows = 1024;
constexpr std::int64_t tile_bytes = std::int64_t{1} << 18;  // well within the second-level cache of a core
constexpr std::int64_t tile_cols = 4096;

// Rows of `n` of which each takes `stride` elements.
template <class T>
struct Tile {
  const T* a;
  std::int64_t rows, cols, stride;
};

// y = A x, or A' x with CblasTrans; onto what y holds if `beta` is 1.
void gemv(CBLAS_TRANSPOSE side, const Tile<double>& t, const double* x, double beta, double* y) {
  const auto m = static_cast<BlasInteger>(t.rows), n = static_cast<BlasInteger>(t.cols);
  cblas_dgemv(CblasRowMajor, side, m, n, 1.0, t.a, static_cast<BlasInteger>(t.stride), x, 1, beta, y, 1);
}

void gemv(CBLAS_TRANSPOSE side, const Tile<float>& t, const float* x, float beta, float* y) {
  const auto m = static_cast<BlasInteger>(t.rows), n = static_cast<BlasInteger>(t.cols);
  cblas_sgemv(CblasRowMajor, side, m, n, 1.0F, t.a, static_cast<BlasInteger>(t.stride), x, 1, beta, y, 1);
}

template <class T>
class DensePass {
 public:
  DensePass(Workshop& shop, const DenseProductCall& call, std::span<const DenseOperands> products)
      : shop_(shop), call_(call), blocks_((call.rows + block_rows - 1) / block_rows) {
    std::int64_t partial = 0;
    for (const DenseOperands& p : products) {
      lanes_.push_back({p.transposed, reinterpret_cast<const T*>(p.vector), reinterpret_cast<T*>(p.result), partial});
      partial += p.transposed ? 0 : blocks_ * call.cols;
    }
    partials_ = reinterpret_cast<T*>(shop.partials(partial * static_cast<std::int64_t>(sizeof(T))));
  }

  void run() {
    for (const Lane& lane : lanes_) std::fill_n(lane.y, lane.transposed ? call_.rows : call_.cols, T{0});
    if (call_.rows == 0 || call_.cols == 0) return;
    share_out(shop_.pool, blocks_, [&](int, std::int64_t b) { block(b); });
    for (const Lane& lane : lanes_) {
      for (std::int64_t b = 0; !lane.transposed && b < blocks_; ++b) {
        const T* partial = partials_ + lane.partials + b * call_.cols;
        for (std::int64_t j = 0; j < call_.cols; ++j) lane.y[j] += partial[j];
      }
    }
  }

 private:
  struct Lane {
    bool transposed;
    const T* x;
    T* y;
    std::int64_t partials;  // where its blocks' begin
  };

  // One product takes a block at once; several take it tile by tile.
  void block(std::int64_t b) const {
    const std::int64_t first = b * block_rows, rows = std::min(block_rows, call_.rows - first);
    const bool tiled = lanes_.size() > 1;
    const std::int64_t across = tiled ? std::min(tile_cols, call_.cols) : call_.cols;
    const std::int64_t fitting = tile_bytes / (across * static_cast<std::int64_t>(sizeof(T))) / 8 * 8;
    const std::int64_t down = tiled ? std::clamp<std::int64_t>(fitting, 8, block_rows) : block_rows;
    for (std::int64_t r = 0; r < rows; r += down) {
      for (std::int64_t c = 0; c < call_.cols; c += across) {
        tile(b, first, r, c, std::min(down, rows - r), std::min(across, call_.cols - c));
      }
    }
  }

  // Rows of a block from its row `r` on, columns from `c` on, for every product.
  void tile(std::int64_t b, std::int64_t first, std::int64_t r, std::int64_t c, std::int64_t rows,
            std::int64_t cols) const {
    const T* a = reinterpret_cast<const T*>(call_.matrix.data) + (first + r) * call_.cols + c;
    const Tile<T> tile{a, rows, cols, call_.cols};
    for (const Lane& lane : lanes_) {
      if (lane.transposed) {
        gemv(CblasNoTrans, tile, lane.x + c, c > 0 ? T{1} : T{0}, lane.y + first + r);
      } else {
        T* partial = partials_ + lane.partials + b * call_.cols + c;
        gemv(CblasTrans, tile, lane.x + first + r, r > 0 ? T{1} : T{0}, partial);
      }
    }
  }

  Workshop& shop_;
  const DenseProductCall& call_;
  std::int64_t blocks_;
  std::vector<Lane> lanes_;
  T* partials_ = nullptr;
};

}  // namespace

void run_blas(Workshop& shop, Scalar scalar, const DenseProductCall& call, std::span<const DenseOperands> products) {
  if (call.cols > std::numeric_limits<BlasInteger>::max()) {
    fail(ExitStatus::limit, "a dense matrix with more than 2^31 columns", "the dense library counts them in 32 bits");
  }
  if (scalar == Scalar::f64) {
    DensePass<double>(shop, call, products).run();
  } else {
    DensePass<float>(shop, call, products).run();
  }
}

}  // namespace kasen
