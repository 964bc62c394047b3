// Work on the stored entries of a sparse matrix (operators fold_rows and fold_cols): of each entry a function of its
// value, of what stands at its row and at its column, and of shareds, combined along rows or columns. It is a product
// whose multiplier sees both sides; the Outer template of Boehm et al. (VLDB 2018, Table 1), and their Cell template
// over stored entries, in one pass.
//
// Operands: the matrix over [N, M]; `at_rows` arrays over N; arrays over M; shareds of rank 0. An array over [N, K...],
// K local, is seen by the function as a small array of all that stands at an index (a point), and so is what the
// function gives where the result is over [N, K...] or [M, K...]: then the reducer works on each column by itself.
//
// The order of what is added, for every kernel set (see kernel_set.h): entries of a row as in a product; a sum over the
// coordinates of points inside of the function by lanes, coordinate c on lane c % point_lanes, each from 0, lanes
// combined l with l + 16, l + 8, l + 4, l + 2, l + 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// Points have at most so many coordinates: generated code goes through them without a loop.
inline constexpr std::int64_t most_point_coordinates = 1024;

inline constexpr int point_lanes = 32;

[[nodiscard]] inline bool is_fold(const Op& op) { return row(op.code).group == OpGroup::entries; }

enum class EntrySide : std::uint8_t { rows, cols, shared };
// The slaves that entries have along that axis: of {G.rows} or {G.cols}.
[[nodiscard]] SlaveSet entry_slaves(const Module& module, const Op& fold, EntrySide side);
// Where operand i >= 1 stands.
[[nodiscard]] EntrySide entry_side(const Module& module, const Op& fold, size_t i);
// The side of the result: rows of fold_rows.
[[nodiscard]] inline EntrySide result_side(const Op& fold) {
  return fold.code == OpCode::fold_rows ? EntrySide::rows : EntrySide::cols;
}
// Is the result over the matrix's rows: of mxvt, fold_rows?
[[nodiscard]] inline bool gives_rows(const Op& op) {
  return op.code == OpCode::mxvt || (is_fold(op) && result_side(op) == EntrySide::rows);
}
// Is operand i >= 1 read at each entry's place on the other axis than the result's?
[[nodiscard]] bool is_across(const Module& module, const Op& fold, size_t i);
// The first such operand: what tells the numbering of the other axis. Verified folds have one.
[[nodiscard]] ValueId across_operand(const Module& module, const Op& fold);
// What the function sees of an array: its element, or a point. Nothing if the array has points of no size that is known
// (the program has to tell it), of too many coordinates, or of what is no scalar.
[[nodiscard]] std::optional<ElementType> seen_element(const Module& module, const Type& type);
// Elements at an index: 1 but for points.
[[nodiscard]] std::int64_t point_columns(const Module& module, const Type& type);

// A fold's function in the parts in which it is computed for an entry. Each takes the function's parameters, then a
// parameter for each of `sums` and each of `once`, of which it uses those before it.
struct EntryFunction {
  std::vector<ScalarFunction> sums;  // what is added by lanes: the summands, a small array
  std::vector<ScalarFunction> once;  // what the columns of a result have in common
  ScalarFunction rest;               // what is given: a scalar or tuple, or a `build` of scalars
};
[[nodiscard]] EntryFunction entry_function(const ScalarFunction& fn);

}  // namespace kasen
