// What is asked of products: the verifier, the optimizer and the kernels ask it here.
#pragma once

#include "libcore/module.h"

namespace kasen {

[[nodiscard]] inline bool is_product(const Op& op) { return row(op.code).group == OpGroup::product; }
// The matrix of a product, or of a region of products.
[[nodiscard]] inline ValueId product_matrix(const Op& op) {
  return (op.code == OpCode::region ? op.blocks.at(0).ops.at(0) : op).operands.at(1);
}
[[nodiscard]] bool is_sparse_product(const Module& module, const Op& op);
[[nodiscard]] bool is_dense_product(const Module& module, const Op& op);
// Over the ordinary semiring: f64 or f32 throughout, multiplied and added. Those go to the dense library.
[[nodiscard]] bool is_ordinary_dense_product(const Module& module, const Op& op);
// May it share one pass over its matrix with other such products, in either direction (region mxm)? The matrix is cut
// along its rows; one that is held whole by every worker is not.
[[nodiscard]] bool shares_dense_pass(const Module& module, const Op& op);

}  // namespace kasen
