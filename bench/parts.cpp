#include "bench/parts.h"

#include <algorithm>

#include "bench/numbers.h"
#include "libcomm/data/cut/partition.h"
#include "libcore/entries/entry_dims.h"

namespace kasen::bench {
namespace {

Array array_of(const std::vector<double>& values) {
  Array array(ElementType::of(Scalar::f64), static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), array.as<double>());
  return array;
}

}  // namespace

Parts partitioned(SparseInput matrix, std::vector<VectorInput> vectors, int workers,
                  const std::vector<LocalDim>& locals) {
  std::vector<DimData> dims{{matrix.row_dim, false, matrix.row_count, {}}};
  if (matrix.col_dim != matrix.row_dim) dims.push_back({matrix.col_dim, false, matrix.col_count, {}});
  for (const LocalDim& local : locals) dims.push_back({local.name, true, local.size, {}});
  std::vector<InputData> inputs(1);
  InputData& m = inputs[0];
  m.name = matrix.name;
  m.dims = {matrix.row_dim, matrix.col_dim};
  m.element = ElementType::of(matrix.values.empty() ? Scalar::null : Scalar::f64);
  m.sparse = true;
  m.matrix.row_count = matrix.row_count;
  m.matrix.col_count = matrix.col_count;
  const Array values = matrix.values.empty() ? Array(m.element, 0) : array_of(matrix.values);
  m.matrix.entries = EntryList(matrix.rows, matrix.cols, values);
  for (const VectorInput& vector : vectors) {
    InputData& input = inputs.emplace_back();
    input.name = vector.name;
    input.dims = {vector.dim};
    input.element = ElementType::of(Scalar::f64);
    input.table = {static_cast<std::int64_t>(vector.values.size()), 1, array_of(vector.values), {}, {}};
  }
  const PartitionMethod method = workers == 1 ? PartitionMethod::block : PartitionMethod::hybrid_cut;
  auto parts = std::make_shared<std::vector<Part>>(
      partition(dims, std::move(inputs), PartitionOptions{.workers = workers, .method = method}));
  Module entries;  // for programs that read the values as an array, under the name that plan gives its dimension
  entries.dims.push_back({.name = matrix.name + "_entries", .entries_of = matrix.name});
  number_entries(entries, *parts, entry_counts(*parts));
  return parts;
}

double dense_element(std::int64_t row, std::int64_t col, std::int64_t cols) {
  return uniform(7, static_cast<std::uint64_t>(row * cols + col)) - 0.5;
}

PartDim whole_dim(std::int64_t size, bool local) {
  PartDim dim{.size = size, .local = local};
  dim.masters = IndexList::run(0, size);
  return dim;
}

Parts dense_matrix(const std::string& name, std::int64_t rows, std::int64_t cols, const std::vector<LocalDim>& locals) {
  Part part;
  for (const LocalDim& local : locals) part.dims[local.name] = whole_dim(local.size, true);
  part.dims["H"] = whole_dim(rows);
  part.dims["W"] = whole_dim(cols, true);
  PartArray& x = part.arrays[name];
  x = {{"H", "W"}, Array(ElementType::of(Scalar::f64), rows * cols)};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) x.data.as<double>()[i * cols + j] = dense_element(i, j, cols);
  }
  auto parts = std::make_shared<std::vector<Part>>();
  parts->push_back(std::move(part));
  return parts;
}

}  // namespace kasen::bench
