// How many elements values have and operators touch, as polynomials: what both columns of the cost are made of.
#pragma once

#include "libcore/ir/module.h"
#include "libopt/cost/polynomial.h"

namespace kasen {

// Elements for each index of the cut dimension: all other dimensions multiplied. Sizes that the program fixes are
// numbers.
[[nodiscard]] Polynomial inner_elements(const Module& module, const Type& type);
// Of a product's operand and result: elements for each index of the matrix's dimensions.
[[nodiscard]] Polynomial column_elements(const Module& module, const Op& product);
// Local indices of the cut dimension on which the value is stored: masters, and slaves of its set in C and PR.
// Rows of a product_epilogue region whose pre-reduced product has this type that wait for its gather.
[[nodiscard]] Polynomial waiting_rows(const Module& module, const Type& product);
[[nodiscard]] Polynomial stored_indices(const Module& module, const Type& type);
[[nodiscard]] Polynomial master_indices(const Module& module, const Type& type);
[[nodiscard]] Polynomial slave_indices(const Module& module, const Type& type);
// Elements of one array in its state (a list's arrays are alike).
[[nodiscard]] Polynomial stored_elements(const Module& module, const Type& type);
// All elements of one array.
[[nodiscard]] Polynomial whole_elements(const Module& module, const Type& type);
// Elements of a shared; for lists of one of its arrays.
[[nodiscard]] Polynomial shared_elements(const Module& module, const Type& type);
// Stored entries of a matrix operand: nnz of a sparse one, all elements of a dense one, none of a shared. The matrix is
// the value that an `input` defined; `name` is what it is called there.
[[nodiscard]] Polynomial stored_entries(const Module& module, const Type& type, const std::string& name);

// True if a value is an array on which memory traffic is charged.
[[nodiscard]] bool is_charged(const Module& module, ValueId value);
// The arrays that are charged among `values`, each once, in order of first appearance.
[[nodiscard]] std::vector<ValueId> distinct_arrays(const Module& module, const std::vector<ValueId>& values);

}  // namespace kasen
