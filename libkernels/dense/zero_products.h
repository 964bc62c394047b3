// Corrects 0 times infinity or NaN in a product with a dense matrix: it is NaN. Dense libraries leave out some terms
// whose factor is 0 (gemv, edges of gemm), as if the other factor were finite.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace kasen {

// A sum of x * 0, which is NaN if some x is not finite: four vectors of every x86-64 processor, side by side.
template <class T>
[[nodiscard]] bool all_finite(std::span<const T> numbers) {
  using Vector [[gnu::vector_size(16)]] = T;
  constexpr std::size_t lanes = sizeof(Vector) / sizeof(T);
  Vector a{}, b{}, c{}, d{};
  const auto times_zero = [&](std::size_t i) {
    Vector some;
    std::memcpy(&some, numbers.data() + i, sizeof some);
    return some * T{0};
  };
  std::size_t i = 0;
  for (; i + 4 * lanes <= numbers.size(); i += 4 * lanes) {
    a += times_zero(i);
    b += times_zero(i + lanes);
    c += times_zero(i + 2 * lanes);
    d += times_zero(i + 3 * lanes);
  }
  const Vector sums = (a + b) + (c + d);
  T sum = 0;
  for (std::size_t l = 0; l < lanes; ++l) sum += sums[l];
  for (; i < numbers.size(); ++i) sum += numbers[i] * T{0};
  return sum == T{0};
}

template <class T>
[[nodiscard]] bool none_zero(std::span<const T> numbers) {
  unsigned found = 0;
  for (const T number : numbers) found |= static_cast<unsigned>(number == T{0});
  return found == 0;
}

// C = A B, or A' B if `turned`, as a dense library just computed it. A has `rows` rows of `cols` numbers, `stride`
// numbers apart. B and C have `columns` columns, whose numbers of one row lie side by side, and `apart` numbers from
// one row to the next.
template <class T>
struct DenseProduct {
  const T* a;
  std::int64_t rows, cols, stride;
  bool turned;
  const T* b;
  std::int64_t columns, apart;
  T* c;
};

template <class T>
class ZeroProducts {
 public:
  explicit ZeroProducts(const DenseProduct<T>& product) : p_(product) {}

  // Makes those numbers of C NaN that have a term 0 * infinity or 0 * NaN. Reads B, and rows of A that meet a 0 of it.
  void restore() const {
    if (!all_of_b(none_zero<T>) && !all_finite_at_once()) each_meeting_zeros();
    if (!all_of_b(all_finite<T>)) each_not_finite();
  }

 private:
  [[nodiscard]] std::int64_t steps() const { return p_.turned ? p_.rows : p_.cols; }
  [[nodiscard]] std::span<const T> row(const T* numbers, std::int64_t count) const {
    return {numbers, static_cast<std::size_t>(count)};
  }
  [[nodiscard]] bool all_of_b(bool (*holds)(std::span<const T>)) const {
    if (p_.apart == p_.columns) return holds(row(p_.b, steps() * p_.columns));
    for (std::int64_t step = 0; step < steps(); ++step)
      if (!holds(row(p_.b + step * p_.apart, p_.columns))) return false;
    return true;
  }
  // Short rows are checked all together, whatever they meet.
  [[nodiscard]] bool all_finite_at_once() const {
    constexpr std::int64_t short_row = 64;
    const bool together = p_.stride == p_.cols && (!p_.turned || p_.cols < short_row);
    return together && all_finite(row(p_.a, p_.rows * p_.cols));
  }
  void set(std::int64_t i, std::int64_t column) const {
    p_.c[i * p_.apart + column] = std::numeric_limits<T>::quiet_NaN();
  }

  // For an a that is not finite and meets row `step` of B: corrects the columns where that row has a 0.
  void meet(T a, std::int64_t i, std::int64_t step) const {
    if (std::isfinite(a)) return;
    for (std::int64_t k = 0; k < p_.columns; ++k)
      if (p_.b[step * p_.apart + k] == T{0}) set(i, k);
  }

  void each_meeting_zeros() const {
    for (std::int64_t r = 0; r < p_.rows; ++r) {
      if (p_.turned && none_zero(row(p_.b + r * p_.apart, p_.columns))) continue;
      const std::span<const T> numbers = row(p_.a + r * p_.stride, p_.cols);
      if (all_finite(numbers)) continue;
      for (std::int64_t j = 0; j < p_.cols; ++j)
        meet(numbers[static_cast<std::size_t>(j)], p_.turned ? j : r, p_.turned ? r : j);
    }
  }

  void each_not_finite() const {
    for (std::int64_t step = 0; step < steps(); ++step) {
      for (std::int64_t k = 0; k < p_.columns; ++k) {
        if (std::isfinite(p_.b[step * p_.apart + k])) continue;
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
