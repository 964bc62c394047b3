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

  // If a scatter is under way, rows that need no ghost come first. The ghosts' rows come next; they travel while the
  // other rows are computed.
  void run(Execution& run) override {
    const bool alone = run.transport.workers() == 1;
    look_up(run);
    for (int p = 0; p < run.part_count(); ++p) {
      start_accumulators(run, op, accumulators_, outputs(p), p);
      some(run, p, RowWork::all, {0, early(p, settled(run, p))});
    }
    run_calls(run);
    finish_leader(run);
    for (int p = 0; p < run.part_count() && !alone; ++p) {
      some(run, p, RowWork::product, {masters(run, p), matrix(p).outputs});
    }
    run_calls(run);
    if (!alone) gather_->begin(run);
    for (int p = 0; p < run.part_count(); ++p) {
      some(run, p, RowWork::all, {early(p, settled(run, p)), settled(run, p)});
      some(run, p, RowWork::product, {settled(run, p), masters(run, p)});
    }
    run_calls(run);
    if (!alone && run.options.refuse_nan) look_for_nan(run);
    if (!alone) gather_->run(run);
    for (int p = 0; p < run.part_count(); ++p) some(run, p, RowWork::vector, {settled(run, p), masters(run, p)});
    run_calls(run);
  }

 private:
  [[nodiscard]] std::int64_t settled(const Execution& run, int part) const {
    return settled_masters(run.numbering.space(run.storage.info(made()).space, part));
  }

  void look_for_nan(Execution& run) const {
    std::vector<Range> waiting;
    for (int p = 0; p < run.part_count(); ++p) waiting.push_back({settled(run, p), matrix(p).outputs});
    run.look_for_nan(*this, waiting);
  }

  void some(const Execution& run, int part, RowWork work, Range range) {
    add_call(part, range, work, run.storage.view(made(), part));
  }

  std::unique_ptr<Step> gather_;
  std::vector<FnId> accumulators_;
};

}  // namespace

std::unique_ptr<Step> make_epilogue_step(Execution& run, MatrixStore& matrices, const Op& region, int number) {
  return std::make_unique<EpilogueStep>(run, matrices, region, number);
}

}  // namespace kasen::executor
