// What 0 times infinity or NaN gives in a product with a dense matrix: NaN. Dense libraries leave out terms whose
// factor is 0 where they like to (gemv, edges of gemm), as if the other factor were finite.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace kasen {

template <class T>
[[nodiscard]] bool all_finite(std::span<const T> numbers) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr T infinite = std::numeric_limits<T>::infinity();
  Bits exponent = 0, found = 0;
  std::memcpy(&exponent, &infinite, sizeof exponent);
  for (const T& number : numbers) {  // without a way out, so that it runs as vectors
    Bits bits;
    std::memcpy(&bits, &number, sizeof bits);
    found |= static_cast<Bits>((bits & exponent) == exponent);
  }
  return found == 0;
}

template <class T>
[[nodiscard]] bool none_zero(std::span<const T> numbers) {
  unsigned found = 0;
  for (const T number : numbers) found |= static_cast<unsigned>(number == T{0});
  return found == 0;
}

// C = A B, or A' B if `turned`, as it was just computed by a dense library. A has `rows` rows of `cols` numbers, each
// `stride` behind the one before; B and C have `columns` columns, whose numbers of one row lie side by side.
template <class T>
struct DenseProduct {
  const T* a;
  std::int64_t rows, cols, stride;
  bool turned;
  const T* b;
  std::int64_t columns;
  T* c;
};

template <class T>
class ZeroProducts {
 public:
  explicit ZeroProducts(const DenseProduct<T>& product) : p_(product) {}

  // Makes those numbers of C NaN that have a term 0 * infinity or 0 * NaN. Reads B, and rows of A that meet a 0 of it.
  void restore() const {
    const std::span<const T> b = row(p_.b, steps() * p_.columns);
    if (!none_zero(b)) each_meeting_zeros();
    if (!all_finite(b)) each_not_finite();
  }

 private:
  [[nodiscard]] std::int64_t steps() const { return p_.turned ? p_.rows : p_.cols; }
  [[nodiscard]] std::span<const T> row(const T* numbers, std::int64_t count) const {
    return {numbers, static_cast<std::size_t>(count)};
  }
  void set(std::int64_t i, std::int64_t column) const {
    p_.c[i * p_.columns + column] = std::numeric_limits<T>::quiet_NaN();
  }

  // a is not finite and meets row `step` of B: the columns where that has a 0.
  void meet(T a, std::int64_t i, std::int64_t step) const {
    if (std::isfinite(a)) return;
    for (std::int64_t k = 0; k < p_.columns; ++k)
      if (p_.b[step * p_.columns + k] == T{0}) set(i, k);
  }

  void each_meeting_zeros() const {
    for (std::int64_t r = 0; r < p_.rows; ++r) {
      if (p_.turned && none_zero(row(p_.b + r * p_.columns, p_.columns))) continue;
      const std::span<const T> numbers = row(p_.a + r * p_.stride, p_.cols);
      if (all_finite(numbers)) continue;
      for (std::int64_t j = 0; j < p_.cols; ++j)
        meet(numbers[static_cast<std::size_t>(j)], p_.turned ? j : r, p_.turned ? r : j);
    }
  }

  void each_not_finite() const {
    for (std::int64_t step = 0; step < steps(); ++step) {
      for (std::int64_t k = 0; k < p_.columns; ++k) {
        if (std::isfinite(p_.b[step * p_.columns + k])) continue;
        for (std::int64_t i = 0; i < (p_.turned ? p_.cols : p_.rows); ++i) {
          const T a = p_.turned ? p_.a[step * p_.stride + i] : p_.a[i * p_.stride + step];
          if (a == T{0}) set(i, k);
        }
      }
    }
  }

  DenseProduct<T> p_;
};

}  // namespace kasen
