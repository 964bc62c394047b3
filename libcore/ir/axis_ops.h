// Operators of group `axis`. Each works along a dimension of its operands: the elements of a *line* are those that
// differ in their index of this dimension alone. scan, sort and argsort work along op.over[0] of operands[0] and make
// lines of the same length. take reads some elements of each line, at the places that operands[1] holds.
//
// slice, concat and reshape *rearrange*: lines along op.over, the sources of a derived dimension op.dim, become lines
// along that one. A slice has some elements of its line, or those a fixed number of places from these. A concatenation
// takes each part of a line from an operand of its own. A reshape works along neighbouring dimensions at once, in
// either direction. A pick has the elements of its line where operands[1], a mask over that dimension alone, is true:
// op.dim has as many indices, which an `observe` before it found (observed.h).
//
// A worker that makes an element of a line has all of the line (rule 18, docs/states.md), but for a sort or argsort
// that the workers along a cut dimension do together (sorts_across, libcore/analysis/mesh_rules.h). A scan may be cut
// along its lines, too: each worker scans its own part, and takes up what the parts before it come to.
//
// reduce_by is a reduction over several dimensions whose place in the result a second array, the keys, holds:
//
//   result[k, ...] = R over all elements with key k
//
// It walks over the elements of operands[0], or of the keys if that is a single value. The keys are over all dimensions
// of op.over, and may be over others of the walked array. A new dimension of the result replaces op.over, where the
// first of these stands. Like a reduction, it makes contributions of dimensions that are cut (rule 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/module.h"

namespace kasen {

[[nodiscard]] inline bool is_axis_op(const Op& op) { return row(op.code).group == OpGroup::axis; }

[[nodiscard]] inline bool is_rearrangement(const Op& op) {
  return op.code == OpCode::slice || op.code == OpCode::concat || op.code == OpCode::reshape || op.code == OpCode::pick;
}

// A relayout may rearrange, too: elements go from their owners straight to those of the result, so no line is whole
// anywhere. It has the operands, and the dimensions `dim` and `over`, of the slice, concatenation, reshape or pick.
[[nodiscard]] inline bool rearranges_on_the_way(const Op& op) {
  return op.code == OpCode::relayout && op.dim != no_dim;
}
// Which of the four such a relayout makes, or the operator's own code.
[[nodiscard]] OpCode rearrangement_of(const Module& module, const Op& op);
// True for a relayout that picks: its mask, and so the data, decide what moves.
[[nodiscard]] inline bool picks_on_the_way(const Module& module, const Op& op) {
  return rearranges_on_the_way(op) && rearrangement_of(module, op) == OpCode::pick;
}
// The operands whose elements it moves, the first ones: a mask and a size are read where they are.
[[nodiscard]] inline std::size_t moved_operands(const Module& module, const Op& op) {
  return picks_on_the_way(module, op) ? 1 : op.operands.size();
}

// The dimension along which scan, sort, argsort and take work, and its place among those of operands[0].
[[nodiscard]] inline DimId worked_dim(const Op& op) { return op.over.at(0); }
[[nodiscard]] std::size_t worked_place(const Module& module, const Op& op);

// Of any operator of the group: the operand's dimensions along which it reads whole lines, and the result's along which
// it makes them. A take makes elements one by one.
[[nodiscard]] std::vector<DimId> worked_dims(const Module& module, const Op& op, std::size_t operand);
[[nodiscard]] std::vector<DimId> made_dims(const Module& module, const Op& op);

// The axes of the mesh that cut a scan along its lines in equal runs, operand and result alike. None for any other
// operator, and where these axes have one place.
[[nodiscard]] MeshAxes carried_axes(const Module& module, const Op& op);
// The axes of an operand, or of the result, that are over these dimensions: neighbours.
struct AxisRange {
  std::size_t first = 0, count = 0;

