// Folds of a sparse matrix's entries (libcore/ir/entries.h), alone or several in one pass: one function for a row's
// entries, columns of points on lanes. Operator entries stores what its function gives for each of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libkernels/emit/kernel.h"

namespace kasen {

// One pass over nonzeros: a fold, or several with products in a region.
struct EntryFoldKernel {
  struct Operand {
    ElementType element;
    int input = 0;  // its place among the call's inputs
  };
  struct Result {
    ElementType element;
    std::vector<int> outputs;  // its places among the call's outputs
  };
  std::string symbol;
  RowsFunction rows = nullptr;
  ElementType matrix;
  std::vector<Operand> operands;
  std::vector<Result> results;
  bool adds_values = false;  // f64 or f32 nonzeros are added as they are, to one result
  // Bytes that are counted for an entry, and for a row of the results.
  std::int64_t entry_reads = 0, entry_writes = 0, row_reads = 0, row_writes = 0;
};

// True for a fold that adds f64 or f32 nonzeros as they are.
[[nodiscard]] bool adds_values(const Module& module, const Op& op);

// Emits rows(arguments, begin, end, scratch), to be looked up as `symbol`. The arguments: pointers, indices, numbers,
// the matrix's values, the operands, the outputs of each result. UserError(bad_input) if it cannot be generated.
[[nodiscard]] EntryFoldKernel emit_entry_fold(Jit& jit, const Module& module, const Op& op, const std::string& name,
                                              std::int64_t& scratch_bytes);

}  // namespace kasen
