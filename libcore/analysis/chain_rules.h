// What a row_chain region may hold of each row: one element, or a few over one local dimension (columns). The verifier
// and the pass that forms such regions ask it here; kernels keep a row's elements in registers and in a strip of the
// cache, so that their number is known and small.
#pragma once

#include <optional>

#include "libcore/ir/module.h"

namespace kasen {

inline constexpr std::int64_t most_chain_columns = 64;

// Of an array over [rows] or [rows, K], or a shared over [] or [K]: how many elements a row has, with K's size known to
// the plan and at most most_chain_columns. Nothing for every other type; arrays with columns hold scalars.
[[nodiscard]] std::optional<std::int64_t> chain_columns(const Module& module, const Type& type, DimId rows);

// May the product stand in a row_chain: over the ordinary semiring, with a dense matrix that is cut along its rows, of
// a vector or of columns as above.
[[nodiscard]] bool may_stand_in_chain(const Module& module, const Op& product);

// May this map, reduction or slice follow the rows? Its operands and results are as chain_columns wants them, but that
// a slice may show some of any number of columns; what reduces a row's columns is one of +, *, min and max.
[[nodiscard]] bool follows_chain_rows(const Module& module, const Op& op, DimId rows);

// The coordinate loop that reduces as `fn` does (sum_over for +), if it is one of those.
[[nodiscard]] std::optional<ScalarOp> coordinate_loop(const ScalarFunction& fn);

}  // namespace kasen
