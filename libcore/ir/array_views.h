// Views: operators whose result has elements of one array at other positions. `range` cuts a local dimension down to
// some of its indices, which then belong to another dimension. `at` takes one index of a local dimension and drops the
// dimension. `transpose` exchanges the two dimensions of a matrix. In a fused region a view is read in place and makes
// no array. By itself it is a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// A slice takes some indices of a local dimension (`over`), or one, from operand 1 on.
[[nodiscard]] inline bool is_slice(const Op& op) {
  const TextForm form = row(op.code).text;
  return row(op.code).group == OpGroup::vector && (form == TextForm::dim_of || form == TextForm::along);
}
// Returns true for a slice of one index: no other dimension (`dim`) stands in the result for the one that it lacks.
[[nodiscard]] inline bool takes_one_index(const Op& op) { return is_slice(op) && op.dim == no_dim; }
[[nodiscard]] inline bool is_view(const Op& op) { return is_slice(op) || op.code == OpCode::transpose; }

// The array that a view shows.
[[nodiscard]] inline ValueId viewed(const Op& view) { return view.operands.at(0); }
// True if the operator, or some operator of the region, reads the value itself and not only through a view.
[[nodiscard]] bool reads_along(const Op& op, ValueId value);
// For each dimension of the array, in order, its position among the result's dimensions; no_place for the one that `at`
// drops.
inline constexpr size_t no_place = SIZE_MAX;
[[nodiscard]] std::vector<size_t> view_places(const Module& module, const Op& view);
// The position of a slice's dimension among the array's dimensions; -1 for a transposition.
[[nodiscard]] std::ptrdiff_t ranged_place(const Module& module, const Op& view);

// The first index of a slice, or of operator batch: its operand 1, a single i64.
[[nodiscard]] inline ValueId range_begin(const Op& slice) { return slice.operands.at(1); }
// `size` indices of a dimension that has `whole` of them; -1: not known yet.
struct RangeSizes {
  std::string dim;
  std::int64_t whole = -1, size = -1;
  bool single = false;  // one index, of `at`
};
[[nodiscard]] RangeSizes range_sizes(const Module& module, const Op& slice);
// The reason why the indices from `begin` on do not lie inside; "" if they do, as far as is known.
[[nodiscard]] std::string range_fault(const RangeSizes& sizes, std::int64_t begin);
// The message of that error, and its remedy.
[[nodiscard]] std::string outside_text(const RangeSizes& sizes);
[[nodiscard]] std::string outside_remedy(const RangeSizes& sizes);
// Throws UserError(bad_input) with these texts if the indices do not lie inside.
void require_inside(const RangeSizes& sizes, std::int64_t begin, const Location& where);

}  // namespace kasen
