// The shared part of steps with a product over a sparse matrix: the matrix in pull form, and the call to the kernels.
// Internal to the executor.
#pragma once

#include <vector>

#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {

// `product` is the operator itself, or one inside a region.
class SparseStep : public Step {
 public:
  SparseStep(Execution& run, MatrixStore& matrices, const Op& decoded, int at, const Op& product)
      : Step(decoded, at),
        matrices_(matrices),
        index_(MatrixStore::batch_index(run, product_matrix(product))),
        place_(matrices.find(run, product)),
        made_(along_value(product)) {}

  void prepare(Execution& run) override;
  [[nodiscard]] std::optional<EntryUse> entries(const Execution& run, int part) const override;

 protected:
  // Of batches, the one of the last look_up().
  [[nodiscard]] const LocalMatrix& matrix(int part) const { return matrices_.matrix(place_, part, batch_); }
  [[nodiscard]] int place() const { return place_; }
  // The matrix's form is on a disk on that part, and its nonzeros go by.
  [[nodiscard]] bool goes_by(int part) const { return !matrices_.entries(place_, part).arrays.empty(); }
  // What the product's rows are stored along (along_value), and the number of its rows that are owned elements.
  [[nodiscard]] ValueId made() const { return made_; }
  [[nodiscard]] std::int64_t masters(const Execution& run, int part) const {
    const bool everywhere = run.storage.info(made_).cut == no_dim;  // a result over a local dimension
    return everywhere ? matrix(part).outputs : run.storage.masters(made_, part);
  }

  // How many of the first `rows` rows read no ghost, in whole reduction blocks.
  [[nodiscard]] std::int64_t ready(int part, std::int64_t rows) const;

  // Looks up the batch, and the addresses of operands and results on every part. They stay valid until the step ends.
  void look_up(const Execution& run);
  // Views of the operator's results on a part.
  [[nodiscard]] std::span<const View> outputs(int part) const { return outputs_[static_cast<size_t>(part)]; }
  // Adds rows of the result's space on a part to the next run_calls(); an empty range adds nothing. `waiting` is as in
  // ProductCall. The calls of one run_calls() are independent.
  void add_call(int part, Range range, RowWork work = RowWork::all, View waiting = {});
  void run_calls(Execution& run);
  // Rows whose nonzeros go by, some at a time. The vector work of an epilogue follows behind the last of them, since a
  // block of rows may have more nonzeros than there is room for.
  void pass_rows(Execution& run, int part, Range rows, RowWork work = RowWork::all, const View& waiting = {});
  // Where passes over a matrix that goes by end: its rows, but for the last one.
  [[nodiscard]] virtual std::vector<std::int64_t> cuts(const Execution& run, int part) const;

 private:
  [[nodiscard]] ProductCall call_of(int part, Range range, RowWork work, const View& waiting) const;

  MatrixStore& matrices_;
  ValueId index_;  // of the matrix's batch, or no_value
  int place_;
  ValueId made_;
  std::int64_t batch_ = 0;
  std::vector<std::vector<View>> inputs_, outputs_;  // [part]
  std::vector<ProductCall> calls_;
};

}  // namespace kasen::executor
