// Kernels on compressed arrays (libcore/data/compressed.h).
#pragma once

#include <span>
#include <vector>

#include "libkernels/dense/dense.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

// Whether the products with a compressed matrix cost less by its tuples than with its rows made dense (run_blas). Only
// their columns decide.
[[nodiscard]] bool go_through_tuples(std::span<const DenseOperands> products);

// Products with a compressed matrix of f64 or f32, multiplied and added, in either direction, one after another, by its
// tuples.
void run_compressed(Workshop& shop, Scalar scalar, const CompressedArray& matrix,
                    std::span<const DenseOperands> products);

[[nodiscard]] bool reads_compressed(const ElementwiseCall& call);

// An element-wise call whose compressed operands are made dense for as many rows as stay in the caches, and only in the
// columns that it reads.
class RowsMadeDense {
 public:
  RowsMadeDense(Workshop& shop, const Module& module, const ElementwiseCall& call);
  // Calls run(call) for sub-ranges of the call's, in order, with dense operands.
  template <class Run>
  void each(const Run& run) {
    for (std::int64_t r = call_.range.begin; r < call_.range.end; r += rows_) {
      ElementwiseCall part = call_;
      part.range = {r, std::min(r + rows_, call_.range.end)};
      make(part.range);
      part.inputs = views_;
      run(part);
    }
  }

 private:
  static std::int64_t bytes(const View& view, std::int64_t rows);
  void make(Range rows);

  Workshop& shop_;
  const ElementwiseCall& call_;
  std::vector<View> views_;
  std::vector<std::vector<char>> columns_;  // the columns of each compressed operand that are read (expand_rows)
  std::int64_t rows_ = 1;
};

}  // namespace kasen
