#include "libkernels/dense/sparse_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace kasen {
namespace {

constexpr std::int64_t few = 16;           // nonzeros: a row of more is taken by itself
constexpr std::int64_t at_once = 1024;     // nonzeros of rows that are taken together
constexpr std::int64_t unconditional = 4;  // nonzeros of each row that are worked on whether it has them or not

template <class Real>
using Buffer = std::array<Real, at_once + unconditional>;

// Calls one(row) for long rows, and several(begin, end) for neighbours that are short.
template <class One, class Several>
void by_length(const std::int64_t* pointers, const Range& rows, const One& one, const Several& several) {
  const auto entries = [&](std::int64_t row) { return pointers[row + 1] - pointers[row]; };
  for (std::int64_t row = rows.begin; row < rows.end;) {
    if (entries(row) > few) {
      one(row++);
      continue;
    }
    const std::int64_t first = row;
    while (row < rows.end && entries(row) <= few && pointers[row + 1] - pointers[first] <= at_once) ++row;
    several(first, row);
  }
}

// x, or 0.
template <class Real>
Real kept_if(bool keep, Real x) {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<Real>(static_cast<Bits>(std::bit_cast<Bits>(x) & (Bits{0} - static_cast<Bits>(keep))));
}

}  // namespace

template <class Real>
void multiply_sparse_rows(const SparseRows<Real>& matrix, const Range& rows, const Real* vector, Real* result) {
  const std::int64_t* const pointers = matrix.pointers;
  const auto product = [&](std::int64_t e) { return vector[matrix.columns[e]] * matrix.values[e]; };
  const auto one = [&](std::int64_t row) {
    Real total = 0;
    for (std::int64_t first = pointers[row]; first < pointers[row + 1]; first += reduction_block) {
      Real segment = 0;
      const std::int64_t end = std::min(first + reduction_block, pointers[row + 1]);
      for (std::int64_t e = first; e < end; ++e) segment += product(e);
      total += segment;
    }
    result[row] = total;
  };
  Buffer<Real> products{};
  by_length(pointers, rows, one, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = pointers[begin];
    for (std::int64_t e = first; e < pointers[end]; ++e) products[static_cast<std::size_t>(e - first)] = product(e);
    for (std::int64_t row = begin; row < end; ++row) {
      const Real* const own = products.data() + (pointers[row] - first);
      const std::int64_t count = pointers[row + 1] - pointers[row];
      Real sum = 0;
      for (std::int64_t k = 0; k < unconditional; ++k) sum += kept_if(k < count, own[k]);
      for (std::int64_t k = unconditional; k < count; ++k) sum += own[k];
      result[row] = sum;
    }
  });
}

template <class Real>
void add_sparse_rows(const SparseRows<Real>& matrix, const Range& rows, const Real* vector, Real* sums) {
  const std::int64_t* const pointers = matrix.pointers;
  const auto one = [&](std::int64_t row) {
    const Real x = vector[row];
    for (std::int64_t e = pointers[row]; e < pointers[row + 1]; ++e) sums[matrix.columns[e]] += x * matrix.values[e];
  };
  Buffer<Real> given;  // what a row gives, for each of its nonzeros
  by_length(pointers, rows, one, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = pointers[begin];
    for (std::int64_t row = begin; row < end; ++row) {
      Real* const own = given.data() + (pointers[row] - first);
      for (std::int64_t k = 0; k < unconditional; ++k) own[k] = vector[row];
      for (std::int64_t k = unconditional; k < pointers[row + 1] - pointers[row]; ++k) own[k] = vector[row];
    }
    for (std::int64_t e = first; e < pointers[end]; ++e)
      sums[matrix.columns[e]] += given[static_cast<std::size_t>(e - first)] * matrix.values[e];
  });
}

template void multiply_sparse_rows(const SparseRows<double>&, const Range&, const double*, double*);
template void multiply_sparse_rows(const SparseRows<float>&, const Range&, const float*, float*);
template void add_sparse_rows(const SparseRows<double>&, const Range&, const double*, double*);
template void add_sparse_rows(const SparseRows<float>&, const Range&, const float*, float*);

}  // namespace kasen
