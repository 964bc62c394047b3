// Operators that need whole lines or arrays: each worker works on those that it has (an axis operator, linear algebra).
#include <algorithm>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/linear/linear.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

class AxisStep : public Step {
 public:
  using Step::Step;

  void run(Execution& run) override {
    for (int p = 0; p < run.part_count(); ++p) {
      const ValueId made = op.results[0];
      const bool grouping = is_grouping(op);
      if (grouping ? !has_operands(run, p) : !has_result(run, made, p)) continue;
      std::vector<View> inputs;
      for (const ValueId v : op.operands) inputs.push_back(run.storage.view(v, p));
      AxisCall call;
      call.op = &run.forms.op_on(p, op, number);
      call.module = &run.forms.module(p);
      call.inputs = inputs;
      call.output = run.storage.view(made, p);
      call.indices = indices(run, p);
      if (grouping) store_identity(run, op.fns.at(0), call.output, run.storage.elements(made, p));
      run.forms.kernels(run.forms.shape(p)).axis(call);
      for (const ValueId v : std::set<ValueId>(op.operands.begin(), op.operands.end())) {
        run.count(number).read_bytes += touched(run, v, call.indices, p);
      }
      run.count(number).written_bytes += touched(run, made, call.indices, p);
    }
  }

 private:
  // A reduction of contributions takes each element at its owner.
  [[nodiscard]] std::int64_t indices(const Execution& run, int part) const {
    const Layout made(run.module, op.results[0]);
    if (!is_grouping(op) || made.is_distributed()) return run.storage.indices(op.results[0], part);
    const ValueId walked = op.operands[walked_operand(run.module, op)];
    return Layout(run.module, walked).is_shared() ? 1 : run.storage.masters(walked, part);
  }

  // A worker that lacks the array or the keys contributes nothing: their memory may hold anything.
  [[nodiscard]] bool has_operands(const Execution& run, int part) const {
    if (!run.forms.are_boxes()) return true;
    const int worker = run.parts[static_cast<size_t>(part)].worker;
    return std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
      return stored_elements(run.plan, run.plan.type(run.forms.first().original(v)), worker).none;
    });
  }

  // Elsewhere the operands may be undefined, and so places of a take anything.
  static bool has_result(const Execution& run, ValueId made, int part) {
    if (!run.forms.are_boxes()) return true;
    return !stored_elements(run.plan, run.plan.type(made), run.parts[static_cast<size_t>(part)].worker).none;
  }

  // Shareds are charged elsewhere, as those of all operators.
  static std::int64_t touched(const Execution& run, ValueId value, std::int64_t indices, int part) {
    const Type& type = run.module.type(value);
    if (Layout(run.module, type).is_shared()) return 0;
    return indices * run.storage.inner(value, part) * type.element.bytes();
  }
};

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

std::unique_ptr<Step> make_axis_step(const Op& op, int number) { return std::make_unique<AxisStep>(op, number); }

std::unique_ptr<Step> make_linear_step(const Op& op, int number) { return std::make_unique<LinearStep>(op, number); }

}  // namespace kasen::executor
