// Products with a dense matrix, and which of them the dense library runs: the verifier, the optimizer and the kernels
// ask the same question here.
#pragma once

#include "libcore/module.h"

namespace kasen {

[[nodiscard]] bool is_product(const Op& op);
// `op` is a product.
[[nodiscard]] bool is_dense_product(const Module& module, const Op& op);
// A product with a dense matrix over the ordinary semiring: f64 or f32 throughout, multiplied and added.
[[nodiscard]] bool is_ordinary_dense_product(const Module& module, const Op& op);
// May it share one pass over its matrix with other such products, in either direction (region mxm)? The matrix is cut
// along its rows; one that is held whole by every worker is not.
[[nodiscard]] bool shares_dense_pass(const Module& module, const Op& op);

}  // namespace kasen
