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
//
// In a region mxm, folds and products of one matrix and direction are one pass over the nonzeros (EntryPass).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

// True for an operator that goes over the nonzeros of a sparse matrix: a fold, or a product with it.
[[nodiscard]] bool visits_entries(const Module& module, const Op& op);
// True if it may share one pass over its matrix with folds: a fold, or a product whose columns are points.
[[nodiscard]] bool joins_folds(const Module& module, const Op& op);
// True for a fold, and a region mxm with one.
[[nodiscard]] bool holds_fold(const Op& op);

// Folds and products of one matrix in one direction, as one pass over its nonzeros. A product is a fold whose function
// is the multiplier. Each nonzero's value and index is read once, and each operand once at each index.
struct EntryPass {
  struct Operand {
    ValueId value = no_value;
    ElementType element;       // as it is stored
    ElementType seen;          // by the functions
    std::int64_t columns = 1;  // elements at an index
    EntrySide side = EntrySide::shared;
    bool across = false;
    [[nodiscard]] bool is_point() const { return element != seen; }
    // Bytes at an index that are counted; shareds cost nothing.
    [[nodiscard]] std::int64_t bytes() const { return side == EntrySide::shared ? 0 : columns * element.bytes(); }
  };
  struct Result {
    ValueId value = no_value;
    ElementType element;
    FnId reducer = no_fn;
    bool points = false;
    std::int64_t columns = 1;
    ScalarFunction function;  // for a nonzero: a scalar or tuple, or a `build` of scalars
  };
  ValueId matrix = no_value;
  std::vector<Operand> operands;
  // Parts of the functions. Each part takes the nonzero, the operands, then a parameter for each of `sums` and each of
  // `once`. It uses only those before it. Parts that are equal for several results stand here once.
  std::vector<ScalarFunction> sums;  // the summands that are added by lanes: a small array
  std::vector<ScalarFunction> once;  // the parts that all columns of a result share
  std::vector<Result> results;       // of each operator
};
// What the operators of a pass read beside the nonzeros, each value once for each side, in the order of its first use.
[[nodiscard]] std::vector<EntryPass::Operand> entry_operands(const Module& module, std::span<const Op> ops);
// `ops`: one fold, or the operators of a region with folds.
[[nodiscard]] EntryPass entry_pass(const Module& module, std::span<const Op> ops);
// The operators of such a region, or the operator itself.
[[nodiscard]] std::span<const Op> entry_operators(const Op& op);

}  // namespace kasen
