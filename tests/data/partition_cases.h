// Inputs for the tests of partitioner and bundle, and the plain counting program that both are held against.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcomm/data/cut/partition.h"

namespace kasen::cases {

using Edge = std::pair<std::int64_t, std::int64_t>;

// Distinct random edges, skewed to low ids, in random order; every id 0..n-1 occurs if `cover`.
inline std::vector<Edge> random_edges(std::int64_t rows, std::int64_t cols, std::size_t count, unsigned seed,
                                      bool cover = true) {
  std::mt19937_64 random(seed);
  std::set<Edge> edges;
  if (cover) {
    for (std::int64_t i = 0; i < rows; ++i)
      edges.emplace(i, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)));
    for (std::int64_t j = 0; j < cols; ++j)
      edges.emplace(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)), j);
  }
  for (std::size_t k = 0; k < count; ++k) {
    const auto r = random() % static_cast<std::uint64_t>(rows), c = random() % static_cast<std::uint64_t>(cols);
    edges.emplace(static_cast<std::int64_t>(r),
                  static_cast<std::int64_t>(k % 3 == 0 ? c % 5 % static_cast<std::uint64_t>(cols) : c));
  }
  std::vector<Edge> list(edges.begin(), edges.end());
  for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[random() % k]);
  return list;
}

inline InputData pattern(std::string name, std::string row_dim, std::string col_dim, const std::vector<Edge>& edges) {
  InputData input{.name = std::move(name),
                  .dims = {std::move(row_dim), std::move(col_dim)},
                  .element = ElementType::of(Scalar::null),
                  .sparse = true};
  std::vector<std::int64_t> rows, cols;
  for (const auto& [i, j] : edges) {
    rows.push_back(i);
    cols.push_back(j);
    input.matrix.row_count = std::max(input.matrix.row_count, i + 1);
    input.matrix.col_count = std::max(input.matrix.col_count, j + 1);
  }
  input.matrix.entries = EntryList(rows, cols, Array(input.element, static_cast<std::int64_t>(edges.size())));
  return input;
}

// The same with values.
inline void set_values(InputData& input, const Array& values) {
  input.element = values.element;
  input.matrix.entries = EntryList(input.matrix.entries.rows(), input.matrix.entries.cols(), values);
}

// Values that name their entry: 1000 i + j.
inline InputData valued(std::string name, std::string row_dim, std::string col_dim, const std::vector<Edge>& edges) {
  InputData input = pattern(std::move(name), std::move(row_dim), std::move(col_dim), edges);
  Array values(ElementType::of(Scalar::f64), static_cast<std::int64_t>(edges.size()));
  for (std::size_t k = 0; k < edges.size(); ++k)
    values.as<double>()[k] = static_cast<double>(1000 * edges[k].first + edges[k].second);
  set_values(input, values);
  return input;
}

// A table of f64 with the numbers 0.5, 1.5, 2.5, ...
inline InputData table(std::string name, std::vector<std::string> dims, ElementType element, std::int64_t rows,
                       std::int64_t cols) {
  InputData input{.name = std::move(name), .dims = std::move(dims), .element = std::move(element)};
  input.table.rows = rows;
  input.table.cols = cols;
  input.table.values = Array(ElementType::of(Scalar::f64), rows * cols);
  for (std::int64_t k = 0; k < rows * cols; ++k) input.table.values.as<double>()[k] = static_cast<double>(k) + 0.5;
  return input;
}

// The plain counting program: sets, one entry at a time, from the words of SYSTEMS section 6 alone.
struct Count {
  std::vector<std::set<std::int64_t>> rows, cols;  // slaves by worker
  std::vector<std::int64_t> entries;

  [[nodiscard]] static std::int64_t total(const std::vector<std::set<std::int64_t>>& sets) {
    std::int64_t sum = 0;
    for (const auto& set : sets) sum += static_cast<std::int64_t>(set.size());
    return sum;
  }
  // Slaves of a square matrix's dimension: by rows or by columns.
  [[nodiscard]] std::int64_t united() const {
    std::int64_t sum = 0;
    for (std::size_t w = 0; w < rows.size(); ++w) {
      std::set<std::int64_t> both = rows[w];
      both.insert(cols[w].begin(), cols[w].end());
      sum += static_cast<std::int64_t>(both.size());
    }
    return sum;
  }
};

std::int64_t plain_owner(std::int64_t index, std::int64_t size, std::int64_t workers, bool hash);
Count plain_count(const std::vector<Edge>& edges, std::int64_t row_size, std::int64_t col_size,
                  const PartitionOptions& options);
// The same with given owners: for a method whose owners follow no formula.
using Owners = std::vector<std::int64_t>;  // by index
Count plain_count(const std::vector<Edge>& edges, const Owners& row_owners, const Owners& col_owners,
                  const PartitionOptions& options);
// As the parts' masters say.
Owners owners_in(const std::vector<Part>& parts, const std::string& dim);

}  // namespace kasen::cases
