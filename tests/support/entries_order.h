// Results at stored entries in an order that no number of workers changes.
#pragma once

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/data.h"

namespace kasen::testing {

inline std::int64_t global_index(const PartDim& dim, const AxisSlaves& slaves, std::int64_t local) {
  const std::int64_t masters = dim.masters.size();
  return local < masters ? dim.masters[local] : slaves.slaves[static_cast<size_t>(local - masters)];
}

// Row and column of each entry of a matrix, worker by worker: the order of a dimension of nonzeros.
inline std::vector<std::pair<std::int64_t, std::int64_t>> places_of(const std::string& name,
                                                                    const std::vector<Part>& parts) {
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const Part& part : parts) {
    const PartMatrix& matrix = part.matrices.at(name);
    const PartDim &rows = part.dims.at(matrix.row_dim), &cols = part.dims.at(matrix.col_dim);
    for (std::int64_t r = 0; r + 1 < std::ssize(matrix.row_pointers); ++r) {
      const auto row = static_cast<size_t>(r);
      for (std::int64_t e = matrix.row_pointers[row]; e < matrix.row_pointers[row + 1]; ++e) {
        const std::int64_t col = matrix.columns[static_cast<size_t>(e)];
        places.emplace_back(global_index(rows, matrix.row_slaves, r), global_index(cols, matrix.col_slaves, col));
      }
    }
  }
  return places;
}

// whole_words, of a sparse value by rows, then columns.
inline std::vector<Word> ordered_words(const Module& module, const Output& output, const std::vector<Part>& parts) {
  const std::vector<Word> words = whole_words(module, output, parts);
  if (output.type.dims.empty() || !module.dim(output.type.dims[0]).is_entries()) return words;
  const auto places = places_of(module.dim(output.type.dims[0]).entries_of, parts);
  std::vector<size_t> order(places.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return places[a] < places[b]; });
  const auto planes = static_cast<size_t>(output.type.element.planes());
  std::vector<Word> made;
  for (const size_t from : order) {
    for (size_t p = 0; p < planes; ++p) made.push_back(words.at(from * planes + p));
  }
  return made;
}

}  // namespace kasen::testing
