// A product with an element-wise epilogue. If no ghost contributes to an element, its vector work follows its row at
// once. Rows of other owned elements wait in the product's buffer until the gather has brought the rest.
#include "libcore/base/error.h"
#include "libcore/ir/regions.h"
#include "libcore/run/executor_product.h"

namespace kasen::executor {
namespace {

class EpilogueStep : public SparseStep {
 public:
  EpilogueStep(Execution& run, MatrixStore& matrices, const Op& decoded, int at)
      : SparseStep(run, matrices, decoded, at, epilogue_product(decoded)),
        gather_(make_transition_step(run, epilogue_gather(decoded), at)),
        accumulators_(accumulators(run.module, op.blocks[0].ops, op.blocks[0].ops.back().operands)) {
    if (run.storage.info(made()).slot < 0) {
      fail(ExitStatus::bad_input, "the product of a product_epilogue region has no buffer",
           "its rows wait there for contributions of other workers", "fuse the program again", op.where);
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override { return gather_->packing_bytes(part); }

  void run(Execution& /*run*/) override { throw InternalError("a product_epilogue region runs by rows"); }

  void run_rows(Execution& run, LineRows rows) override {
    look_up(run);
    const bool begins = rows == LineRows::ready || (rows == LineRows::ghosts && !some_ready_);
    for (int p = 0; p < run.part_count(); ++p) {
      if (begins) start_accumulators(run, op, accumulators_, outputs(p), p);
      add(run, p, rows);
    }
    run_calls(run);
    some_ready_ = rows == LineRows::ready || (some_ready_ && rows != LineRows::joined);
    if (rows == LineRows::rest && !alone(run) && run.options.refuse_nan) look_for_nan(run);
  }

  // The ghosts' rows travel while the other rows are computed. One worker has none.
  void start(Execution& run) override {
    if (!alone(run)) gather_->start(run);
  }
  void wait(Execution& run) override {
    if (!alone(run)) gather_->wait(run);
  }

 private:
  static bool alone(const Execution& run) { return run.transport.workers() == 1; }

  // No row of a matrix that goes by is ready before the others.
  void add(Execution& run, int part, LineRows rows) {
    const std::int64_t owned = masters(run, part), done = settled(run, part);
    const bool some_early = some_ready_ || rows == LineRows::ready;
    const std::int64_t early = some_early && !goes_by(part) ? ready(part, done) : 0;
    if (rows == LineRows::ready) some(run, part, RowWork::all, {0, early});
    if (rows == LineRows::ghosts) some(run, part, RowWork::product, {owned, matrix(part).outputs});
    if (rows == LineRows::rest) {
      some(run, part, RowWork::all, {early, done});
      some(run, part, RowWork::product, {done, owned});
    }
    if (rows == LineRows::joined) some(run, part, RowWork::vector, {done, owned});
  }

  [[nodiscard]] std::int64_t settled(const Execution& run, int part) const {
    return settled_masters(run.numbering.space(run.storage.info(made()).space, part));
  }

  void look_for_nan(Execution& run) const {
    std::vector<Range> waiting;
    for (int p = 0; p < run.part_count(); ++p) waiting.push_back({settled(run, p), matrix(p).outputs});
    run.look_for_nan(*this, waiting);
  }

  void some(Execution& run, int part, RowWork work, Range range) {
    const View& waiting = run.storage.view(made(), part);
    if (goes_by(part) && work != RowWork::vector) return pass_rows(run, part, range, work, waiting);
    add_call(part, range, work, waiting);
  }

  [[nodiscard]] std::vector<std::int64_t> cuts(const Execution& run, int part) const override {
    return {settled(run, part), masters(run, part)};
  }

  std::unique_ptr<Step> gather_;
  std::vector<FnId> accumulators_;
  bool some_ready_ = false;  // the ready rows have run
};

}  // namespace

std::unique_ptr<Step> make_epilogue_step(Execution& run, MatrixStore& matrices, const Op& region, int number) {
  return std::make_unique<EpilogueStep>(run, matrices, region, number);
}

}  // namespace kasen::executor
