// Repeated entries: found by grouping the entries by row, each row sorted by column; entries that are in strictly
// ascending order, as most files are, cost one look.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "libcomm/data/formats.h"
#include "libcomm/data/parallel.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

constexpr std::int64_t block = std::int64_t{1} << 18;

bool strictly_ascending(const RawMatrix& m) {
  const auto n = static_cast<std::int64_t>(m.rows.size());
  std::atomic<bool> ascending{true};
  parallel_for((n + block - 1) / block, [&](std::int64_t b, int) {
    const auto end = static_cast<size_t>(std::min(n, (b + 1) * block));
    for (auto i = static_cast<size_t>(std::max<std::int64_t>(b * block, 1)); i < end && ascending; ++i) {
      const bool after = m.rows[i - 1] < m.rows[i] || (m.rows[i - 1] == m.rows[i] && m.cols[i - 1] < m.cols[i]);
      if (!after) ascending = false;
    }
  });
  return ascending;
}

struct Place {
  std::int64_t col, index;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// The entries by row, in file order within a row; `starts` has where each row that occurs begins, and the end.
struct Rows {
  std::vector<Place> places;
  std::vector<std::int64_t> starts;
};

Rows group_by_counting(const RawMatrix& m, std::int64_t row_count) {
  Rows rows;
  rows.starts.assign(static_cast<size_t>(row_count) + 2, 0);
  for (const std::int64_t r : m.rows) ++rows.starts[static_cast<size_t>(r) + 2];
  for (size_t r = 2; r < rows.starts.size(); ++r) rows.starts[r] += rows.starts[r - 1];
  rows.places.resize(m.rows.size());
  for (size_t i = 0; i < m.rows.size(); ++i) {
    const auto to = static_cast<size_t>(rows.starts[static_cast<size_t>(m.rows[i]) + 1]++);
    rows.places[to] = {m.cols[i], static_cast<std::int64_t>(i)};
  }
  rows.starts.pop_back();
  return rows;
}

// For ids so far apart that they cannot be counted.
Rows group_by_sorting(const RawMatrix& m) {
  std::vector<Place> order(m.rows.size());  // here `col` holds the row
  for (size_t i = 0; i < order.size(); ++i) order[i] = {m.rows[i], static_cast<std::int64_t>(i)};
  std::sort(order.begin(), order.end());
  Rows rows;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].col != m.rows[static_cast<size_t>(order[i - 1].index)]) {
      rows.starts.push_back(static_cast<std::int64_t>(i));
    }
    order[i].col = m.cols[static_cast<size_t>(order[i].index)];
  }
  rows.starts.push_back(static_cast<std::int64_t>(order.size()));
  rows.places = std::move(order);
  return rows;
}

template <class T>
T combine(T a, T b, Repeats how) {
  if (how == Repeats::first) return a;
  if (how == Repeats::last) return b;
  if (how == Repeats::sum) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>) {
      T result = 0;
      if (__builtin_add_overflow(a, b, &result)) throw_size_overflow("the sum of repeated entries");
      return result;
    } else {
      return a + b;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  return (how == Repeats::smallest) == (b < a) ? b : a;
}

template <class T>
void combine_into(std::byte* plane, std::int64_t to, std::int64_t from, Repeats how) {
  T* values = reinterpret_cast<T*>(plane);
  values[to] = combine(values[to], values[from], how);
}

void combine_values(Array& values, std::int64_t to, std::int64_t from, Repeats how) {
  for (std::int64_t p = 0; p < values.element.planes(); ++p) {
    std::byte* plane = values.plane(p);
    switch (values.element.plane_scalar(p)) {
      case Scalar::f64:
        combine_into<double>(plane, to, from, how);
        break;
      case Scalar::f32:
        combine_into<float>(plane, to, from, how);
        break;
      case Scalar::i32:
        combine_into<std::int32_t>(plane, to, from, how);
        break;
      case Scalar::boolean:
        combine_into<bool>(plane, to, from, how);
        break;
      case Scalar::i64:
      case Scalar::id:
        combine_into<std::int64_t>(plane, to, from, how);
        break;
      case Scalar::null:
        break;
    }
  }
}

