// Views: operators whose result has the elements of one array at other places. `range` cuts a local dimension down to
// some of its indices, which are another dimension's then; `at` takes one index of it, and the dimension is gone;
// `transpose` exchanges the two dimensions of a matrix. In a fused region a view is read where it lies and makes no
// array; by itself it is a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// Some indices of a local dimension (`over`), or one, from where operand 1 says.
// Takes one index of a dimension that the result lacks, not a range of them.
[[nodiscard]] inline bool takes_one_index(const Op& op) { return op.code == OpCode::at; }
[[nodiscard]] inline bool is_slice(const Op& op) { return op.code == OpCode::range || takes_one_index(op); }
[[nodiscard]] inline bool is_view(const Op& op) { return is_slice(op) || op.code == OpCode::transpose; }

// The array that a view shows.
[[nodiscard]] inline ValueId viewed(const Op& view) { return view.operands.at(0); }
// Does the operator, or some operator of the region, read the value as it is, not only as what a view shows?
[[nodiscard]] bool reads_along(const Op& op, ValueId value);
// For each dimension of the array, in order, the place among the result's dimensions that runs along it; no_place of
// the one that `at` drops.
inline constexpr size_t no_place = SIZE_MAX;
[[nodiscard]] std::vector<size_t> view_places(const Module& module, const Op& view);
// Where the dimension of which a slice shows some stands among the array's; -1 of a transposition.
[[nodiscard]] std::ptrdiff_t ranged_place(const Module& module, const Op& view);

// A slice's operand 1, a single i64, says where it begins.
[[nodiscard]] inline ValueId range_begin(const Op& slice) { return slice.operands.at(1); }
// `size` indices of a dimension that has `whole` of them; -1: not known yet.
struct RangeSizes {
  std::string dim;
  std::int64_t whole = -1, size = -1;
  bool single = false;  // one index, of `at`
};
[[nodiscard]] RangeSizes range_sizes(const Module& module, const Op& slice);
// Why those from `begin` on do not lie inside ("" if they do, as far as is known).
[[nodiscard]] std::string range_fault(const RangeSizes& sizes, std::int64_t begin);
// What is wrong then, and what to do.
[[nodiscard]] std::string outside_text(const RangeSizes& sizes);
[[nodiscard]] std::string outside_remedy(const RangeSizes& sizes);
// Throws UserError(bad_input) with these.
void require_inside(const RangeSizes& sizes, std::int64_t begin, const Location& where);

}  // namespace kasen
