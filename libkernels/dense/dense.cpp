#include "libkernels/dense/dense.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/dense_blocks.h"
#include "libkernels/dense/blas.h"
#include "libkernels/dense/zero_products.h"
#include "libkernels/run/product_division.h"

namespace kasen {
namespace {

constexpr std::int64_t tile_bytes = std::int64_t{1} << 18;  // well within the second-level cache of a core
constexpr std::int64_t tile_cols = 4096;

// Rows of `cols` elements, `stride` elements apart.
template <class T>
struct Tile {
  const T* a;
  std::int64_t rows, cols, stride;
};

// y = A x, or A' x with CblasTrans; added to y if `beta` is 1.
void gemv(CBLAS_TRANSPOSE side, const Tile<double>& t, const double* x, double beta, double* y) {
  const auto m = static_cast<BlasInteger>(t.rows), n = static_cast<BlasInteger>(t.cols);
  cblas_dgemv(CblasRowMajor, side, m, n, 1.0, t.a, static_cast<BlasInteger>(t.stride), x, 1, beta, y, 1);
}

void gemv(CBLAS_TRANSPOSE side, const Tile<float>& t, const float* x, float beta, float* y) {
  const auto m = static_cast<BlasInteger>(t.rows), n = static_cast<BlasInteger>(t.cols);
  cblas_sgemv(CblasRowMajor, side, m, n, 1.0F, t.a, static_cast<BlasInteger>(t.stride), x, 1, beta, y, 1);
}

struct GemmSizes {
  BlasInteger m, n, k;
};

template <class T>
GemmSizes sizes_of(CBLAS_TRANSPOSE side, const Tile<T>& t, std::int64_t columns) {
  const auto rows = static_cast<BlasInteger>(t.rows), cols = static_cast<BlasInteger>(t.cols);
  const bool turned = side == CblasTrans;
  return {turned ? cols : rows, static_cast<BlasInteger>(columns), turned ? rows : cols};
}

// Some columns of matrices whose rows lie `apart` numbers apart.
struct Columns {
  std::int64_t count, apart;
};

// C = A B, or A' B with CblasTrans, of columns that lie side by side; added to C if `beta` is 1.
void gemm(CBLAS_TRANSPOSE side, const Tile<double>& t, const double* b, const Columns& columns, double beta,
          double* c) {
  const auto [m, n, k] = sizes_of(side, t, columns.count);
  const auto apart = static_cast<BlasInteger>(columns.apart);
  cblas_dgemm(CblasRowMajor, side, CblasNoTrans, m, n, k, 1.0, t.a, static_cast<BlasInteger>(t.stride), b, apart, beta,
              c, apart);
}

void gemm(CBLAS_TRANSPOSE side, const Tile<float>& t, const float* b, const Columns& columns, float beta, float* c) {
  const auto [m, n, k] = sizes_of(side, t, columns.count);
  const auto apart = static_cast<BlasInteger>(columns.apart);
  cblas_sgemm(CblasRowMajor, side, CblasNoTrans, m, n, k, 1.0F, t.a, static_cast<BlasInteger>(t.stride), b, apart, beta,
              c, apart);
}

// C = A' A, on and above the diagonal alone; added to C if `beta` is 1.
void syrk(const Tile<double>& t, double beta, double* c) {
  const auto n = static_cast<BlasInteger>(t.cols), k = static_cast<BlasInteger>(t.rows);
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, 1.0, t.a, static_cast<BlasInteger>(t.stride), beta, c, n);
}

void syrk(const Tile<float>& t, float beta, float* c) {
  const auto n = static_cast<BlasInteger>(t.cols), k = static_cast<BlasInteger>(t.rows);
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, 1.0F, t.a, static_cast<BlasInteger>(t.stride), beta, c, n);
}

// A' A on and above the diagonal.
template <class T>
void square(const Tile<T>& t, T beta, T* c) {
  syrk(t, beta, c);
  ZeroProducts<T>({t.a, t.rows, t.cols, t.stride, true, t.a, t.cols, t.cols, c}).restore();
}

