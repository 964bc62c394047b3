// Operators that need whole lines or arrays: each worker works on those that it has (an axis operator, linear algebra).
// And scans of lines that are cut.
#include <algorithm>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/boxes/box_exchange.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/linear/linear.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

// Elsewhere the operands may be undefined: places of a take, and matrices, may hold anything.
bool has_result(const Execution& run, ValueId made, int part) {
  if (!run.forms.are_boxes()) return true;
  return !stored_elements(run.plan, run.plan.type(made), run.parts[static_cast<size_t>(part)].worker).none;
}

class AxisStep : public Step {
 public:
  using Step::Step;

  void run(Execution& run) override {
    for (int p = 0; p < run.part_count(); ++p) {
      const ValueId made = op.results[0];
      const bool grouping = is_grouping(op);
      if (grouping ? !has_operands(run, p) : !has_result(run, made, p)) continue;
      const std::int64_t rows = indices(run, p);
      if (grouping) {
        store_identity(run, op.fns.at(0), run.storage.view(made, p), run.storage.elements(made, p));
        group(run, p, rows);
      } else {
        run.go_by(*this, p, rows, [&](std::int64_t begin, std::int64_t end) { work(run, p, {begin, end}); });
      }
      for (const ValueId v : std::set<ValueId>(op.operands.begin(), op.operands.end())) {
        run.count(number).read_bytes += touched(run, v, rows, p);
      }
      run.count(number).written_bytes += touched(run, made, rows, p);
    }
  }

  // Lines of owned rows, each by itself; and reductions of rows to arrays that are whole everywhere.
  [[nodiscard]] std::int64_t rows_at_once(const Execution& run, int part) const override {
    const bool grouping = is_grouping(op);
    const ValueId rows = grouping ? op.operands[walked_operand(run.module, op)] : op.results[0];
    const DimId cut = run.storage.info(rows).cut;
    if (run.forms.are_boxes() || !reads_whole.empty() || !makes_whole.empty() || cut == no_dim) return 0;
    if (grouping && run.storage.info(op.results[0]).cut != no_dim) return 0;  // rows, in blocks of all elements
    std::int64_t row = 1;
    for (const std::vector<ValueId>* values : {&op.operands, &op.results}) {
      for (const ValueId v : *values) {
        const ValueInfo& info = run.storage.info(v);
        if (info.cut == no_dim) continue;
        const Type& type = run.module.type(v);
        const bool one_plane = grouping || type.element.planes() == 1;  // work() moves views by elements of one size
        if (info.slot < 0 || info.cut != cut || !type.state.is_part() || !one_plane) return 0;
        row += run.storage.inner(v, part) * type.element.bytes();
      }
    }
    return std::max<std::int64_t>(1, run.options.pass_bytes / row);
  }

 private:
  [[nodiscard]] AxisCall call_on(const Execution& run, int part, std::vector<View>& inputs) const {
    for (const ValueId v : op.operands) inputs.push_back(run.storage.view(v, part));
    AxisCall call;
    call.op = &run.forms.op_on(part, op, number);
    call.module = &run.forms.module(part);
    call.output = run.storage.view(op.results[0], part);
    return call;
  }

  void work(Execution& run, int part, Range rows) const {
    std::vector<View> inputs;
    AxisCall call = call_on(run, part, inputs);
    const auto move = [&](ValueId v, View& view) {
      const ElementType& element = run.module.type(v).element;
      if (rows.begin > 0 && run.storage.info(v).cut != no_dim)
        view.data += rows.begin * run.storage.inner(v, part) * element.bytes();
    };
    for (size_t i = 0; i < inputs.size(); ++i) move(op.operands[i], inputs[i]);
    move(op.results[0], call.output);
    call.inputs = inputs;
    call.indices = rows.size();
    run.forms.kernels(run.forms.shape(part)).axis(call);
  }

  void group(Execution& run, int part, std::int64_t rows) const {
    std::vector<View> inputs;
    AxisCall call = call_on(run, part, inputs);
    call.inputs = inputs;
    call.indices = rows;
    const auto window = run.pass(*this, part);
    if (window != nullptr) call.at_once = rows_at_once(run, part);
    call.gate = window.get();
    run.forms.kernels(run.forms.shape(part)).axis(call);
    if (window != nullptr) run.end_pass(*this, part, *window);
  }

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

  // Shareds are charged elsewhere, as those of all operators.
  static std::int64_t touched(const Execution& run, ValueId value, std::int64_t indices, int part) {
    const Type& type = run.module.type(value);
    if (Layout(run.module, type).is_shared()) return 0;
    return indices * run.storage.inner(value, part) * type.element.bytes();
  }
};

