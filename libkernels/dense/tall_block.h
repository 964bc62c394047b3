// Reflections that turn a block of rows into zeros below an upper triangle: [R; A] = Q [R'; 0] with Q = I - [I; V] T
// [I; V]', Householder's in compact form (Schreiber and Van Loan, SIAM Journal on Scientific and Statistical Computing
// 10, 1989). T is not kept: its inverse is upper, with the strict upper triangle of V' V, and 1 / factor on its
// diagonal (Puglisi, 1992).
//
// A block fits the cache. It lies in panels of eight columns, the eight numbers of a row side by side. Lanes without a
// column hold zeros, and so do rows behind its last one, up to a multiple of eight.
#pragma once

#include <cstdint>

namespace kasen {

constexpr std::int64_t tall_lanes = 8;
[[nodiscard]] constexpr std::int64_t tall_panels(std::int64_t cols) { return (cols + tall_lanes - 1) / tall_lanes; }

/// For any processor; for those with vectors of 256 bits; of 512.
enum class TallCode : std::uint8_t { any, half, wide };
[[nodiscard]] TallCode best_tall_code();

template <class T>
struct TallBlock {
  std::int64_t rows = 0;  ///< a multiple of eight
  std::int64_t cols = 0;  ///< of the matrix
  T* panels = nullptr;    ///< A, then V
  T* factors = nullptr;   ///< of the reflection of each column; 0 if there is none
  T* square = nullptr;    ///< R, then R'; rows of whole panels
  T* work = nullptr;      ///< form: as large as the square, and eight rows
  TallCode code = TallCode::any;
  [[nodiscard]] std::int64_t width() const { return tall_panels(cols) * tall_lanes; }
};

/// A to V, and R to R'. False where squares of a column's numbers are too large or too small for the type, or NaN: then
/// nothing that the block holds is of use.
[[nodiscard]] bool factor_tall(const TallBlock<double>& block);
[[nodiscard]] bool factor_tall(const TallBlock<float>& block);

/// Q [C; 0], with C in the square: C to its upper part, and the lower part in rows of `cols` numbers, so many of them.
void form_tall(const TallBlock<double>& block, double* lower, std::int64_t count);
void form_tall(const TallBlock<float>& block, float* lower, std::int64_t count);

}  // namespace kasen