// `plain`: b has no 0, and only finite numbers.
template <class T>
void multiply(CBLAS_TRANSPOSE side, const Tile<T>& t, const T* b, const Columns& columns, T beta, T* c, bool plain) {
  if (columns.apart == 1) {
    gemv(side, t, b, beta, c);
  } else {
    gemm(side, t, b, columns, beta, c);
  }
  if (!plain)
    ZeroProducts<T>({t.a, t.rows, t.cols, t.stride, side == CblasTrans, b, columns.count, columns.apart, c}).restore();
}

template <class T>
DenseSizes sizes_of_pass(const DenseProductCall& call, std::span<const DenseOperands> products) {
  const std::int64_t columns = products[0].columns;
  const std::int64_t along =
      std::count_if(products.begin(), products.end(), [](const auto& p) { return !p.transposed; });
  return {call.rows, call.cols, columns, call.cols * columns * static_cast<std::int64_t>(sizeof(T)) * along};
}

// Rows of a matrix, or of an operand with columns: in place, or made dense elsewhere.
template <class T>
struct TileRows {
  const T* data;
  const CompressedArray* compressed;
  std::int64_t width;

  [[nodiscard]] std::int64_t room() const { return compressed != nullptr ? width : 0; }  // elements a row
  [[nodiscard]] const T* some(std::int64_t first, std::int64_t rows, T* room) const {
    if (compressed == nullptr) return data + first * width;
    expand_rows(*compressed, first, first + rows, reinterpret_cast<std::byte*>(room));
    return room;
  }
};

