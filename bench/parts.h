// Inputs of a program on one worker or several, as the partitioners make them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/data/data.h"

namespace kasen::bench {

using Parts = std::shared_ptr<const std::vector<Part>>;

// A sparse matrix over two dimensions: entry k at (rows[k], cols[k]); no values: a pattern.
struct SparseInput {
  std::string name, row_dim, col_dim;
  std::int64_t row_count = 0, col_count = 0;
  std::vector<std::int64_t> rows, cols;
  std::vector<double> values;
};

struct VectorInput {
  std::string name, dim;
  std::vector<double> values;
};

// A dimension that every worker holds whole and no input is over.
struct LocalDim {
  std::string name;
  std::int64_t size = 0;
};

// One worker has runs of indices, several have hashed ones under hybrid-cut.
[[nodiscard]] Parts partitioned(SparseInput matrix, std::vector<VectorInput> vectors, int workers,
                                const std::vector<LocalDim>& locals = {});

// A dimension all of whose indices are masters of the one part.
[[nodiscard]] PartDim whole_dim(std::int64_t size, bool local = false);

// A dense f64 matrix `name` over H and the local dimension W, element (h, w) by numbers.h's stream, and v over W.
[[nodiscard]] Parts dense_matrix(const std::string& name, std::int64_t rows, std::int64_t cols,
                                 const std::vector<LocalDim>& locals = {});
[[nodiscard]] double dense_element(std::int64_t row, std::int64_t col, std::int64_t cols);

}  // namespace kasen::bench
