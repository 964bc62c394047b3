// Views: operators whose result has the elements of one array at other places. `range` cuts a local dimension down to
// some of its indices, which are another dimension's then; `transpose` exchanges the two dimensions of a matrix. In a
// fused region a view is read where it lies and makes no array; by itself it is a copy.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libcore/module.h"

namespace kasen {

[[nodiscard]] inline bool is_view(const Op& op) { return op.code == OpCode::range || op.code == OpCode::transpose; }

// The array that a view shows.
[[nodiscard]] inline ValueId viewed(const Op& view) { return view.operands.at(0); }
// Does the operator, or some operator of the region, read the value as it is, not only as what a view shows?
[[nodiscard]] bool reads_along(const Op& op, ValueId value);
// For each dimension of the array, in order, the place among the result's dimensions that runs along it.
[[nodiscard]] std::vector<size_t> view_places(const Module& module, const Op& view);
// Where the dimension that a `range` cuts down stands among the array's; -1 of a transposition.
[[nodiscard]] std::ptrdiff_t ranged_place(const Module& module, const Op& view);

// A range's operand 1, a single i64, says where it begins.
[[nodiscard]] inline ValueId range_begin(const Op& range) { return range.operands.at(1); }
// `size` indices of a dimension that has `whole` of them; -1: not known yet.
struct RangeSizes {
  std::string dim;
  std::int64_t whole = -1, size = -1;
};
[[nodiscard]] RangeSizes range_sizes(const Module& module, const Op& range);
// Why those from `begin` on do not lie inside ("" if they do, as far as is known).
[[nodiscard]] std::string range_fault(const RangeSizes& sizes, std::int64_t begin);
// Throws UserError(bad_input) with that.
void require_inside(const RangeSizes& sizes, std::int64_t begin, const Location& where);

}  // namespace kasen