template <class T>
class DensePass {
 public:
  DensePass(Workshop& shop, const DenseProductCall& call, std::span<const DenseOperands> products)
      : shop_(shop),
        call_(call),
        columns_(products[0].columns),
        across_(call.cols * columns_),
        down_(rows_of_block(sizes_of_pass<T>(call, products))),
        blocks_((call.rows + down_ - 1) / down_),
        matrix_{reinterpret_cast<const T*>(call.matrix.data), call.matrix.compressed, call.cols} {
    std::int64_t partial = 0, room = matrix_.room();
    for (const DenseOperands& p : products) {
      const T* x = reinterpret_cast<const T*>(p.vector);
      lanes_.push_back({p.transposed, x, reinterpret_cast<T*>(p.result), partial, {x, p.compressed, p.columns}});
      const bool same = p.compressed != nullptr ? p.compressed == matrix_.compressed : x == matrix_.data;
      lanes_.back().onto = p.onto;
      lanes_.back().square = !p.transposed && p.columns == call.cols && p.columns > 1 && same;
      partial += p.transposed ? 0 : blocks_ * across_;
      room += p.compressed != matrix_.compressed ? lanes_.back().rows.room() : 0;
    }
    const bool whole = std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.square; });
    at_once_ = room > 0 || whole ? columns_ : columns_at_once(sizes_of_pass<T>(call, products));
    partials_ = reinterpret_cast<T*>(shop.partials(partial * static_cast<std::int64_t>(sizeof(T))));
    if (room == 0) return;
    const std::int64_t fitting = tile_bytes / (room * static_cast<std::int64_t>(sizeof(T))) / 8 * 8;
    dense_rows_ = std::clamp<std::int64_t>(fitting, 8, down_);
    dense_room_ = dense_rows_ * room;
    dense_ = reinterpret_cast<T*>(shop.shared_strips(
        checked_mul(dense_room_ * static_cast<std::int64_t>(sizeof(T)), shop.pool.threads(), "rows made dense")));
  }

  void run() {
    const bool empty = call_.rows == 0 || call_.cols == 0 || columns_ == 0;
    for (const Lane& lane : lanes_) {  // a block writes its own rows
      if (!lane.onto && (empty || !lane.transposed))
        std::fill_n(lane.y, lane.transposed ? call_.rows * columns_ : across_, T{0});
    }
    if (empty) return;
    for (Lane& lane : lanes_) {
      const std::span<const T> x{lane.x, static_cast<std::size_t>(lane.transposed ? across_ : 0)};
      lane.plain = lane.transposed && none_zero(x) && all_finite(x);
      looked_at_again_ = looked_at_again_ || (lane.transposed && !lane.plain);
    }
    const std::int64_t parts = (columns_ + at_once_ - 1) / at_once_;
    const auto part = [&](int thread, std::int64_t b, std::int64_t k) {
      const std::int64_t from = k * at_once_;
      block(b, thread, from, std::min(at_once_, columns_ - from));
    };
    if (call_.gate != nullptr) {
      pass_rows(shop_.pool, *call_.gate, call_.rows, down_, [&](int thread, std::int64_t b) {
        for (std::int64_t k = 0; k < parts; ++k) part(thread, b, k);
      });
    } else if (call_.rows * across_ < piece_work) {
      for (std::int64_t piece = 0; piece < blocks_ * parts; ++piece) part(0, piece / parts, piece % parts);
    } else {
      share_out(shop_.pool, blocks_ * parts,
                [&](int thread, std::int64_t piece) { part(thread, piece / parts, piece % parts); });
    }
    for (const Lane& lane : lanes_) {
      if (lane.transposed) continue;
      for (std::int64_t b = 0; b < blocks_; ++b) add(lane, partials_ + lane.partials + b * across_);
      if (lane.square && !lane.onto) mirror(lane.y);
    }
  }

 private:
  struct Range {
    std::int64_t first, count;
  };
  struct Lane {
    bool transposed;
    const T* x;
    T* y;
    std::int64_t partials;  // the beginning of its blocks'
    TileRows<T> rows;       // of its operand, if that is over the matrix's rows
    bool square = false;    // its operand is the matrix itself: only half of the result is computed
    bool plain = false;     // its operand is over the columns, has no 0, and only finite numbers
    bool onto = false;      // added to what its result holds

    [[nodiscard]] T beta(bool begun) const { return begun || onto ? T{1} : T{0}; }  // of a result over the rows
  };

  // Adds a block's results; of a square, those on and above the diagonal, which onto an array stand for those below.
  void add(const Lane& lane, const T* partial) const {
    const std::int64_t rows = lane.square ? call_.cols : 1;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = i * columns_ + (lane.square ? i : 0); j < across_ / rows * (i + 1); ++j) {
        lane.y[j] += partial[j];
      }
      for (std::int64_t j = i + 1; lane.square && lane.onto && j < columns_; ++j) {
        lane.y[j * columns_ + i] += partial[i * columns_ + j];
      }
    }
  }

  // An element below the diagonal has the factors of the one above it, in the same order.
  void mirror(T* y) const {
    for (std::int64_t i = 0; i < call_.cols; ++i) {
      for (std::int64_t j = 0; j < i; ++j) y[i * columns_ + j] = y[j * columns_ + i];
    }
  }

  // One product takes a block at once; several take it tile by tile, as does one that has to read it again. Of several
  // columns, `count` from the column `from` on.
  void block(std::int64_t b, int thread, std::int64_t from, std::int64_t count) const {
    const std::int64_t first = b * down_, rows = std::min(down_, call_.rows - first);
    if (dense_rows_ > 0) {
      for (std::int64_t r = 0; r < rows; r += dense_rows_) {
        multiply_columns(b, {first + r, std::min(dense_rows_, rows - r)}, {from, count}, r > 0,
                         dense_ + thread * dense_room_);
      }
      return;
    }
    if (columns_ > 1) return multiply_columns(b, {first, rows}, {from, count}, false, nullptr);
    const std::int64_t across = lanes_.size() > 1 ? std::min(tile_cols, call_.cols) : call_.cols;
    const bool tiled = lanes_.size() > 1 || looked_at_again_;
    const std::int64_t fitting = tile_bytes / (across * static_cast<std::int64_t>(sizeof(T))) / 8 * 8;
    const std::int64_t down = tiled ? std::clamp<std::int64_t>(fitting, 8, down_) : down_;
    for (std::int64_t r = 0; r < rows; r += down) {
      for (std::int64_t c = 0; c < call_.cols; c += across) {
        tile(b, first, r, c, std::min(down, rows - r), std::min(across, call_.cols - c));
      }
    }
  }

  // `begun`: the block's results already hold a sum. `room` is memory for rows made dense.
  void multiply_columns(std::int64_t b, const Range& rows, const Range& columns, bool begun, T* room) const {
    const T* a = matrix_.some(rows.first, rows.count, room);
    room += dense_rows_ * matrix_.room();
    const Tile<T> tile{a, rows.count, call_.cols, call_.cols};
    const Columns some{columns.count, columns_};
    for (const Lane& lane : lanes_) {
      if (lane.transposed) {
        T* y = lane.y + rows.first * columns_ + columns.first;
        multiply(CblasNoTrans, tile, lane.x + columns.first, some, lane.beta(false), y, lane.plain);
        continue;
      }
      T* partial = partials_ + lane.partials + b * across_ + columns.first;
      if (lane.square) {
        square(tile, begun ? T{1} : T{0}, partial);
        continue;
      }
      const bool itself = lane.rows.compressed != nullptr && lane.rows.compressed == matrix_.compressed;
      const T* x = itself ? a : lane.rows.some(rows.first, rows.count, room);
      if (!itself) room += dense_rows_ * lane.rows.room();
      multiply(CblasTrans, tile, x + columns.first, some, begun ? T{1} : T{0}, partial, false);
    }
  }

  // Rows of a block from its row `r` on, columns from `c` on, for every product.
  void tile(std::int64_t b, std::int64_t first, std::int64_t r, std::int64_t c, std::int64_t rows,
            std::int64_t cols) const {
    const T* a = reinterpret_cast<const T*>(call_.matrix.data) + (first + r) * call_.cols + c;
    const Tile<T> tile{a, rows, cols, call_.cols};
    const Columns one{1, 1};
    for (const Lane& lane : lanes_) {
      if (lane.transposed) {
        multiply(CblasNoTrans, tile, lane.x + c, one, lane.beta(c > 0), lane.y + first + r, lane.plain);
      } else {
        T* partial = partials_ + lane.partials + b * call_.cols + c;
        multiply(CblasTrans, tile, lane.x + first + r, one, r > 0 ? T{1} : T{0}, partial, false);
      }
    }
  }

  Workshop& shop_;
  const DenseProductCall& call_;
  std::int64_t columns_;
  std::int64_t across_;  // elements of a result that is along the columns
  std::int64_t down_;    // rows of a block
  std::int64_t blocks_;
  std::int64_t at_once_ = 0;  // columns that a thread computes at a time
  std::vector<Lane> lanes_;
  T* partials_ = nullptr;
  TileRows<T> matrix_;
  bool looked_at_again_ = false;  // the matrix's rows, for numbers that are not finite
  std::int64_t dense_rows_ = 0;   // that are made dense at a time; 0: all lie in memory
  std::int64_t dense_room_ = 0;   // elements that these take on each thread,
  T* dense_ = nullptr;            // and where
};

}  // namespace

