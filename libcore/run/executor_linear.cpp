// Linear algebra: every worker works on the whole arrays that it holds.
#include "libcore/linear/linear.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

class LinearStep : public Step {
 public:
  using Step::Step;

  void run(Execution& run) override {
    for (int p = 0; p < run.part_count(); ++p) {
      std::vector<View> inputs, outputs;
      for (const ValueId v : op.operands) inputs.push_back(run.storage.view(v, p));
      for (const ValueId v : op.results) outputs.push_back(run.storage.view(v, p));
      LinearCall call = linear_call(run.forms.module(p), op);
      call.inputs = inputs;
      call.outputs = outputs;
      run.forms.kernels(run.forms.shape(p)).linear(call);
    }
  }
};

}  // namespace

std::unique_ptr<Step> make_linear_step(const Op& op, int number) { return std::make_unique<LinearStep>(op, number); }

}  // namespace kasen::executor