// The pair of equal entries whose second stands first in the file.
struct Repeat {
  std::int64_t first = -1;
  std::int64_t second = std::numeric_limits<std::int64_t>::max();
};

[[noreturn]] void fail_repeated(const Repeat& repeat, const InputFile& file, std::int64_t from) {
  const std::string_view text = file.text();
  const std::int64_t first_at = entry_offset(text, from, repeat.first);
  const std::int64_t at = entry_offset(text, from, repeat.second);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first_at), '\n');
  file.fail_at(at, "the entry is repeated", fmt::format("line {} has the same row and column", line),
               "say how repeats combine: sum, first, last, smallest or largest");
}

void remove_marked(RawMatrix& m, const std::vector<std::uint8_t>& marked, std::int64_t kept) {
  Array values(m.values.element, m.values.element.is(Scalar::null) ? 0 : kept);
  for (std::int64_t p = 0; p < values.element.planes() && values.count > 0; ++p) {
    const auto width = static_cast<size_t>(scalar_bytes(values.element.plane_scalar(p)));
    const std::byte* from = m.values.plane(p);
    std::byte* to = values.plane(p);
    for (size_t i = 0; i < marked.size(); ++i) {
      if (marked[i] != 0) continue;
      std::copy_n(from + i * width, width, to);
      to += width;
    }
  }
  m.values = std::move(values);
  size_t to = 0;
  for (size_t i = 0; i < marked.size(); ++i) {
    if (marked[i] != 0) continue;
    m.rows[to] = m.rows[i];
    m.cols[to++] = m.cols[i];
  }
  m.rows.resize(to);
  m.cols.resize(to);
}

}  // namespace

void combine_repeats(RawMatrix& matrix, const ReadOptions& options, const InputFile& file, std::int64_t from) {
  if (strictly_ascending(matrix)) return;
  const auto n = static_cast<std::int64_t>(matrix.rows.size());
  const std::int64_t largest = *std::max_element(matrix.rows.begin(), matrix.rows.end());
  Rows rows = largest < 4 * n + 1024 ? group_by_counting(matrix, largest + 1) : group_by_sorting(matrix);

  const bool refuse = options.repeats == Repeats::refuse && !options.element.is(Scalar::null);
  std::vector<std::uint8_t> marked(static_cast<size_t>(n), 0);
  std::mutex mutex;
  Repeat earliest;
  std::atomic<std::int64_t> removed{0};
  const auto row_total = static_cast<std::int64_t>(rows.starts.size()) - 1;
  constexpr std::int64_t rows_at_once = 4096;
  parallel_for((row_total + rows_at_once - 1) / rows_at_once, [&](std::int64_t b, int) {
    for (std::int64_t r = b * rows_at_once; r < std::min(row_total, (b + 1) * rows_at_once); ++r) {
      Place* const begin = rows.places.data() + rows.starts[static_cast<size_t>(r)];
      Place* const end = rows.places.data() + rows.starts[static_cast<size_t>(r) + 1];
      if (!std::is_sorted(begin, end)) std::sort(begin, end);
      for (Place *kept = begin, *p = begin + 1; p < end; ++p) {
        if (p->col != kept->col) {
          kept = p;
          continue;
        }
        marked[static_cast<size_t>(p->index)] = 1;
        ++removed;
        if (refuse) {
          const std::lock_guard lock(mutex);
          if (p->index < earliest.second) earliest = {kept->index, p->index};
        } else {
          combine_values(matrix.values, kept->index, p->index, options.repeats);
        }
      }
    }
  });
  if (removed == 0) return;
  if (refuse) fail_repeated(earliest, file, from);
  remove_marked(matrix, marked, n - removed);
}

}  // namespace kasen
