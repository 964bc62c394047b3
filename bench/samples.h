// Sparse samples for regression: 23 entries a row, at columns and with values made by counting (numbers.h).
#pragma once

#include <algorithm>

#include "bench/numbers.h"
#include "bench/parts.h"

namespace kasen::bench {

constexpr std::int64_t entries_a_row = 23;

// Low columns are met more often than high ones, as words and dictionaries have it.
[[nodiscard]] inline std::int64_t sample_column(std::int64_t row, std::int64_t entry, std::int64_t cols) {
  const double u = uniform(21, static_cast<std::uint64_t>(row * entries_a_row + entry));
  return static_cast<std::int64_t>(u * u * static_cast<double>(cols));
}
[[nodiscard]] inline double sample_value(std::int64_t row, std::int64_t entry) {
  return uniform(22, static_cast<std::uint64_t>(row * entries_a_row + entry)) - 0.5;
}
[[nodiscard]] inline double sample_label(std::int64_t row) {
  return uniform(23, static_cast<std::uint64_t>(row)) < 0.5 ? -1 : 1;
}

// Matrix X over H and W, columns of a row distinct and ascending, and vector `label` over H.
[[nodiscard]] inline SparseInput make_samples(std::int64_t rows, std::int64_t cols) {
  SparseInput x{"X", "H", "W", rows, cols, {}, {}, {}};
  std::vector<std::int64_t> columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    columns.clear();
    for (std::int64_t e = 0; e < entries_a_row; ++e) columns.push_back(sample_column(i, e, cols));
    std::sort(columns.begin(), columns.end());
    for (size_t e = 0; e < columns.size(); ++e) {
      if (e > 0 && columns[e] <= columns[e - 1]) columns[e] = columns[e - 1] + 1;  // `cols` leaves room at the end
      x.rows.push_back(i);
      x.cols.push_back(std::min(columns[e], cols - static_cast<std::int64_t>(columns.size() - e)));
      columns[e] = x.cols.back();
      x.values.push_back(sample_value(i, static_cast<std::int64_t>(e)));
    }
  }
  return x;
}

// Labels -1 and 1, which depend on the features and on chance: a fit to chance alone says little.
[[nodiscard]] inline VectorInput predictable_labels(const std::string& name, const SparseInput& x) {
  VectorInput y{name, "H", std::vector<double>(static_cast<std::size_t>(x.row_count))};
  for (std::size_t e = 0; e < x.rows.size(); ++e) {
    const double weight = uniform(25, static_cast<std::uint64_t>(x.cols[e])) - 0.5;
    y.values[static_cast<std::size_t>(x.rows[e])] += x.values[e] * weight;
  }
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] = y.values[i] > uniform(23, i) - 0.5 ? 1 : -1;
  return y;
}

[[nodiscard]] inline VectorInput make_labels(const std::string& name, std::int64_t rows) {
  VectorInput y{name, "H", {}};
  for (std::int64_t i = 0; i < rows; ++i) y.values.push_back(sample_label(i));
  return y;
}

}  // namespace kasen::bench
