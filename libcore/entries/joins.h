/// \file
/// Operators on the nonzeros of several patterns (group `join`, docs/ir.md).
///
/// `align %P, %X, %W` has for each nonzero of the matrix P the element of the sparse value W at X's nonzero in the same
/// row and column, or 0 where X has none. Without W it has X's own values, which are 1.0 for a null matrix. Matrices
/// over the same two dimensions are cut alike, so a worker finds all that it needs in its own parts.
///
/// `meet %p, %a, %u, %b, %v` is a product of two sparse matrices at the places of a third pattern. p, a and b hold the
/// row and the column of each nonzero, of the pattern and of both factors; u and v hold the factors' values. Where p
/// has (i, j), the result is the sum of u[i, k] * v[k, j] over the k at which both factors have an entry, in ascending
/// order of k; for bool the `or` of `and`. All pairs are never made. Each worker holds both factors.
/// With one factor, `meet %p, %a, %u`, the result is u[i, j], or 0 where the factor has no entry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

inline constexpr std::int32_t absent_entry = -1;

/// For each nonzero of `to` the number of that of `from` at its place, or absent_entry; both are matrices of the part.
/// UserError(limit) for more nonzeros than 31 bits count.
[[nodiscard]] std::vector<std::int32_t> aligned_entries(const Part& part, const PartMatrix& to, const PartMatrix& from);

/// The rows and columns of nonzeros.
struct Places {
  const std::int64_t* rows = nullptr;
  const std::int64_t* cols = nullptr;
  std::int64_t count = 0;
};

/// UserError(bad_input) for places outside of so many rows and columns.
void require_places(const Places& places, std::int64_t rows, std::int64_t cols);

/// A factor of a product: the nonzeros by row of the left one, by column of the right one, and within these by the
/// index along which the product sums.
struct Factor {
  std::vector<std::int64_t> begins;   ///< by line, and one more
  std::vector<std::int32_t> along;    ///< of each nonzero
  std::vector<std::int64_t> entries;  ///< its number among the places

  [[nodiscard]] std::int64_t bytes() const;
};
/// Of places that require_places has passed. `turned`: the lines are columns.
[[nodiscard]] Factor make_factor(const Places& places, std::int64_t lines, bool turned);

/// The values of places in the order of the factor.
[[nodiscard]] std::vector<std::byte> ordered_values(const Factor& factor, const std::byte* values, Scalar scalar);

struct Meeting {
  Places places;
  const Factor* left = nullptr;
  const Factor* right = nullptr;           ///< null: there is one factor
  const std::byte* left_values = nullptr;  ///< ordered_values, as the next ones
  const std::byte* right_values = nullptr;
  std::byte* result = nullptr;
  Scalar scalar = Scalar::f64;
  std::int64_t length = 0;  ///< of the dimension that is summed, or of the columns of the one factor
};
/// Some of its places. Calls for others may run beside it: each result is made by itself.
void meet_some(const Meeting& meeting, std::int64_t begin, std::int64_t end);

}  // namespace kasen
