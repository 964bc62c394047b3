// The shared part of steps with a product over a sparse matrix: the matrix in pull form, and the call to the kernels.
// Internal to the executor.
#pragma once

#include <vector>

#include "libcore/run/executor_steps.h"

namespace kasen::executor {

// `product` is the operator itself, or one inside a region.
class SparseStep : public Step {
 public:
  SparseStep(Execution& run, MatrixStore& matrices, const Op& decoded, int at, const Op& product)
      : Step(decoded, at), matrices_(matrices), place_(matrices.find(run, product)), made_(product.results.at(0)) {}

  void prepare(Execution& run) override;

 protected:
  [[nodiscard]] const LocalMatrix& matrix(int part) const { return matrices_.matrix(place_, part); }
  [[nodiscard]] int place() const { return place_; }
  // The product's result, and the number of its rows that are owned elements.
  [[nodiscard]] ValueId made() const { return made_; }
  [[nodiscard]] std::int64_t masters(const Execution& run, int part) const { return run.storage.masters(made_, part); }

  // How many of the first `rows` rows read no ghost, in whole reduction blocks.
  [[nodiscard]] std::int64_t ready(int part, std::int64_t rows) const;

  // Looks up the addresses of operands and results on every part. They stay valid until the step ends.
  void look_up(const Execution& run);
  // Views of the operator's results on a part.
  [[nodiscard]] std::span<const View> outputs(int part) const { return outputs_[static_cast<size_t>(part)]; }
  // Adds rows of the result's space on a part to the next run_calls(); an empty range adds nothing. `waiting` is as in
  // ProductCall. The calls of one run_calls() are independent.
  void add_call(int part, Range range, RowWork work = RowWork::all, View waiting = {});
  void run_calls(Execution& run);

 private:
  MatrixStore& matrices_;
  int place_;
  ValueId made_;
  std::vector<std::vector<View>> inputs_, outputs_;  // [part]
  std::vector<ProductCall> calls_;
};

}  // namespace kasen::executor
