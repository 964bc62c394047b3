// Work on the nonzeros of a sparse matrix (operators fold_rows, fold_cols and entries). A function takes the value of a
// nonzero, the elements at its row, at its column and at itself, and shareds. Its results are combined along rows or
// columns. It is a product whose multiplier sees both sides: the Outer template of Boehm et al. (VLDB 2018, Table 1),
// and their Cell template over nonzeros, in one pass. Operator `entries` does not combine them: it stores each.
//
// A dimension of nonzeros (`dim E entries "X"`) has an index for each stored nonzero of the input X. An array over it
// is a sparse value: a matrix with X's nonzeros and values of its own. The worker that has a nonzero owns its index.
// The indices of one worker follow each other, in the order of its part of X, and workers follow each other.
//
// Operands: the matrix over [N, M]; `at_rows` arrays over N; arrays over M; sparse values; shareds of rank 0. Operator
// entries has arrays on both sides, so that its nonzeros are met in the order of a fold_rows. Of an array over
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

enum class EntrySide : std::uint8_t { rows, cols, entries, shared };
// The ghosts that nonzeros need along that axis: {G.rows} or {G.cols}; none of a matrix with a local dimension.
[[nodiscard]] SlaveSet entry_slaves(const Module& module, const Op& fold, EntrySide side);
// The side of operand i >= 1.
[[nodiscard]] EntrySide entry_side(const Module& module, const Op& fold, size_t i);
// The side along which nonzeros are met: that of the result, and rows for entries.
[[nodiscard]] inline EntrySide result_side(const Op& fold) {
  return fold.code == OpCode::fold_cols ? EntrySide::cols : EntrySide::rows;
}
[[nodiscard]] inline bool gives_entries(const Op& op) { return op.code == OpCode::entries; }
// The value whose storage numbers the rows that are met: the result, and for entries the first operand over rows.
[[nodiscard]] inline ValueId along_value(const Op& op) {
  return gives_entries(op) ? op.operands.at(1) : op.results.at(0);
}
// True if one of them reads or makes sparse values: the form of the matrix knows the index of each nonzero.
[[nodiscard]] bool numbers_entries(const Module& module, const Op& fold);
[[nodiscard]] bool numbers_entries(const Module& module, std::span<const Op> ops);
// True if the elements lie at the nonzeros of a sparse matrix.
[[nodiscard]] bool is_over_entries(const Module& module, const Type& type);
// True for an input over the nonzeros of the sparse input of its name: the matrix's own values. No file gives it, and
// the bundle has it as part of the matrix.
[[nodiscard]] bool gives_values(const Module& module, const Op& op);
[[nodiscard]] bool reads_values(const Module& module, const std::string& matrix);
// The dimension of a matrix's nonzeros, by the matrix's name; no_dim if the module has none.
[[nodiscard]] DimId entries_dim(const Module& module, const std::string& matrix);
[[nodiscard]] bool has_entries_dims(const Module& module);
// True if the matrix is read row by row (mxvt, fold_rows, entries).
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
// True if it may share one pass over its matrix with folds: a fold, or a product whose columns are points. Operator
// entries goes alone.
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
    // True if each nonzero reads it anew: at its other side, or at its own number.
    [[nodiscard]] bool at_each() const { return across || side == EntrySide::entries; }
    // Bytes at an index that are counted; shareds cost nothing.
    [[nodiscard]] std::int64_t bytes() const { return side == EntrySide::shared ? 0 : columns * element.bytes(); }
  };
  struct Result {
    ValueId value = no_value;
    ElementType element;
    FnId reducer = no_fn;  // operator entries has none
    bool points = false;
    std::int64_t columns = 1;
    ScalarFunction function;  // for a nonzero: a scalar or tuple, or a `build` of scalars
  };
  ValueId matrix = no_value;
  bool stores = false;    // operator entries, alone: each nonzero's value is stored at its number
  bool numbered = false;  // sparse values are read or made
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
