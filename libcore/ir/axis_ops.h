// Operators of group `axis`. Each works along one dimension, op.over[0], of operands[0]: the elements of a *line* are
// those that differ in their index of this dimension alone. scan, sort and argsort make lines of the same length. take
// reads some elements of each line, at the places that operands[1] holds.
//
// A worker that makes an element of a line has all of the line (rule 18, docs/states.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

[[nodiscard]] inline bool is_axis_op(const Op& op) { return row(op.code).group == OpGroup::axis; }

// The dimension along which the operator works, and its place among those of operands[0].
[[nodiscard]] inline DimId worked_dim(const Op& op) { return op.over.at(0); }
[[nodiscard]] std::size_t worked_place(const Module& module, const Op& op);

// The dimensions of a take: those of the array, with those of the places for the one along which it reads. Dimensions
// that both have meet: take(X, k) with X over [N, F] and k over [N, F] reads X[k[n, f], f].
[[nodiscard]] std::vector<DimId> taken_dims(const std::vector<DimId>& array, DimId along,
                                            const std::vector<DimId>& places);

// For each axis of an operand, the axis of the result that it meets. no_axis: a worker needs the whole line, for
// any element of the result (but of the places of take).
[[nodiscard]] std::vector<std::ptrdiff_t> axis_op_places(const Module& module, const Op& op, std::size_t operand);

// True if lines, or operands that meet, may lie on several workers: then the program is planned over a mesh.
[[nodiscard]] bool crosses_workers(const Module& module, const Op& op);

}  // namespace kasen
