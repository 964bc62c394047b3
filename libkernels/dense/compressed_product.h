// Products with a compressed matrix (libcore/data/compressed.h), multiplied and added. A vector over its columns first
// meets the distinct tuples, then every row adds the results of its tuples. A vector over its rows goes the other way
// round. So a row costs a code a group.
#pragma once

#include <cstdint>
#include <span>

#include "libcore/data/compressed.h"
#include "libcore/kernels/kernel_set.h"

namespace kasen {

// Scalars, `stride` apart.
template <class T>
struct Strided {
  T* first = nullptr;
  std::int64_t stride = 1;
  T& operator[](std::int64_t i) const { return first[i * stride]; }
};

// The slots of a vector over the matrix's columns: one number a tuple, and one a column, which plain groups use.
[[nodiscard]] inline std::int64_t column_slots(const CompressedArray& matrix) {
  return std::ssize(matrix.counts) + matrix.cols;
}

// slots[tuple] = the tuple times its columns of x; behind them x itself, in the order of the groups' columns.
template <class T>
void meet_tuples(const CompressedArray& matrix, Strided<const T> x, T* slots);
// y[i] = row rows.begin + i times x, from the slots of meet_tuples.
template <class T>
void add_up_rows(const CompressedArray& matrix, const T* slots, Range rows, Strided<T> y);
// slots += the rows times u, where u[i] is that of row rows.begin + i: for the rows' tuples, and for plain columns.
template <class T>
void spread_rows(const CompressedArray& matrix, Range rows, Strided<const T> u, T* slots);
// y[column] = the result of spread_rows in slots, for each column of the matrix.
template <class T>
void columns_of_slots(const CompressedArray& matrix, const T* slots, Strided<T> y);

// Rows of one call of add_up_rows or spread_rows: few enough that their results stay in the first cache, and enough
// that lists are not searched more often than read.
inline constexpr std::int64_t compressed_rows_at_once = 2048;

}  // namespace kasen