// A scan whose lines are cut (libcore/boxes/box_exchange.h). Each worker scans its parts of them. What these come to
// goes from worker to worker, and each takes up what it gets. The order is that of the parts, whatever the ranks.
class CarriedScan : public AxisStep {
 public:
  CarriedScan(const Execution& run, const Op& decoded, const Op& planned, int at)
      : AxisStep(decoded, at), element_(run.module.fn(op.fns.at(0)).result()) {
    for (const Part& part : run.parts) carries_.push_back(carry_exchange(run.plan, planned, part.worker));
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override {
    return carries_[static_cast<size_t>(part)].packing;
  }

  void run(Execution& run) override {
    AxisStep::run(run);
    const std::int64_t rounds = carries_.at(0).places - 1;  // as on all workers
    for (std::int64_t round = 0; round < rounds; ++round) hand_on(run, round);
    for (int p = 0; p < run.part_count(); ++p) {
      const CarryExchange& carry = carries_[static_cast<size_t>(p)];
      const std::int64_t elements = carry.lines.lines() * carry.lines.length;
      if (carry.place == 0 || elements == 0) continue;
      combine(run, p, run.storage.view(op.results[0], p), carry.lines);
      run.charge_moved(op.results[0], number, elements, elements);
    }
  }

 private:
  void hand_on(Execution& run, std::int64_t round) {
    sends_.clear();
    receives_.clear();
    for (int p = 0; p < run.part_count(); ++p) {
      const CarryExchange& carry = carries_[static_cast<size_t>(p)];
      const int worker = run.parts[static_cast<size_t>(p)].worker;
      if (carry.bytes == 0) continue;
      if (carry.place == round) {
        come_to(run, p);
        const View all = sent(run, p);
        if (is_packed()) to_message(element_, all, 0, all.capacity, message_of(run, p, all));
        sends_.push_back({worker, carry.behind, message_of(run, p, all), carry.bytes});
        run.charge(number, carry.bytes);
      }
      if (carry.place == round + 1) {
        receives_.push_back({carry.before, worker, message_of(run, p, taken(run, p)), carry.bytes});
      }
    }
    run.began(RunPhase::start, number);
    const int ticket = run.start(*this, sends_, receives_);
    run.ended(RunPhase::start, number);
    run.began(RunPhase::finish, number);
    run.transport.finish(ticket);
    for (const Message& received : receives_) unpack(run, received);
    run.ended(RunPhase::finish, number);
  }

  // What the parts of lines up to this worker's come to: its own last elements, behind what it got. Without elements
  // it hands on what it got. The first worker lacks elements only if all do: then nobody reads what it sends.
  void come_to(Execution& run, int p) const {
    const CarryExchange& carry = carries_[static_cast<size_t>(p)];
    const View& to = sent(run, p);
    const std::int64_t lines = carry.lines.lines();
    if (carry.lines.length == 0) {
      if (carry.place > 0) return copy_elements(element_, taken(run, p), to, 0, lines);
      std::fill_n(to.data, storage_bytes(element_, lines), std::byte{0});
      return;
    }
    const AxisLines& own = carry.lines;
    for (std::int64_t plane = 0; plane < element_.planes(); ++plane) {
      const View& made = run.storage.view(op.results[0], p);
      const std::int64_t row = own.inner * scalar_bytes(element_.plane_scalar(plane));
      const std::byte* last = made.data + plane_offset(element_, made.capacity, plane) + (own.length - 1) * row;
      std::byte* at = to.data + plane_offset(element_, to.capacity, plane);
      for (std::int64_t o = 0; o < own.outer; ++o, last += own.length * row) at = std::copy_n(last, row, at);
    }
    if (carry.place > 0) combine(run, p, to, {own.outer, 1, own.inner});
  }

  void combine(Execution& run, int p, const View& array, const AxisLines& lines) const {
    run.forms.kernels(run.forms.shape(p)).carry({op.fns[0], taken(run, p), array, lines});
  }

  [[nodiscard]] View taken(Execution& run, int p) const {
    return {run.packing(p), carries_[static_cast<size_t>(p)].lines.lines()};
  }
  [[nodiscard]] View sent(Execution& run, int p) const {
    const CarryExchange& carry = carries_[static_cast<size_t>(p)];
    return {run.packing(p) + carry.sent_at, carry.lines.lines()};
  }

  // Elements of one plane are a message as they are.
  [[nodiscard]] bool is_packed() const { return element_.planes() > 1; }
  std::byte* message_of(Execution& run, int p, const View& elements) const {
    return is_packed() ? run.packing(p) + carries_[static_cast<size_t>(p)].message_at : elements.data;
  }
  void unpack(Execution& run, const Message& received) const {
    const int p = received.to - run.transport.first_worker();
    if (is_packed()) from_message(element_, received.data, taken(run, p).capacity, taken(run, p), 0);
  }

  ElementType element_;
  std::vector<CarryExchange> carries_;  // by part
  std::vector<Message> sends_, receives_;
};

class LinearStep : public Step {
 public:
  LinearStep(const Execution& run, const Op& decoded, const Op& planned, int at)
      : Step(decoded, at), without_q_(op.code == OpCode::qr) {
    if (run.options.refuse_nan) without_q_ = false;  // which looks at all results
    for_each_op(run.plan, [&](const Op& other, int, int) {
      if (contains(other.operands, planned.results[0])) without_q_ = false;
    });
  }

  void run(Execution& run) override {
    for (int p = 0; p < run.part_count(); ++p) {
      if (!has_result(run, op.results[0], p)) continue;
      std::vector<View> inputs, outputs;
      for (const ValueId v : op.operands) inputs.push_back(run.storage.view(v, p));
      for (const ValueId v : op.results) outputs.push_back(run.storage.view(v, p));
      if (without_q_) outputs[0].data = nullptr;
      const Module& here = run.forms.module(p);
      LinearCall call =
          linear_call(here, run.forms.op_on(p, op, number), [&](DimId dim) { return here.dim(dim).size; });
      call.inputs = inputs;
      call.outputs = outputs;
      run.forms.kernels(run.forms.shape(p)).linear(call);
    }
  }

 private:
  bool without_q_;  // nobody reads it
};

}  // namespace

std::unique_ptr<Step> make_axis_step(const Execution& run, const Op& op, const Op& planned, int number) {
  if (run.forms.are_boxes() && carried_axes(run.plan, planned) != 0) {
    return std::make_unique<CarriedScan>(run, op, planned, number);
  }
  return std::make_unique<AxisStep>(op, number);
}

std::unique_ptr<Step> make_linear_step(const Execution& run, const Op& op, const Op& planned, int number) {
  return std::make_unique<LinearStep>(run, op, planned, number);
}

}  // namespace kasen::executor
