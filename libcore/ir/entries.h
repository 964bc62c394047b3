// Work on the nonzeros of a sparse matrix (operators fold_rows and fold_cols). A function takes the value of a nonzero,
// the elements at its row and at its column, and shareds. Its results are combined along rows or columns. It is a
// product whose multiplier sees both sides: the Outer template of Boehm et al. (VLDB 2018, Table 1), and their Cell
// template over nonzeros, in one pass.
//
// Operands: the matrix over [N, M]; `at_rows` arrays over N; arrays over M; shareds of rank 0. Of an array over
// [N, K...], K local, the function sees all elements at an index as one small array (a point). The function gives a
// point where the result is over [N, K...] or [M, K...]. Then the reducer works on each column by itself.
//
// Every kernel set adds in this order (see kernel_set.h). The nonzeros of a row follow each other as in a product. A
// sum over the coordinates of points inside the function goes by lanes: coordinate c is added on lane c % point_lanes.
// Each lane starts from 0. Lanes are combined l with l + 16, l + 8, l + 4, l + 2, l + 1.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// The most coordinates of a point: generated code has no loop over them.
inline constexpr std::int64_t most_point_coordinates = 1024;

inline constexpr int point_lanes = 32;

[[nodiscard]] inline bool is_fold(const Op& op) { return row(op.code).group == OpGroup::entries; }

enum class EntrySide : std::uint8_t { rows, cols, shared };
// The ghosts that nonzeros need along that axis: {G.rows} or {G.cols}.
[[nodiscard]] SlaveSet entry_slaves(const Module& module, const Op& fold, EntrySide side);
// The side of operand i >= 1.
[[nodiscard]] EntrySide entry_side(const Module& module, const Op& fold, size_t i);
// The side of the result: rows for fold_rows.
[[nodiscard]] inline EntrySide result_side(const Op& fold) {
  return fold.code == OpCode::fold_rows ? EntrySide::rows : EntrySide::cols;
}
// True if the result is over the matrix's rows (mxvt, fold_rows).
[[nodiscard]] inline bool gives_rows(const Op& op) {
  return op.code == OpCode::mxvt || (is_fold(op) && result_side(op) == EntrySide::rows);
}
// True if operand i >= 1 is read at each nonzero's index on the axis that is not the result's.
[[nodiscard]] bool is_across(const Module& module, const Op& fold, size_t i);
// The first such operand, which gives the numbering of the other axis. Verified folds have one.
[[nodiscard]] ValueId across_operand(const Module& module, const Op& fold);
// The type that the function sees of an array: its element, or a point. Nothing if the size of its points is not known
// (the program has to state it), if they have too many coordinates, or if their elements are not scalars.
[[nodiscard]] std::optional<ElementType> seen_element(const Module& module, const Type& type);
// The number of elements at an index: 1 except for points.
[[nodiscard]] std::int64_t point_columns(const Module& module, const Type& type);

// The parts in which a fold's function is computed for a nonzero. Each part takes the function's parameters, then a
// parameter for each of `sums` and each of `once`. It uses only those before it.
struct EntryFunction {
  std::vector<ScalarFunction> sums;  // the summands that are added by lanes: a small array
  std::vector<ScalarFunction> once;  // the parts that all columns of a result share
  ScalarFunction rest;               // the result: a scalar or tuple, or a `build` of scalars
};
[[nodiscard]] EntryFunction entry_function(const ScalarFunction& fn);

}  // namespace kasen
