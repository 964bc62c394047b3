#include "libkernels/compressed_product.h"

#include <algorithm>
#include <array>

namespace kasen {
namespace {

template <class T>
const T* tuples_of(const CompressedArray& matrix, const ColumnGroup& group) {
  return reinterpret_cast<const T*>(matrix.values.data()) + group.first_value;
}

template <class T>
const T* plain_rows(const CompressedArray& matrix, const ColumnGroup& group) {
  return reinterpret_cast<const T*>(matrix.data.data() + group.first_byte);
}

// unlisted(row) for the rows that no list of the group names.
template <class Body>
void each_unlisted(const CompressedArray& matrix, const ColumnGroup& group, Range rows, const Body& unlisted) {
  std::array<bool, compressed_rows_at_once> named{};
  each_listed_run(matrix, group, rows.begin, rows.end, [&](std::int64_t, std::int64_t from, std::int64_t to) {
    std::fill(named.begin() + (from - rows.begin), named.begin() + (to - rows.begin), true);
  });
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    if (!named[static_cast<size_t>(r - rows.begin)]) unlisted(r);
  }
}

// Zeros times a vector that has something that is not finite.
template <class T>
void add_rest(const CompressedArray& matrix, const ColumnGroup& group, T rest, Range rows, Strided<T> y) {
  each_unlisted(matrix, group, rows, [&](std::int64_t r) { y[r - rows.begin] += rest; });
}

// y[row - begin] += the row of a group.
template <class T>
void add_group(const CompressedArray& matrix, const ColumnGroup& group, const T* slots, Range rows, Strided<T> y) {
  const T* of_tuples = slots + group.first_tuple;
  if (group.has_lists()) {
    if (group.rest_is_zero && of_tuples[0] != T{0}) add_rest(matrix, group, of_tuples[0], rows, y);
    each_listed_run(matrix, group, rows.begin, rows.end, [&](std::int64_t t, std::int64_t from, std::int64_t to) {
      for (std::int64_t r = from; r < to; ++r) y[r - rows.begin] += of_tuples[t];
    });
    return;
  }
  if (group.format == GroupFormat::codes) {
    return with_codes(matrix, group, [&](const auto* codes) {
      for (std::int64_t r = rows.begin; r < rows.end; ++r) y[r - rows.begin] += of_tuples[codes[r]];
    });
  }
  const T* x = slots + std::ssize(matrix.counts) + group.first_column;
  const T* values = plain_rows<T>(matrix, group) + rows.begin * group.width;
  for (std::int64_t i = 0; i < rows.size(); ++i, values += group.width) {
    T sum{0};
    for (std::int64_t k = 0; k < group.width; ++k) sum += values[k] * x[k];
    y[i] += sum;
  }
}

// `finite`: u is throughout; zeros, which lists leave out, then give nothing.
template <class T>
void spread_group(const CompressedArray& matrix, const ColumnGroup& group, Range rows, Strided<const T> u, bool finite,
                  T* slots) {
  T* of_tuples = slots + group.first_tuple;
  if (group.has_lists()) {
    each_listed_run(matrix, group, rows.begin, rows.end, [&](std::int64_t t, std::int64_t from, std::int64_t to) {
      T sum{0};
      for (std::int64_t r = from; r < to; ++r) sum += u[r - rows.begin];
      of_tuples[t] += sum;
    });
    if (finite || !group.rest_is_zero) return;
    return each_unlisted(matrix, group, rows, [&](std::int64_t r) { of_tuples[0] += u[r - rows.begin]; });
  }
  if (group.format == GroupFormat::codes) {
    return with_codes(matrix, group, [&](const auto* codes) {
      for (std::int64_t r = rows.begin; r < rows.end; ++r) of_tuples[codes[r]] += u[r - rows.begin];
    });
  }
  T* of_columns = slots + std::ssize(matrix.counts) + group.first_column;
  const T* values = plain_rows<T>(matrix, group) + rows.begin * group.width;
  for (std::int64_t i = 0; i < rows.size(); ++i, values += group.width) {
    const T x = u[i];
    for (std::int64_t k = 0; k < group.width; ++k) of_columns[k] += values[k] * x;
  }
}

// A product with zero is zero, or is not a number.
template <class T>
bool is_finite(Strided<const T> u, std::int64_t count) {
  T zeros{0};
  for (std::int64_t i = 0; i < count; ++i) zeros += u[i] * T{0};
  return zeros == T{0};
}

}  // namespace

template <class T>
void meet_tuples(const CompressedArray& matrix, Strided<const T> x, T* slots) {
  for (const ColumnGroup& group : matrix.groups) {
    const std::int32_t* columns = matrix.columns.data() + group.first_column;
    const T* tuple = tuples_of<T>(matrix, group);
    for (std::int64_t t = 0; t < group.tuples; ++t, tuple += group.width) {
      T sum{0};
      for (std::int64_t k = 0; k < group.width; ++k) sum += tuple[k] * x[columns[k]];
      slots[group.first_tuple + t] = sum;
    }
  }
  T* in_order = slots + std::ssize(matrix.counts);
  for (const std::int32_t column : matrix.columns) *in_order++ = x[column];
}

template <class T>
void add_up_rows(const CompressedArray& matrix, const T* slots, Range rows, Strided<T> y) {
  for (std::int64_t i = 0; i < rows.size(); ++i) y[i] = T{0};
  for (std::int64_t r = rows.begin; r < rows.end; r += compressed_rows_at_once) {
    const Range some{r, std::min(r + compressed_rows_at_once, rows.end)};
    const Strided<T> to{y.first + (r - rows.begin) * y.stride, y.stride};
    for (const ColumnGroup& group : matrix.groups) add_group(matrix, group, slots, some, to);
  }
}

template <class T>
void spread_rows(const CompressedArray& matrix, Range rows, Strided<const T> u, T* slots) {
  for (std::int64_t r = rows.begin; r < rows.end; r += compressed_rows_at_once) {
    const Range some{r, std::min(r + compressed_rows_at_once, rows.end)};
    const Strided<const T> from{u.first + (r - rows.begin) * u.stride, u.stride};
    const bool finite = is_finite(from, some.size());
    for (const ColumnGroup& group : matrix.groups) spread_group(matrix, group, some, from, finite, slots);
  }
}

template <class T>
void columns_of_slots(const CompressedArray& matrix, const T* slots, Strided<T> y) {
  for (const ColumnGroup& group : matrix.groups) {
    const std::int32_t* columns = matrix.columns.data() + group.first_column;
    const T* tuples = tuples_of<T>(matrix, group);
    const T* in_order = slots + std::ssize(matrix.counts) + group.first_column;
    for (std::int64_t k = 0; k < group.width; ++k) {
      T sum = group.format == GroupFormat::plain ? in_order[k] : T{0};
      for (std::int64_t t = 0; t < group.tuples; ++t) sum += tuples[t * group.width + k] * slots[group.first_tuple + t];
      y[columns[k]] = sum;
    }
  }
}

template void meet_tuples(const CompressedArray&, Strided<const double>, double*);
template void meet_tuples(const CompressedArray&, Strided<const float>, float*);
template void add_up_rows(const CompressedArray&, const double*, Range, Strided<double>);
template void add_up_rows(const CompressedArray&, const float*, Range, Strided<float>);
template void spread_rows(const CompressedArray&, Range, Strided<const double>, double*);
template void spread_rows(const CompressedArray&, Range, Strided<const float>, float*);
template void columns_of_slots(const CompressedArray&, const double*, Strided<double>);
template void columns_of_slots(const CompressedArray&, const float*, Strided<float>);

}  // namespace kasen
