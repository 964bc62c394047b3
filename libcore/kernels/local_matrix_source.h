// A part's matrix as its pull form is made of it: where its rows and columns are in the product's spaces. Internal to
// the two ways of making it.
#pragma once

#include <cstdint>

#include "libcore/kernels/numbering.h"
#include "libcore/system/memory.h"

namespace kasen {

inline constexpr std::int32_t absent_place = -1;

struct MatrixSource {
  const PartMatrix& matrix;
  LargeVector<std::int32_t> rows, cols;  // local indices in the spaces; absent_place: the space lacks it

  // `transposed` and the spaces are those of make_local_matrix.
  MatrixSource(const PartMatrix& matrix, bool transposed, const LocalSpace& operand, const LocalSpace& result);

  // The place of a local column, and of a row. UserError(bad_input) if nonzeros have none.
  [[nodiscard]] std::int32_t place_of_column(std::int32_t column) const {
    const auto c = static_cast<std::size_t>(column);
    if (c >= cols.size() || cols[c] == absent_place) outside();
    return cols[c];
  }
  [[nodiscard]] std::int32_t col(std::int64_t entry) const {
    return place_of_column(matrix.columns[static_cast<std::size_t>(entry)]);
  }
  [[nodiscard]] std::int32_t row(std::size_t r) const {
    if (rows[r] == absent_place && matrix.row_pointers[r] < matrix.row_pointers[r + 1]) outside();
    return rows[r];
  }
  [[noreturn]] static void outside();
};

// Sizes alone.
[[nodiscard]] LocalMatrix sized_local_matrix(const PartMatrix& matrix, const LocalSpace& operand,
                                             const LocalSpace& result);

}  // namespace kasen
