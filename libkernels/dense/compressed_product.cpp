#include "libkernels/dense/compressed_product.h"

#include <algorithm>
#include <array>
#include <span>

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

// Groups of codes that are looked up side by side. Each row's sum is read and written once for all of them, and no
// addition waits for that of another group.
constexpr size_t codes_at_once = 4;

// The number of groups from `first` on, codes of one width, that are taken together: codes_at_once, or 1.
size_t together(std::span<const ColumnGroup> groups, size_t first) {
  if (first + codes_at_once > groups.size() || groups[first].format != GroupFormat::codes) return 1;
  for (size_t k = 1; k < codes_at_once; ++k) {
    if (groups[first + k].code_bytes != groups[first].code_bytes) return 1;
  }
  return codes_at_once;
}

template <class Code>
std::array<const Code*, codes_at_once> codes_of(const CompressedArray& matrix, const ColumnGroup* groups) {
  std::array<const Code*, codes_at_once> codes{};
  for (size_t k = 0; k < codes_at_once; ++k) {
    codes[k] = reinterpret_cast<const Code*>(matrix.data.data() + groups[k].first_byte);
  }
  return codes;
}

template <class T, class Code>
void add_codes(const CompressedArray& matrix, const ColumnGroup* groups, const T* slots, Range rows, Strided<T> y) {
  const auto codes = codes_of<Code>(matrix, groups);
  const T *a = slots + groups[0].first_tuple, *b = slots + groups[1].first_tuple, *c = slots + groups[2].first_tuple,
          *d = slots + groups[3].first_tuple;
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    y[r - rows.begin] += (a[codes[0][r]] + b[codes[1][r]]) + (c[codes[2][r]] + d[codes[3][r]]);
  }
}

template <class T, class Code>
void spread_codes(const CompressedArray& matrix, const ColumnGroup* groups, Range rows, Strided<const T> u, T* slots) {
  const auto codes = codes_of<Code>(matrix, groups);
  T *a = slots + groups[0].first_tuple, *b = slots + groups[1].first_tuple, *c = slots + groups[2].first_tuple,
    *d = slots + groups[3].first_tuple;
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const T x = u[r - rows.begin];
    a[codes[0][r]] += x;
    b[codes[1][r]] += x;
    c[codes[2][r]] += x;
    d[codes[3][r]] += x;
  }
}

// Calls one(group), or several(the first of codes_at_once groups, their codes' type), for all groups.
template <class One, class Several>
void each_group(const CompressedArray& matrix, const One& one, const Several& several) {
  for (size_t g = 0; g < matrix.groups.size();) {
    const ColumnGroup* groups = &matrix.groups[g];
    const size_t taken = together(matrix.groups, g);
    if (taken == 1) {
      one(*groups);
    } else {
      with_codes(matrix, *groups, [&](const auto* codes) { several(groups, *codes); });
    }
    g += taken;
  }
}

// Calls unlisted(row) for the rows that no list of the group names.
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

// Adds zeros times a vector with a number that is not finite.
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

// `finite`: all of u is finite; zeros, which lists leave out, then add nothing.
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
    each_group(
        matrix, [&](const ColumnGroup& group) { add_group(matrix, group, slots, some, to); },
        [&](const ColumnGroup* groups, auto code) { add_codes<T, decltype(code)>(matrix, groups, slots, some, to); });
  }
}

template <class T>
void spread_rows(const CompressedArray& matrix, Range rows, Strided<const T> u, T* slots) {
  for (std::int64_t r = rows.begin; r < rows.end; r += compressed_rows_at_once) {
    const Range some{r, std::min(r + compressed_rows_at_once, rows.end)};
    const Strided<const T> from{u.first + (r - rows.begin) * u.stride, u.stride};
    const bool finite = is_finite(from, some.size());
    each_group(
        matrix, [&](const ColumnGroup& group) { spread_group(matrix, group, some, from, finite, slots); },
        [&](const ColumnGroup* groups, auto code) {
          spread_codes<T, decltype(code)>(matrix, groups, some, from, slots);
        });
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
