#include "libkernels/dense/sparse_rows.h"

#include <algorithm>
#include <array>

namespace kasen {
namespace {

constexpr std::int64_t at_once = 1024;  // nonzeros, and rows, that are taken together
// Nonzeros of a row, on average over those that are taken together. Up to there one loop goes over the nonzeros of all
// of them: it has no end at each row, which no processor foresees, but waits for memory between two of one row.
constexpr std::int64_t few_to_multiply = 6, few_to_add = 16;

// Calls one(row) for each row, or several(begin, end) for neighbours that are short.
template <class One, class Several>
void by_length(const std::int64_t* pointers, const Range& rows, std::int64_t few, const One& one,
               const Several& several) {
  for (std::int64_t begin = rows.begin; begin < rows.end;) {
    const std::int64_t most = std::min(rows.end, begin + at_once);
    const std::int64_t* const behind =
        std::upper_bound(pointers + begin + 1, pointers + most + 1, pointers[begin] + at_once);
    const std::int64_t end = std::max(behind - pointers - 1, begin + 1);
    if (pointers[end] - pointers[begin] <= few * (end - begin)) {
      several(begin, end);
    } else {
      for (std::int64_t row = begin; row < end; ++row) one(row);
    }
    begin = end;
  }
}

// The row of each nonzero of some neighbours.
class RowsOfEntries {
 public:
  // The last row that begins at a nonzero has it. Those before it that begin there are empty.
  void mark(const std::int64_t* pointers, std::int64_t begin, std::int64_t end) {
    std::fill_n(begins_.begin(), pointers[end] - pointers[begin], 0);
    for (std::int64_t row = begin; row < end; ++row)
      begins_[static_cast<std::size_t>(pointers[row] - pointers[begin])] = static_cast<std::int32_t>(row - begin);
  }

  // Calls visit(nonzero, row) for each, in order.
  template <class Visit>
  void each(const std::int64_t* pointers, std::int64_t begin, std::int64_t end, const Visit& visit) const {
    const std::int64_t first = pointers[begin], count = pointers[end] - first;
    std::int32_t row = 0;
    for (std::int64_t e = 0; e < count; ++e) {
      row = std::max(row, begins_[static_cast<std::size_t>(e)]);
      visit(first + e, begin + row);
    }
  }

 private:
  std::array<std::int32_t, at_once + 1> begins_;  // by nonzero: the row that begins there, or 0
};

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
  static_assert(at_once <= reduction_block, "rows that are taken together have one segment");
  RowsOfEntries owners;
  by_length(pointers, rows, few_to_multiply, one, [&](std::int64_t begin, std::int64_t end) {
    owners.mark(pointers, begin, end);
    std::fill(result + begin, result + end, Real(0));
    owners.each(pointers, begin, end, [&](std::int64_t e, std::int64_t row) { result[row] += product(e); });
  });
}

template <class Real>
void add_sparse_rows(const SparseRows<Real>& matrix, const Range& rows, const Real* vector, Real* sums) {
  const std::int64_t* const pointers = matrix.pointers;
  const auto add = [&](std::int64_t e, Real x) { sums[matrix.columns[e]] += x * matrix.values[e]; };
  const auto one = [&](std::int64_t row) {
    const Real x = vector[row];
    for (std::int64_t e = pointers[row]; e < pointers[row + 1]; ++e) add(e, x);
  };
  RowsOfEntries owners;
  by_length(pointers, rows, few_to_add, one, [&](std::int64_t begin, std::int64_t end) {
    owners.mark(pointers, begin, end);
    owners.each(pointers, begin, end, [&](std::int64_t e, std::int64_t row) { add(e, vector[row]); });
  });
}

template void multiply_sparse_rows(const SparseRows<double>&, const Range&, const double*, double*);
template void multiply_sparse_rows(const SparseRows<float>&, const Range&, const float*, float*);
template void add_sparse_rows(const SparseRows<double>&, const Range&, const double*, double*);
template void add_sparse_rows(const SparseRows<float>&, const Range&, const float*, float*);

}  // namespace kasen
