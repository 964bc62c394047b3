// Element counts of values and of operators, as polynomials. Both columns of the cost are made of them.
#pragma once

#include "libcore/ir/module.h"
#include "libopt/cost/polynomial.h"

namespace kasen {

// All indices of a dimension, on whatever worker.
[[nodiscard]] Polynomial whole_size(const Module& module, DimId dim);
// The number of elements for each index of the cut dimension: the product of all other dimensions. Sizes that the
// program fixes are numbers.
[[nodiscard]] Polynomial inner_elements(const Module& module, const Type& type);
// The number of elements of a product's operand and result for each index of the matrix's dimensions.
// The same of one array: the elements at an index of its first dimension.
[[nodiscard]] Polynomial point_elements(const Module& module, const Type& type);
// Indices of its first dimension that all workers store together; of a shared each worker stores all.
[[nodiscard]] Polynomial stored_lines(const Module& module, const Type& type);
// Those of them that a pass over a matrix's nonzeros meets: owned ones, where each owner has whole lines.
[[nodiscard]] Polynomial met_lines(const Module& module, const Type& matrix, const Type& along);
[[nodiscard]] Polynomial column_elements(const Module& module, const Op& product);
// waiting_rows: the rows that wait for the gather of a product_epilogue region whose pre-reduced product has this type.
// stored_indices: local indices of the cut dimension at which the value is stored: owned ones, and in C and PR the
// ghosts of its set.
[[nodiscard]] Polynomial waiting_rows(const Module& module, const Type& product);
[[nodiscard]] Polynomial stored_indices(const Module& module, const Type& type);
[[nodiscard]] Polynomial master_indices(const Module& module, const Type& type);
[[nodiscard]] Polynomial slave_indices(const Module& module, const Type& type);
// The number of elements of one array in its state (the arrays of a list are alike).
[[nodiscard]] Polynomial stored_elements(const Module& module, const Type& type);
// The number of all elements of one array.
[[nodiscard]] Polynomial whole_elements(const Module& module, const Type& type);
// The number of elements of a shared; for a list, of one of its arrays.
[[nodiscard]] Polynomial shared_elements(const Module& module, const Type& type);
// The number of nonzeros of a matrix operand: nnz of a sparse one, all elements of a dense one, none of a shared. An
// `input` defines the matrix, and `name` is its name there.
// The dimension that counts the batches of a sparse input; no_dim if it has none.
[[nodiscard]] DimId batches_dim(const Module& module, const std::string& input);
// How many it has; 1 for an input without.
[[nodiscard]] Polynomial batch_count(const Module& module, const std::string& input);
// The nonzeros of a batch on average, to the nearest number.
[[nodiscard]] std::int64_t mean_of_batches(std::int64_t entries, std::int64_t batches);
[[nodiscard]] Polynomial stored_entries(const Module& module, const Type& type, const std::string& name);

// The number of places along these axes of the mesh; without a mesh a power of the workers.
[[nodiscard]] Polynomial mesh_places(const Module& module, MeshAxes axes);

// Returns true for dense arrays that are cut. Both columns charge for their memory traffic by index of the cut
// dimension; shared arrays cost what shared_traffic.h says, in the actual column alone.
[[nodiscard]] bool is_distributed_array(const Module& module, ValueId value);
// Returns the distributed arrays among `values`, each once, in order of first appearance.
[[nodiscard]] std::vector<ValueId> distinct_arrays(const Module& module, const std::vector<ValueId>& values);

}  // namespace kasen
