// Properties of products that the verifier, the optimizer and the kernels need.
#pragma once

#include <algorithm>
#include <span>

#include "libcore/ir/module.h"

namespace kasen {

[[nodiscard]] inline bool is_product(const Op& op) { return row(op.code).group == OpGroup::product; }
// True for products, folds and contractions that sum: fns[1] reduces what fns[0] gives.
[[nodiscard]] inline bool reduces_terms(const Op& op) {
  const OpGroup group = row(op.code).group;
  return (group == OpGroup::product || group == OpGroup::entries || group == OpGroup::contraction) &&
         op.fns.size() == 2;
}
// True for a contraction whose terms are reduced into the elements of operands[2] (as its local products are, in the
// form that kernels see): fns[1] of such an element and of what the two others give.
[[nodiscard]] inline bool is_onto(const Op& op) {
  const OpGroup group = row(op.code).group;
  return (group == OpGroup::product || group == OpGroup::contraction) && op.operands.size() > 2;
}
// The matrix of a product or fold (entries.h); of a region of products, the matrix of the first one.
[[nodiscard]] ValueId product_matrix(const Op& op);
// True if the function is one operator on both of its parameters, in either order.
[[nodiscard]] bool is_plain_operator(const ScalarFunction& fn, ScalarOp op);
// A sparse input over [T, N, M] holds size(T) matrices over [N, M], its batches. Operator batch takes one.
[[nodiscard]] inline bool has_batches(const Type& type) { return type.sparse && type.dims.size() == 3; }
// The dimensions of rows and columns.
[[nodiscard]] inline std::span<const DimId> matrix_dims(const Type& matrix) {
  return std::span(matrix.dims).last(std::min<std::size_t>(matrix.dims.size(), 2));
}
// What is behind a sparse value.
struct SparseSource {
  const Op* input = nullptr;  // null: it is none
  const Op* batch = nullptr;  // the operator that takes a batch of it; null: the value is the input
};
[[nodiscard]] SparseSource sparse_source(const Module& module, ValueId matrix);
[[nodiscard]] inline bool is_batch(const Module& module, ValueId matrix) {
  return module.type(matrix).sparse && sparse_source(module, matrix).batch != nullptr;
}
// True for a sparse matrix with a local dimension. The worker that owns an index of its other dimension has all
// nonzeros of that index. So vectors over that dimension need no ghosts, and vectors over the local one are shareds.
[[nodiscard]] bool has_whole_lines(const Module& module, const Type& matrix);
[[nodiscard]] bool is_sparse_product(const Module& module, const Op& op);
[[nodiscard]] bool is_dense_product(const Module& module, const Op& op);
// True if it multiplies several columns at once: its operand is over the matrix's dimension and local ones after it.
[[nodiscard]] inline bool has_columns(const Module& module, const Op& op) {
  return module.type(op.operands.at(0)).dims.size() > 1;
}
// The number of elements that operand and result hold at each index; 1 for vectors. Sizes must be known.
[[nodiscard]] std::int64_t product_columns(const Module& module, const Op& op);
// True over the ordinary semiring: f64 or f32 throughout, multiplied and added. The dense library computes these.
[[nodiscard]] bool is_ordinary_dense_product(const Module& module, const Op& op);
// The same for the functions of an operator that reduces terms.
[[nodiscard]] bool multiplies_and_adds(const Module& module, const Op& op);
// True if it may share one pass over its matrix with other such products, in either direction (region mxm). The matrix
// is cut along its rows; a matrix that every worker holds whole is excluded. Vectors only.
[[nodiscard]] bool shares_dense_pass(const Module& module, const Op& op);

}  // namespace kasen
