// A region of rows (libcore/rows): each part's rows in one call. Arrays of rows on a disk go by, share by share.
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/rows/row_region.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

class RowsStep : public Step {
 public:
  RowsStep(const Execution& run, MatrixStore& matrices, const Op& decoded, int at)
      : Step(decoded, at), rows_(worked_rows(run.module, decoded.blocks.at(0).ops.at(0))), matrices_(matrices) {
    const std::vector<Op>& ops = op.blocks[0].ops;
    for (const Op& inner : ops) {
      if (!visits_entries(run.module, inner)) continue;
      place_ = matrices.find(run, inner, true);
      index_ = MatrixStore::batch_index(run, product_matrix(inner));
    }
    for (const ValueId v : ops.back().operands) {
      FnId reducer = no_fn;
      for (const Op& inner : ops) {
        if (inner.code == OpCode::yield || inner.results[0] != v || !is_total(inner, rows_)) continue;
        reducer = total_reducer(inner);
      }
      totals_.push_back(reducer);
    }
  }

  void run(Execution& run) override {
    if (index_ != no_value) batch_ = run.shared_word(index_).i;
    for (int p = 0; p < run.part_count(); ++p) {
      inputs_.clear();
      outputs_.clear();
      for (const ValueId v : op.operands)
        inputs_.push_back(run.module.type(v).sparse ? View{} : run.storage.view(v, p));
      for (const ValueId v : op.results) outputs_.push_back(run.storage.view(v, p));
      start_accumulators(run, op, totals_, outputs_, p);
      if (goes_by(p)) {
        go_by(run, p);
        continue;
      }
      const auto window = place_ < 0 ? run.pass(*this, p) : nullptr;
      RowsCall call{&op, inputs_, outputs_, run.numbering.masters(rows_, p), window.get(), matrix(p)};
      run.kernels.rows(call);
      if (window != nullptr) run.end_pass(*this, p, *window);
    }
  }

  // Beside a sparse matrix, whose nonzeros may go by, arrays stay in memory.
  [[nodiscard]] std::int64_t rows_at_once(const Execution& run, int part) const override {
    return place_ < 0 ? row_blocks(row_sizes(run.module, op), run.numbering.masters(rows_, part)).share_rows : 0;
  }

  [[nodiscard]] std::optional<EntryUse> entries(const Execution& /*run*/, int part) const override {
    if (!goes_by(part)) return std::nullopt;
    return EntryUse{&matrices_.entries(place_, part), {0, matrix(part)->entries()}};
  }

 private:
  [[nodiscard]] const LocalMatrix* matrix(int part) const {
    return place_ < 0 ? nullptr : &matrices_.matrix(place_, part, batch_);
  }

  [[nodiscard]] bool goes_by(int part) const { return place_ >= 0 && !matrices_.entries(place_, part).arrays.empty(); }

  // Some blocks of rows after others, as many as have room for their nonzeros. Totals go on from call to call.
  void go_by(Execution& run, int part) {
    const PassingEntries& passing = matrices_.entries(place_, part);
    const std::int64_t rows = run.numbering.masters(rows_, part);
    const std::int64_t* const pointers = matrix(part)->pointers.data();
    const auto window = run.pass_some(*this, part, passing, 0, pointers[rows]);
    RowsCall call{&op, inputs_, outputs_, rows, nullptr, matrix(part)};
    if (window == nullptr) return run.kernels.rows(call);
    const RowBlocks blocks = row_blocks(row_sizes(run.module, op), rows, pointers[rows]);
    for (; call.first < rows; call.first = call.rows) {
      call.rows = end_of_call(blocks, call.first, rows, passing.at_once, pointers);
      window->enter(pointers[call.first], pointers[call.rows]);
      run.kernels.rows(call);
      window->leave(pointers[call.first], pointers[call.rows]);
    }
    run.end_pass(*this, part, *window);
  }

  const DimId rows_;
  MatrixStore& matrices_;
  int place_ = -1;            // of the sparse matrix's form
  ValueId index_ = no_value;  // of the batch that it is
  std::int64_t batch_ = 0;
  std::vector<FnId> totals_;  // [result] the reducer, or no_fn
  std::vector<View> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Step> make_rows_step(const Execution& run, MatrixStore& matrices, const Op& op, int number) {
  return std::make_unique<RowsStep>(run, matrices, op, number);
}

}  // namespace kasen::executor
