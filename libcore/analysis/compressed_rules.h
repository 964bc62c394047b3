// Rules for inputs that may stay compressed (compressed.h), and the bytes that work on them reads. The verifier, the
// optimizer, the counters of both columns and the kernels use them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "libcore/data/mirrored.h"
#include "libcore/ir/module.h"

namespace kasen {

// The reason why the dense input cannot be read compressed; empty if it can. It must be a matrix of scalars that is cut
// along its first dimension, with a local second one. Only map, reduce, range, at, ordinary products and regions of
// them may read it. A product may take it as its matrix or as the operand that the matrix multiplies. No value may be
// cut by its rows in another way: neither a sparse matrix nor a dense array along a later dimension.
[[nodiscard]] std::optional<std::string> hinders_compressed(const Module& module, const Op& input);

// True if the operator only reduces functions of one compressed matrix's cells and of single shareds to single shareds.
// The reducers accept a value with a count: sums of floating-point numbers, and min, max, and, or. Such an operator
// visits distinct values, not rows.
[[nodiscard]] bool takes_distinct_values(const Module& module, const Op& op);

// The bytes that the operator reads of all its compressed operands (docs/cost.md). `inputs` are as in a kernel call.
[[nodiscard]] std::int64_t compressed_reads(const Module& module, const Op& op, std::span<const View> inputs);

}  // namespace kasen
