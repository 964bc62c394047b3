#include "libkernels/dense/tall_block.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

// Loops over registers have to be written out. Bodies take the instructions of the function that calls them.
#ifdef __clang__
#define KASEN_UNROLLED _Pragma("unroll")
#else
#define KASEN_UNROLLED _Pragma("GCC unroll 8")
#endif
#define KASEN_BODY __attribute__((always_inline)) inline

namespace kasen {
namespace {

template <class T>
struct Row {
  using Lanes [[gnu::vector_size(tall_lanes * sizeof(T))]] = T;
  using Numbers = std::array<T, tall_lanes>;
};

// How many vectors are summed up at once: as many as registers hold.
struct WideTile {
  static constexpr int of = 8, vectors = 3;
};
struct NarrowTile {
  static constexpr int of = 4, vectors = 1;
};

template <class Lanes, class T>
KASEN_BODY void load(Lanes& to, const T* from) {
  std::memcpy(&to, from, sizeof to);
}
template <class Lanes, class T>
KASEN_BODY void store(const Lanes& from, T* to) {
  std::memcpy(to, &from, sizeof from);
}

// Numbers less others times a number: whole vectors of them.
template <class T>
KASEN_BODY void subtract_times(T* own, const T* other, T by, std::int64_t count) {
  for (std::int64_t k = 0; k < count; k += tall_lanes) {
    typename Row<T>::Lanes numbers, others;
    load(numbers, own + k);
    load(others, other + k);
    numbers -= by * others;
    store(numbers, own + k);
  }
}

// A panel's `of` columns from `first` on, times some panels behind each other: sums[column * stride ...].
template <class T, int of, int vectors>
KASEN_BODY void dots_of(const T* v, const T* c, std::int64_t rows, T* sums, std::int64_t stride) {
  typename Row<T>::Lanes sum[of][vectors] = {};
  for (std::int64_t r = 0; r < rows; ++r) {
    KASEN_UNROLLED for (int g = 0; g < vectors; ++g) {
      typename Row<T>::Lanes numbers;
      load(numbers, c + (g * rows + r) * tall_lanes);
      KASEN_UNROLLED for (int j = 0; j < of; ++j) sum[j][g] += v[r * tall_lanes + j] * numbers;
    }
  }
  KASEN_UNROLLED for (int j = 0; j < of; ++j) {
    KASEN_UNROLLED for (int g = 0; g < vectors; ++g) store(sum[j][g], sums + j * stride + g * tall_lanes);
  }
}
template <class T, class Tile, int vectors>
KASEN_BODY void dots(const T* v, const T* c, std::int64_t rows, T* sums, std::int64_t stride) {
  for (int first = 0; first < tall_lanes; first += Tile::of) {
    dots_of<T, Tile::of, vectors>(v + first, c, rows, sums + first * stride, stride);
  }
}

// Panels less a panel times eight rows of `times`.
template <class T, int vectors>
KASEN_BODY void subtract(const T* v, const T* times, std::int64_t stride, T* c, std::int64_t rows) {
  typename Row<T>::Lanes w[tall_lanes][vectors];
  KASEN_UNROLLED for (int j = 0; j < tall_lanes; ++j) {
    KASEN_UNROLLED for (int g = 0; g < vectors; ++g) load(w[j][g], times + j * stride + g * tall_lanes);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    KASEN_UNROLLED for (int g = 0; g < vectors; ++g) {
      typename Row<T>::Lanes numbers;
      T* const at = c + (g * rows + r) * tall_lanes;
      load(numbers, at);
      KASEN_UNROLLED for (int j = 0; j < tall_lanes; ++j) numbers -= v[r * tall_lanes + j] * w[j][g];
      store(numbers, at);
    }
  }
}

// A column's reflection, as what it does to its panel's rows: each becomes itself times `keep`, less its number of the
// column times `times`.
template <class T>
struct Reflection {
  typename Row<T>::Numbers keep, times;
};

// Applies it, and gives the products of column `next` with all of the panel: four sums, so that none waits for itself.
template <class T>
KASEN_BODY void reflect(T* panel, std::int64_t rows, std::int64_t column, std::int64_t next, const Reflection<T>& by,
                        T* products) {
  typename Row<T>::Lanes keep, times, sums[4] = {};
  load(keep, by.keep.data());
  load(times, by.times.data());
  for (std::int64_t r = 0; r < rows; r += 4) {
    KASEN_UNROLLED for (int i = 0; i < 4; ++i) {
      T* const at = panel + (r + i) * tall_lanes;
      typename Row<T>::Lanes numbers;
      load(numbers, at);
      numbers = numbers * keep - at[column] * times;
      store(numbers, at);
      sums[i] += at[next] * numbers;
    }
  }
  store((sums[0] + sums[1]) + (sums[2] + sums[3]), products);
}

template <class T>
struct Bounds {  // of a square, so that those that vanish beside it do not matter
  static constexpr T epsilon = std::numeric_limits<T>::epsilon();
  static constexpr T least = std::numeric_limits<T>::min() / (epsilon * epsilon);
  static constexpr T most = std::numeric_limits<T>::max() * epsilon;
};

// The reflection of a column, from its products with its panel; row `top` of R stands above it. False: see factor_tall.
template <class T>
KASEN_BODY bool find_reflection(const T* panel, std::int64_t rows, std::int64_t column, const T* products, T* top,
                                T& factor, Reflection<T>& made) {
  const T square = products[column], alpha = top[column];
  made.keep.fill(1);
  made.times.fill(0);
  factor = 0;
  if (square == 0) {
    T any = 0;
    for (std::int64_t r = 0; r < rows; ++r) any = std::max(any, std::abs(panel[r * tall_lanes + column]));
    return any == 0;
  }
  const T whole = alpha * alpha + square;
  if (!(square >= Bounds<T>::least && whole <= Bounds<T>::most)) return false;
  const T beta = std::copysign(std::sqrt(whole), -alpha), scale = 1 / (alpha - beta);
  factor = (beta - alpha) / beta;
  for (std::int64_t k = column + 1; k < tall_lanes; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const T less = factor * (top[k] + scale * products[k]);
    top[k] -= less;
    made.times[at] = scale * less;
  }
  top[column] = beta;
  made.keep[static_cast<std::size_t>(column)] = 0;
  made.times[static_cast<std::size_t>(column)] = -scale;
  return true;
}

template <class T>
KASEN_BODY bool factor_panel(const TallBlock<T>& b, std::int64_t first) {
  T* const panel = b.panels + first * b.rows;
  const std::int64_t columns = std::min(tall_lanes, b.cols - first);
  alignas(64) std::array<T, tall_lanes> products;
  Reflection<T> reflection;
  reflection.keep.fill(1);
  reflection.times.fill(0);
  reflect(panel, b.rows, 0, 0, reflection, products.data());
  for (std::int64_t j = 0; j < columns; ++j) {
    T* const top = b.square + (first + j) * b.width() + first;
    if (!find_reflection(panel, b.rows, j, products.data(), top, b.factors[first + j], reflection)) return false;
    reflect(panel, b.rows, j, std::min(j + 1, tall_lanes - 1), reflection, products.data());
  }
  std::fill(b.factors + first + columns, b.factors + first + tall_lanes, T(0));
  return true;
}

// The panel's reflections on other panels, whose first column is `at`.
template <class T, class Tile, int vectors>
KASEN_BODY void reflect_behind(const TallBlock<T>& b, std::int64_t first, const T* gram, std::int64_t at) {
  constexpr std::int64_t stride = vectors * tall_lanes;
  const T* const v = b.panels + first * b.rows;
  T* const c = b.panels + at * b.rows;
  alignas(64) std::array<T, static_cast<std::size_t>(tall_lanes * stride)> w;
  dots<T, Tile, vectors>(v, c, b.rows, w.data(), stride);
  for (std::int64_t j = 0; j < tall_lanes; ++j) {
    T* const top = b.square + (first + j) * b.width() + at;
    T* const own = w.data() + j * stride;
    for (std::int64_t k = 0; k < stride; ++k) own[k] += top[k];
    for (std::int64_t i = 0; i < j; ++i) subtract_times(own, w.data() + i * stride, gram[i * tall_lanes + j], stride);
    for (std::int64_t k = 0; k < stride; ++k) own[k] *= b.factors[first + j];
    subtract_times(top, own, T(1), stride);
  }
  subtract<T, vectors>(v, w.data(), stride, c, b.rows);
}

template <class T, class Tile>
KASEN_BODY bool factor_block(const TallBlock<T>& b) {
  alignas(64) std::array<T, static_cast<std::size_t>(tall_lanes * tall_lanes)> gram;
  for (std::int64_t first = 0; first < b.width(); first += tall_lanes) {
    if (!factor_panel(b, first)) return false;
    if (first + tall_lanes == b.width()) break;
    const T* const v = b.panels + first * b.rows;
    dots<T, Tile, 1>(v, v, b.rows, gram.data(), tall_lanes);
    std::int64_t at = first + tall_lanes;
    for (; at + Tile::vectors * tall_lanes <= b.width(); at += Tile::vectors * tall_lanes)
      reflect_behind<T, Tile, Tile::vectors>(b, first, gram.data(), at);
    for (; at < b.width(); at += tall_lanes) reflect_behind<T, Tile, 1>(b, first, gram.data(), at);
  }
  return true;
}

// Eight rows of W = T C, from the last ones up: those of C, less what T's inverse has of the rows below, times the
// factors. C and W are upper.
template <class T>
KASEN_BODY void form_rows(const TallBlock<T>& b, std::int64_t first, const T* gram) {
  const std::int64_t width = b.width(), some = width - first;
  for (std::int64_t j = tall_lanes; j-- > 0;) {
    T* const own = b.work + (first + j) * width + first;
    std::copy_n(b.square + (first + j) * width + first, some, own);
    for (std::int64_t i = j + 1; i < some; ++i) {
      const std::int64_t from = i / tall_lanes * tall_lanes;
      subtract_times(own + from, b.work + (first + i) * width + first + from, gram[j * some + i], some - from);
    }
    for (std::int64_t k = 0; k < some; ++k) own[k] *= b.factors[first + j];
  }
}

// `of` rows of -V W from column `at` on.
template <class T, int of, int vectors>
KASEN_BODY void lower_rows(const TallBlock<T>& b, std::int64_t row, std::int64_t at, T* made, std::int64_t stride) {
  typename Row<T>::Lanes sum[of][vectors] = {};
  for (std::int64_t first = 0; first < at + vectors * tall_lanes; first += tall_lanes) {
    const T* const v = b.panels + (first * b.rows + row * tall_lanes);
    const T* const w = b.work + first * b.width() + at;
    for (std::int64_t k = 0; k < tall_lanes; ++k) {
      KASEN_UNROLLED for (int g = 0; g < vectors; ++g) {
        typename Row<T>::Lanes numbers;
        load(numbers, w + k * b.width() + g * tall_lanes);
        KASEN_UNROLLED for (int i = 0; i < of; ++i) sum[i][g] -= v[i * tall_lanes + k] * numbers;
      }
    }
  }
  KASEN_UNROLLED for (int i = 0; i < of; ++i) {
    KASEN_UNROLLED for (int g = 0; g < vectors; ++g) store(sum[i][g], made + i * stride + g * tall_lanes);
  }
}

template <class T, class Tile, int vectors>
KASEN_BODY void lower_columns(const TallBlock<T>& b, std::int64_t at, T* lower, std::int64_t count) {
  constexpr std::int64_t stride = vectors * tall_lanes;
  const std::int64_t columns = std::min(stride, b.cols - at);
  alignas(64) std::array<T, static_cast<std::size_t>(Tile::of * stride)> made;
  for (std::int64_t row = 0; row < count; row += Tile::of) {
    const std::int64_t some = std::min<std::int64_t>(Tile::of, count - row);
    if (columns == stride && some == Tile::of) {
      lower_rows<T, Tile::of, vectors>(b, row, at, lower + row * b.cols + at, b.cols);
      continue;
    }
    lower_rows<T, Tile::of, vectors>(b, row, at, made.data(), stride);
    for (std::int64_t i = 0; i < some; ++i)
      std::copy_n(made.data() + i * stride, columns, lower + (row + i) * b.cols + at);
  }
}

template <class T, class Tile>
KASEN_BODY void form_block(const TallBlock<T>& b, T* lower, std::int64_t count) {
  const std::int64_t width = b.width();
  T* const gram = b.work + width * width;
  std::fill_n(b.work, width * width, T(0));
  for (std::int64_t first = width - tall_lanes; first >= 0; first -= tall_lanes) {
    const T* const v = b.panels + first * b.rows;
    std::int64_t at = first;
    for (; at + Tile::vectors * tall_lanes <= width; at += Tile::vectors * tall_lanes)
      dots<T, Tile, Tile::vectors>(v, b.panels + at * b.rows, b.rows, gram + (at - first), width - first);
    for (; at < width; at += tall_lanes)
      dots<T, Tile, 1>(v, b.panels + at * b.rows, b.rows, gram + (at - first), width - first);
    form_rows(b, first, gram);
  }
  std::int64_t at = 0;
  for (; at + Tile::vectors * tall_lanes <= width; at += Tile::vectors * tall_lanes)
    lower_columns<T, Tile, Tile::vectors>(b, at, lower, count);
  for (; at < width; at += tall_lanes) lower_columns<T, Tile, 1>(b, at, lower, count);
  subtract_times(b.square, b.work, T(1), width * width);
}

#ifdef __x86_64__
template <class T>
__attribute__((target("avx512f"))) bool factor_wide(const TallBlock<T>& b) {
  return factor_block<T, WideTile>(b);
}
template <class T>
__attribute__((target("avx2,fma"))) bool factor_half(const TallBlock<T>& b) {
  return factor_block<T, NarrowTile>(b);
}
template <class T>
__attribute__((target("avx512f"))) void form_wide(const TallBlock<T>& b, T* lower, std::int64_t count) {
  form_block<T, WideTile>(b, lower, count);
}
template <class T>
__attribute__((target("avx2,fma"))) void form_half(const TallBlock<T>& b, T* lower, std::int64_t count) {
  form_block<T, NarrowTile>(b, lower, count);
}
#endif
template <class T>
bool factor_any(const TallBlock<T>& b) {
  return factor_block<T, NarrowTile>(b);
}
template <class T>
void form_any(const TallBlock<T>& b, T* lower, std::int64_t count) {
  form_block<T, NarrowTile>(b, lower, count);
}

template <class T>
bool factor_by_code(const TallBlock<T>& b) {
#ifdef __x86_64__
  if (b.code == TallCode::wide) return factor_wide(b);
  if (b.code == TallCode::half) return factor_half(b);
#endif
  return factor_any(b);
}
template <class T>
void form_by_code(const TallBlock<T>& b, T* lower, std::int64_t count) {
#ifdef __x86_64__
  if (b.code == TallCode::wide) return form_wide(b, lower, count);
  if (b.code == TallCode::half) return form_half(b, lower, count);
#endif
  form_any(b, lower, count);
}

}  // namespace

TallCode best_tall_code() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return TallCode::wide;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return TallCode::half;
#endif
  return TallCode::any;
}

bool factor_tall(const TallBlock<double>& block) { return factor_by_code(block); }
bool factor_tall(const TallBlock<float>& block) { return factor_by_code(block); }
void form_tall(const TallBlock<double>& block, double* lower, std::int64_t count) { form_by_code(block, lower, count); }
void form_tall(const TallBlock<float>& block, float* lower, std::int64_t count) { form_by_code(block, lower, count); }

}  // namespace kasen
