// A product with an element-wise epilogue. The vector work of an element follows its row at once where no slave
// contributes to it; rows of other masters wait in the product's buffer until the gather has brought the rest.
#include <algorithm>

#include "libcore/error.h"
#include "libcore/executor_steps.h"
#include "libcore/regions.h"

namespace kasen::executor {
namespace {

class EpilogueStep : public Step {
 public:
  EpilogueStep(Execution& run, MatrixStore& matrices, const Op& decoded, int at)
      : Step(decoded, at),
        matrices_(matrices),
        place_(matrices.add(run, epilogue_product(decoded))),
        made_(epilogue_product(decoded).results.at(0)),
        gather_(make_transition_step(run, epilogue_gather(decoded), at)),
        accumulators_(accumulators(run.module, op.blocks[0].ops, op.blocks[0].ops.back().operands)) {
    if (run.storage.info(made_).slot < 0) {
      fail(ExitStatus::bad_input, "the product of a product_epilogue region has no buffer",
           "its rows wait there for what other workers contribute", "fuse the program again", op.where);
    }
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override { return gather_->packing_bytes(part); }

  // Slaves' rows first: they travel while the masters' are computed.
  void run(Execution& run) override {
    const bool alone = run.transport.workers() == 1;
    for (int p = 0; p < run.part_count(); ++p) {
      gather_views(run, p);
      start_accumulators(run, op, accumulators_, outputs_);
      if (!alone) call(run, p, RowWork::product, {masters(run, p), matrices_.matrix(place_, p).outputs});
    }
    if (!alone) gather_->begin(run);
    for (int p = 0; p < run.part_count(); ++p) {
      call(run, p, RowWork::all, {0, settled(run, p)});
      call(run, p, RowWork::product, {settled(run, p), masters(run, p)});
    }
    if (!alone) gather_->run(run);
    for (int p = 0; p < run.part_count(); ++p) call(run, p, RowWork::vector, {settled(run, p), masters(run, p)});
  }

 private:
  [[nodiscard]] std::int64_t masters(const Execution& run, int part) const { return run.storage.masters(made_, part); }
  [[nodiscard]] std::int64_t settled(const Execution& run, int part) const {
    return settled_masters(run.numbering.space(run.storage.info(made_).space, part));
  }

  void gather_views(const Execution& run, int part) {
    inputs_.clear();
    outputs_.clear();
    for (const ValueId v : op.operands) {
      inputs_.push_back(run.module.type(v).sparse ? View{} : run.storage.view(v, part));
    }
    for (const ValueId v : op.results) outputs_.push_back(run.storage.view(v, part));
  }

  void call(Execution& run, int part, RowWork work, Range range) {
    if (range.size() == 0) return;
    gather_views(run, part);
    ProductCall made;
    made.op = &op;
    made.matrix = &matrices_.matrix(place_, part);
    made.inputs = inputs_;
    made.outputs = outputs_;
    made.range = range;
    made.work = work;
    made.waiting = run.storage.view(made_, part);
    run.kernels.product(made);
  }

  MatrixStore& matrices_;
  int place_;
  ValueId made_;  // the product's result
  std::unique_ptr<Step> gather_;
  std::vector<FnId> accumulators_;
  std::vector<View> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Step> make_epilogue_step(Execution& run, MatrixStore& matrices, const Op& region, int number) {
  return std::make_unique<EpilogueStep>(run, matrices, region, number);
}

}  // namespace kasen::executor
