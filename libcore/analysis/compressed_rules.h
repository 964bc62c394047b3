// Which inputs may stay compressed (compressed.h), and what work on them reads: the verifier, the optimizer, both
// columns' counters and the kernels ask it here.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "libcore/data/mirrored.h"
#include "libcore/ir/module.h"

namespace kasen {

// Why the dense input cannot be read compressed; nothing if it can. What may be: a matrix of scalars, cut along its
// first dimension, its second local, that map, reduce, range, at and ordinary products (as their matrix or as what that
// is multiplied by) read, and regions of them. Nothing else is cut by its rows in another way: neither a sparse matrix
// nor a dense array along a later dimension.
[[nodiscard]] std::optional<std::string> hinders_compressed(const Module& module, const Op& input);

// Does the operator reduce functions of one compressed matrix's cells alone, and of single shareds, to single shareds,
// over reducers that take a value with a count: sums of floating-point numbers, and min, max, and, or? Then it goes
// through distinct values, not rows.
[[nodiscard]] bool takes_distinct_values(const Module& module, const Op& op);

// Bytes that the operator reads of its compressed operands in all (docs/cost.md). `inputs` as of a kernel's call.
[[nodiscard]] std::int64_t compressed_reads(const Module& module, const Op& op, std::span<const View> inputs);

}  // namespace kasen
