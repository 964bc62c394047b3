// The blocks of rows in which products with a dense matrix are computed. Their results are added in order, so that bits
// do not depend on the number of threads: blocks follow from sizes alone.
#pragma once

#include "libcore/ir/module.h"

namespace kasen {

// A product over the ordinary semiring. `result_bytes`: what a block keeps of results along the columns.
struct DenseSizes {
  std::int64_t rows = 0, cols = 0;
  std::int64_t columns = 1;  // of its other operand
  std::int64_t result_bytes = 0;
};
// More rows if the results of all blocks, which are kept until they are added, would take much memory. A large product
// of few blocks has equal ones.
[[nodiscard]] std::int64_t rows_of_block(const DenseSizes& sizes);
// The columns that one thread computes at a time of a block.
[[nodiscard]] std::int64_t columns_at_once(const DenseSizes& sizes);

// The rows of a row_chain's block, at most. Its reductions have whole blocks of theirs where there are so many rows.
inline constexpr std::int64_t chain_block_rows = 4096;
inline constexpr std::int64_t whole_chain_blocks = 8;

// The rows that a thread takes at a time of a product over another semiring, if its results are over the rows.
inline constexpr std::int64_t general_block_rows = 1024;

// KernelSet::rows_at_once of generated code: for a product with a dense matrix of these sizes, a region of such
// products or a row_chain. Other products whose results are over the columns give each thread some of them, of all
// rows.
[[nodiscard]] std::int64_t dense_rows_at_once(const Module& module, const Op& op, std::int64_t rows, std::int64_t cols);

}  // namespace kasen
