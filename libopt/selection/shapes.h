// The shapes of a region: which operators a region of each kind can hold, whatever selector has chosen them. The
// templates of libopt/fusion say what may be computed together; a shape says what the plan can hold, by states, ghosts
// and the kernels' rules.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "libcore/analysis/boxes.h"
#include "libcore/ir/module.h"
#include "libopt/rewrite/regions.h"

namespace kasen::fusion {

// The properties on which the members of one region must agree. Two operators with equal keys run over one range of one
// space. Work on owned elements alone may stand beside work on owned elements and ghosts.
struct RegionKey {
  std::vector<DimId> dims;         // iter_on_vec: of the loop (the cut dimension and the local ones)
  std::optional<SlaveSet> slaves;  // iter_on_vec: nothing for owned ones alone; mxm of a sparse matrix: of the operand
  ValueId matrix = no_value;       // mxm
  std::optional<OpCode> direction = std::nullopt;  // mxm of a sparse matrix: mxv or mxvt
  bool hands_on = false;  // an owned-only map on a pre-reduced value, whose ghosts are handed on (rules 11 and 15)
  Box box = {};           // iter_on_vec of a module that names layouts: of the loop; all else is empty
  friend bool operator==(const RegionKey&, const RegionKey&) = default;
};
// Return the key of an operator that may stand in an iter_on_vec or an mxm region, or nothing. `boxes`: the module
// names layouts, which takes a look at all of it.
[[nodiscard]] std::optional<RegionKey> vector_key(const Module& module, const Op& op, bool boxes);
[[nodiscard]] std::optional<RegionKey> product_key(const Module& module, const Op& op, bool boxes);

// One row for each kind that selectors choose, in the order in which they try them. The other kind, product_epilogue,
// holds a gather, and a fusion plan ends at gathers: passes/fuse_epilogue.cpp makes it of regions of any selector.
struct RegionShape {
  RegionKind kind;
  // Returns true if exactly these operators of a block can form such a region together, in their order, and give these
  // values to others.
  bool (*holds)(const Module& module, std::span<const Op* const> members, std::span<const ValueId> results, bool boxes);
};
[[nodiscard]] std::span<const RegionShape> region_shapes();

// Returns the kind of region that exactly these operators of a block can form together, in their order, with these
// results, or nothing if they cannot.
[[nodiscard]] std::optional<RegionKind> kind_of_region(const Module& module, std::span<const Op* const> members,
                                                       std::span<const ValueId> results, bool boxes);

// Returns true if `op` can be an operator of an iter_on_vec region or is such a region, and `holds` for each operator.
template <class Holds>
[[nodiscard]] bool is_vector_work(const Op& op, Holds holds) {
  const std::span<const Op> ops = operators_of(op);
  return (op.code != OpCode::region || op.kind == RegionKind::iter_on_vec) &&
         std::all_of(ops.begin(), ops.end(), holds);
}

// Returns true for vector work on owned elements that may follow the rows of a row_chain over this matrix: a map, a
// reduction or a range.
[[nodiscard]] bool may_follow_chain(const Module& module, const Op& op, DimId rows, ValueId matrix);

}  // namespace kasen::fusion
