// The work that a row_chain region may hold for each row. A row has one element, or a few over one local dimension
// (columns). The verifier and the pass that forms such regions use these functions. Kernels keep a row's elements in
// registers and in a strip of the cache, so their number is known and small.
#pragma once

#include <optional>

#include "libcore/ir/module.h"

namespace kasen {

inline constexpr std::int64_t most_chain_columns = 64;

// The number of elements that a row has of an array over [rows] or [rows, K], or of a shared over [] or [K]. K's size
// is known to the plan and at most most_chain_columns. Empty for all other types; arrays with columns hold scalars.
[[nodiscard]] std::optional<std::int64_t> chain_columns(const Module& module, const Type& type, DimId rows);

// True if the product may stand in a row_chain. It uses the ordinary semiring and a dense matrix that is cut along its
// rows. It multiplies a vector, or columns as above.
[[nodiscard]] bool may_stand_in_chain(const Module& module, const Op& product);

// True if this map, reduction or slice may follow the rows. Operands and results are as for chain_columns, but a slice
// may show some of any number of columns. The reducer of a row's columns is one of +, *, min and max.
[[nodiscard]] bool follows_chain_rows(const Module& module, const Op& op, DimId rows);

// The coordinate loop that reduces as `fn` does (sum_over for +), if there is one.
[[nodiscard]] std::optional<ScalarOp> coordinate_loop(const ScalarFunction& fn);

}  // namespace kasen
