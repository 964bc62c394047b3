// Folds of a sparse matrix's entries (libcore/ir/entries.h): one function for a row's entries, columns of points on
// lanes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcore/ir/entries.h"
#include "libkernels/emit/kernel.h"

namespace kasen {

struct EntryFoldKernel {
  struct Operand {
    ElementType element;
    bool point = false;
    std::int64_t columns = 1;  // of a point
    EntrySide side = EntrySide::shared;
    bool across = false;
  };
  std::string symbol;
  RowsFunction rows = nullptr;
  ElementType matrix, result;
  std::vector<Operand> operands;  // [i - 1] for operand i
  bool gives_points = false;
  std::int64_t columns = 1;  // of the result
  // Bytes that are counted for an entry, and for a row of the result.
  std::int64_t entry_reads = 0, row_reads = 0, row_writes = 0;
};

// Emits rows(arguments, begin, end, scratch), to be looked up as `symbol`. The arguments: pointers, indices, the
// matrix's values, the operands, the result. UserError(bad_input) if it cannot be generated.
[[nodiscard]] EntryFoldKernel emit_entry_fold(Jit& jit, const Module& module, const Op& op, const std::string& name,
                                              std::int64_t& scratch_bytes);

}  // namespace kasen