void run_dense(Workshop& shop, const ProductKernel& kernel, bool transposed, const DenseProductCall& call) {
  const std::int64_t outputs = transposed ? call.rows : call.cols;
  const std::int64_t steps = transposed ? call.cols : call.rows;
  std::vector<std::int64_t> words{transposed ? call.cols : 1, transposed ? 1 : call.cols, steps};
  append_array(words, kernel.matrix, call.matrix);
  append_array(words, kernel.products[0].vector, call.inputs[0]);
  append_array(words, kernel.products[0].result, call.outputs[0]);
  if (call.gate != nullptr) {  // dense_rows_at_once: results over the rows
    constexpr std::int64_t some = general_block_rows;
    return pass_rows(shop.pool, *call.gate, call.rows, some, [&](int thread, std::int64_t k) {
      kernel.rows(words.data(), k * some, std::min(call.rows, (k + 1) * some), shop.scratch(thread));
    });
  }
  const std::int64_t threads = outputs * steps * kernel.columns < piece_work ? 1 : shop.pool.threads();
  const auto part = [&](int t) {
    kernel.rows(words.data(), outputs * t / threads, outputs * (t + 1) / threads, shop.scratch(t));
  };
  if (threads == 1) {
    part(0);
  } else {
    shop.pool.run(part);
  }
}

void run_blas(Workshop& shop, Scalar scalar, const DenseProductCall& call, std::span<const DenseOperands> products) {
  if (std::max(call.cols, products[0].columns) > std::numeric_limits<BlasInteger>::max()) {
    fail(ExitStatus::limit, "a dense matrix with more than 2^31 columns", "the dense library counts them in 32 bits");
  }
  if (scalar == Scalar::f64) {
    DensePass<double>(shop, call, products).run();
  } else {
    DensePass<float>(shop, call, products).run();
  }
}

}  // namespace kasen