  [[nodiscard]] bool has(std::size_t axis) const { return axis >= first && axis < first + count; }
};
[[nodiscard]] AxisRange worked_axes(const Module& module, const Op& op, std::size_t operand);
[[nodiscard]] AxisRange made_axes(const Module& module, const Op& op);

// True for a reshape whose first part is a dimension of workers. Index w has a run of the product's indices, as long as
// all others, which the same cuts give to the same worker: it need not be whole.
[[nodiscard]] bool keeps_owners(const Module& module, const Op& op);
// The axes of the result whose lines are made as a whole.
[[nodiscard]] AxisRange whole_axes(const Module& module, const Op& op);

// A slice may be *displaced*: its elements are those at the indices of its dimension plus this number, which is its one
// literal word, or 0.
[[nodiscard]] inline std::int64_t displacement(const Op& slice) {
  return slice.literal.empty() ? 0 : slice.literal.at(0).i;
}
void displace(Op& slice, std::int64_t displacement);

// True if an array over `whole` has slices over `part`: that is a slice of it, or one of the parts of that sum, as N is
// of S = One + N + Two.
[[nodiscard]] bool is_part(const Module& module, DimId part, DimId whole);

using SizeOf = std::function<std::int64_t(DimId)>;  // -1: not known yet
// The indices of the operand's dimension that a slice has, displaced, in its order. All code that needs to know asks
// here.
[[nodiscard]] SlicedIndices sliced_by(const Module& module, const Op& op, const SizeOf& size_of);
[[nodiscard]] SlicedIndices sliced_by(const Module& module, const Op& op);  // of the module's sizes
// Why the slice `part` of `whole`, displaced by a number, lies outside of it, as far as sizes are known.
[[nodiscard]] OutsideFault outside_fault(const Module& module, DimId part, DimId whole, std::int64_t displacement,
                                         const SizeOf& size_of);
// Throws UserError(bad_input) for a slice that is displaced beyond its operand's dimension. One without indices is not.
void require_inside(const Module& module, const Op& slice, const SizeOf& size_of);
void require_inside(const Module& module);  // of all slices whose sizes are known

// `dims` with `to` in the stead of `from`, which are neighbours there, once; nothing if they are not.
[[nodiscard]] std::optional<std::vector<DimId>> with_replaced(const std::vector<DimId>& dims,
                                                              const std::vector<DimId>& from,
                                                              const std::vector<DimId>& to);

// The dimensions of a take: those of the array, with those of the places for the one along which it reads. Dimensions
// that both have meet: take(X, k) with X over [N, F] and k over [N, F] reads X[k[n, f], f].
[[nodiscard]] std::vector<DimId> taken_dims(const std::vector<DimId>& array, DimId along,
                                            const std::vector<DimId>& places);

// For each axis of an operand, the axis of the result that it meets. no_axis: a worker needs the whole line, for
// any element of the result (but of the places of take, and where a scan takes up carries).
[[nodiscard]] std::vector<std::ptrdiff_t> axis_op_places(const Module& module, const Op& op, std::size_t operand);
// The same for cuts: where a reshape keeps owners, the first part meets the product.
[[nodiscard]] std::vector<std::ptrdiff_t> cut_places(const Module& module, const Op& op, std::size_t operand);

[[nodiscard]] inline bool is_grouping(const Op& op) { return op.code == OpCode::reduce_by; }

// The operand whose elements a reduce_by walks over: 0, or 1 (the keys) for a single value.
[[nodiscard]] std::size_t walked_operand(const Module& module, const Op& op);

// The place of its dimension of keys among those of the result, and this dimension.
[[nodiscard]] std::size_t key_place(const Module& module, const Op& op);
[[nodiscard]] DimId key_dim(const Module& module, const Op& op);

// The dimensions of its result.
[[nodiscard]] std::vector<DimId> grouped_dims(const std::vector<DimId>& walked, const std::vector<DimId>& over,
                                              DimId keys);

// For each axis of the walked operand, that of the result; no_axis for op.over.
[[nodiscard]] std::vector<std::ptrdiff_t> grouped_places(const Module& module, const Op& op);

// True if lines, or operands that meet, may lie on several workers: then the program is planned over a mesh.
[[nodiscard]] bool crosses_workers(const Module& module, const Op& op);

// Of an operator of linear algebra: the axes of all its arrays before those of its matrices. It works on the matrix at
// each of their indices.
[[nodiscard]] std::size_t batch_rank(const Module& module, const Op& op);
// For each axis of an operand, that of the results which it meets: no_axis for its matrices'.
[[nodiscard]] std::vector<std::ptrdiff_t> batch_places(const Module& module, const Op& op, std::size_t operand);
// True if some of these are cut: its program is planned over a mesh, too.
[[nodiscard]] bool is_linear_on_workers(const Module& module, const Op& op);

}  // namespace kasen
