// What is asked of products: the verifier, the optimizer and the kernels ask it here.
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

[[nodiscard]] inline bool is_product(const Op& op) { return row(op.code).group == OpGroup::product; }
// The matrix of a product or fold (entries.h), or of a region of products: that of the first.
[[nodiscard]] ValueId product_matrix(const Op& op);
// Is the function one operator on both of its parameters, in either order?
[[nodiscard]] bool is_plain_operator(const ScalarFunction& fn, ScalarOp op);
[[nodiscard]] bool is_sparse_product(const Module& module, const Op& op);
[[nodiscard]] bool is_dense_product(const Module& module, const Op& op);
// Does it multiply several columns at once: an operand over the matrix's dimension and local ones behind it?
[[nodiscard]] inline bool has_columns(const Module& module, const Op& op) {
  return module.type(op.operands.at(0)).dims.size() > 1;
}
// How many: the elements that operand and result hold at each index; 1 of vectors. Once sizes are known.
[[nodiscard]] std::int64_t product_columns(const Module& module, const Op& op);
// Over the ordinary semiring: f64 or f32 throughout, multiplied and added. Those go to the dense library.
[[nodiscard]] bool is_ordinary_dense_product(const Module& module, const Op& op);
// May it share one pass over its matrix with other such products, in either direction (region mxm)? The matrix is cut
// along its rows; one that is held whole by every worker is not. Vectors only.
[[nodiscard]] bool shares_dense_pass(const Module& module, const Op& op);

}  // namespace kasen
