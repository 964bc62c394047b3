// Steps that compute element by element: map, reduce, iter_on_vec regions, and functions of shareds.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "libcore/analysis/state_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libcore/kernels/interpreter_program.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

// Operands whose ghosts are numbered differently from the result's: their ghosts, in the order of the result's space.
struct Repack {
  size_t operand = 0;                           // index among the call's inputs
  std::vector<std::vector<std::int32_t>> from;  // [part][ghost of the result's space] local index in the operand's
  std::vector<Bytes> memory;                    // [part]
  std::vector<View> views;
};

class ElementwiseStep : public Step {
 public:
  ElementwiseStep(Execution& run, const Op& decoded, int at) : Step(decoded, at) {
    if (op.code == OpCode::region) {
      const std::vector<Op>& ops = op.blocks.at(0).ops;
      for (size_t i = 0; i + 1 < ops.size(); ++i) look_at(run, ops[i]);
      accumulators_ = accumulators(run.module, ops, ops.back().operands);
    } else {
      look_at(run, op);
      accumulators_ = accumulators(run.module, {&op, 1}, op.results);
    }
    if (slave_set_) prepare_slaves(run);
  }

  void run(Execution& run) override {
    inputs_.resize(run.parts.size());
    outputs_.resize(run.parts.size());
    for (int p = 0; p < run.part_count(); ++p) {
      look_up(run, p);
      start_accumulators(run, op, accumulators_, outputs_[static_cast<size_t>(p)], p);
      add_masters(run, p);
    }
    if (run.storage.has_passing()) {
      run_calls_by_part(run);
    } else {
      run_calls(run);
    }
    for (int p = 0; p < run.part_count(); ++p) add_slaves(run, p);
    run_calls(run);
  }

  // Whole blocks of the kernels' reductions, about as many bytes as are brought at a time.
  [[nodiscard]] std::int64_t rows_at_once(const Execution& run, int part) const override {
    if (cut_ == no_dim || slave_set_ || views_rows_) return 0;
    std::int64_t row = 1;
    for (const std::vector<ValueId>* values : {&op.operands, &op.results}) {
      for (const ValueId v : *values) {
        if (run.storage.info(v).cut == no_dim) continue;
        row += run.storage.inner(v, part) * run.module.type(v).element.bytes();
      }
    }
    return reduction_block * std::max<std::int64_t>(1, run.options.pass_bytes / (reduction_block * row));
  }

 private:
  // Collects the needs of one operator: the cut dimension, the widest inner size, and the ghosts on which it runs.
  void look_at(Execution& run, const Op& inner) {
    const Module& module = run.module;
    // Some indices of a local dimension are in the same row.
    views_rows_ = views_rows_ ||
                  (is_view(inner) && run.storage.info(viewed(inner)).cut != run.storage.info(inner.results[0]).cut);
    for (const ValueId v : inner.operands) {
      if (!is_view(inner)) widen(module, v);  // a view's array is read in the view's space
    }
    for (const ValueId v : inner.results) widen(module, v);
    const Type& result = module.type(inner.results.at(0));
    const bool reduces = inner.code == OpCode::reduce && Layout(module, result).is_shared();
    const Type& ruling = reduces ? module.type(inner.operands.at(0)) : result;
    const State& state = ruling.state;
    const bool shared = Layout(module, ruling).is_shared();
    const bool slaves = !shared && (state.is_pre() || (state.is_cons() && !reduces));
    const LawUse* law = law_in_force(module, inner);
    const bool handed_on = law != nullptr && law->kind == LawKind::pushdown;
    everywhere_ = everywhere_ && slaves && !handed_on;
    if (!slaves) return;
    if (slave_set_ && *slave_set_ != state.slaves) {
      fail(ExitStatus::bad_input, "a region computes on two sets of slaves",
           "its operators run in one loop over one set", "fuse the program again", op.where);
    }
    slave_set_ = state.slaves;
    for (size_t i = 0; i < inner.operands.size(); ++i) {
      if (handed_on && static_cast<int>(i) != law->operand) continue;
      const auto at = std::find(op.operands.begin(), op.operands.end(), inner.operands[i]);
      if (at != op.operands.end()) used_on_slaves_.insert(static_cast<size_t>(at - op.operands.begin()));
    }
    if (!handed_on || op.code == OpCode::region) return;
    copied_slaves_ = static_cast<size_t>(law->operand);
    const Type& kept = module.type(op.operands[*copied_slaves_]);
    if (kept.dims != result.dims) repeated_ = interpreter::broadcast(module, result, kept);
  }

  void widen(const Module& module, ValueId value) {
    const Type& type = module.type(value);
    if (widest_ == no_value || type.dims.size() > module.type(widest_).dims.size()) widest_ = value;
    const DimId cut = Layout(module, type).cut();
    if (cut == no_dim) return;
    if (cut_ != no_dim && cut_ != cut) {
      fail(ExitStatus::bad_input,
           fmt::format("an array over {} meets one over {} element by element", module.dim(cut).name,
                       module.dim(cut_).name),
           "only one of them is cut the way the other is", "make one of the dimensions local", op.where);
    }
    cut_ = cut;
  }

  void prepare_slaves(Execution& run) {
    space_ = run.numbering.find(cut_, *slave_set_);
    if (copied_slaves_) return;
    for (const size_t i : used_on_slaves_) {
      const ValueInfo& info = run.storage.info(op.operands[i]);
      if (info.space == space_ || info.cut == no_dim) continue;
      repacks_.push_back(make_repack(run, i, info));
    }
  }

  Repack make_repack(Execution& run, size_t operand, const ValueInfo& info) const {
    Repack made;
    made.operand = operand;
    const ElementType& element = run.module.type(op.operands[operand]).element;
    for (int p = 0; p < run.part_count(); ++p) {
      const LocalSpace& from = run.numbering.space(info.space, p);
      const LocalSpace& to = run.numbering.space(space_, p);
      std::map<std::int64_t, std::int32_t> known;
      for (std::int64_t i = from.masters; i < from.total; ++i) {
        known.emplace(from.global(i), static_cast<std::int32_t>(i));
      }
      std::vector<std::int32_t>& list = made.from.emplace_back();
      for (std::int64_t i = to.masters; i < to.total; ++i) {
        const auto it = known.find(to.global(i));
        if (it == known.end()) throw InternalError("an operand lacks slaves that the result holds");
        list.push_back(it->second);
      }
      made.memory.emplace_back(storage_bytes(element, to.total * info.inner));
      made.views.push_back({made.memory.back().data(), to.total * info.inner});
      run.result.parts[static_cast<size_t>(p)].exchange_bytes += made.memory.back().size();
    }
    return made;
  }

  void look_up(const Execution& run, int part) {
    std::vector<View>& inputs = inputs_[static_cast<size_t>(part)];
    std::vector<View>& outputs = outputs_[static_cast<size_t>(part)];
    inputs.clear();
    outputs.clear();
    for (const ValueId v : op.operands) inputs.push_back(run.storage.view(v, part));
    for (const ValueId v : op.results) outputs.push_back(run.storage.view(v, part));
  }

  // True if one loop covers owned elements and ghosts, since all operators run on both.
  [[nodiscard]] bool in_one_loop() const { return everywhere_ && repacks_.empty(); }

  void add_masters(const Execution& run, int part) {
    if (cut_ == no_dim) return add_call(run, part, {0, 1}, false);
    const bool both = slave_set_ && in_one_loop();
    add_call(run, part, {0, both ? run.numbering.space(space_, part).total : run.numbering.masters(cut_, part)}, false);
  }

  void add_slaves(Execution& run, int part) {
    if (cut_ == no_dim || !slave_set_ || in_one_loop()) return;
    const std::int64_t masters = run.numbering.masters(cut_, part);
    const std::int64_t total = run.numbering.space(space_, part).total;
    if (copied_slaves_) return keep_slaves(run, part, masters, total);
    for (const Repack& repack : repacks_) fill_repack(run, repack, part, masters);
    add_call(run, part, {masters, total}, true);
  }

  // For a pushdown map alone: the result's ghosts are those of the pre-reduced operand, repeated along dimensions that
  // it lacks.
  void keep_slaves(Execution& run, int part, std::int64_t masters, std::int64_t total) const {
    const ValueId from = op.operands[*copied_slaves_], to = op.results[0];
    const ValueInfo &kept = run.storage.info(from), &made = run.storage.info(to);
    if (kept.slot == made.slot) return;
    const ElementType& element = run.module.type(to).element;
    const View &source = run.storage.view(from, part), &target = run.storage.view(to, part);
    if (repeated_.empty()) {
      copy_elements(element, source, target, masters * made.inner, total * made.inner);
    } else {
      repeat_elements(element, source, target, {masters, total}, kept.inner);
    }
    OpCount& count = run.count(number);
    count.read_bytes += (total - masters) * kept.inner * element.bytes();
    count.written_bytes += (total - masters) * made.inner * element.bytes();
  }

  // Repeats elements at each index in the range; `inner` is the number of source elements for each index.
  void repeat_elements(const ElementType& element, const View& from, const View& to, Range range,
                       std::int64_t inner) const {
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(element.plane_scalar(p));
      const std::byte* source = from.data + plane_offset(element, from.capacity, p) + range.begin * inner * size;
      std::byte* target = to.data + plane_offset(element, to.capacity, p) +
                          range.begin * static_cast<std::int64_t>(repeated_.size()) * size;
      for (std::int64_t i = range.begin; i < range.end; ++i, source += inner * size) {
        for (const size_t place : repeated_) {
          target = std::copy_n(source + static_cast<std::int64_t>(place) * size, size, target);
        }
      }
    }
  }

  void fill_repack(const Execution& run, const Repack& repack, int part, std::int64_t masters) {
    const ValueId value = op.operands[repack.operand];
    const ElementType& element = run.module.type(value).element;
    const std::int64_t inner = run.storage.info(value).inner;
    View& operand = inputs_[static_cast<size_t>(part)][repack.operand];
    const View from = operand;
    const View& to = repack.views[static_cast<size_t>(part)];
    const std::vector<std::int32_t>& list = repack.from[static_cast<size_t>(part)];
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(element.plane_scalar(p)) * inner;
      const std::byte* source = from.data + plane_offset(element, from.capacity, p);
      std::byte* target = to.data + plane_offset(element, to.capacity, p) + masters * size;
      for (size_t k = 0; k < list.size(); ++k) {
        std::copy_n(source + list[k] * size, size, target + static_cast<std::int64_t>(k) * size);
      }
    }
    operand = to;
  }

  void add_call(const Execution& run, int part, Range range, bool slaves) {
    ElementwiseCall made;
    made.op = &run.forms.op_on(part, op, number);
    made.inputs = inputs_[static_cast<size_t>(part)];
    made.outputs = outputs_[static_cast<size_t>(part)];
    made.range = range;
    made.inner = run.storage.inner(widest_, part);
    made.slaves = slaves;
    calls_.resize(run.forms.shapes());
    calls_[run.forms.shape(part)].push_back(made);
  }

  // The calls of owned elements, in the order of the parts. Arrays on a disk go by.
  void run_calls_by_part(Execution& run) {
    for (std::vector<ElementwiseCall>& calls : calls_) {
      for (size_t p = 0; p < calls.size(); ++p) {
        const int part = static_cast<int>(p);
        ElementwiseCall call = calls[p];
        run.go_by(*this, part, calls[p].range.end, [&](std::int64_t begin, std::int64_t end) {
          call.range = {begin, end};
          run.forms.kernels(run.forms.shape(part)).elementwise(call);
        });
      }
      calls.clear();
    }
  }

  void run_calls(const Execution& run) {
    for (size_t shape = 0; shape < calls_.size(); ++shape) {
      if (!calls_[shape].empty()) run.forms.kernels(shape).elementwise_of_parts(calls_[shape]);
      calls_[shape].clear();
    }
  }

  DimId cut_ = no_dim;
  ValueId widest_ = no_value;            // the loop runs over the array with most dimensions; any may be empty
  bool views_rows_ = false;              // some operator reads rows in another order
  bool everywhere_ = true;               // all operators run on owned elements and ghosts
  std::optional<SlaveSet> slave_set_;    // the ghosts on which some operator runs
  std::optional<size_t> copied_slaves_;  // a single pushdown map: the operand
  std::vector<size_t> repeated_;         // position in it of each element of an index, if it has fewer dimensions
  int space_ = -1;
  std::set<size_t> used_on_slaves_;
  std::vector<FnId> accumulators_;  // [result]
  std::vector<Repack> repacks_;
  std::vector<std::vector<View>> inputs_, outputs_;  // [part]
  std::vector<std::vector<ElementwiseCall>> calls_;  // by shape of the parts
};

// A function of shareds: every worker computes it.
class ApplyStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const ScalarFunction& fn = run.module.fn(op.fns.at(0));
    const ElementType& type = fn.result();
    out_.resize(static_cast<size_t>(type.planes()));
    for (int p = 0; p < run.part_count(); ++p) {
      words_.clear();
      for (const ValueId v : op.operands) load(run.module.type(v).element, run.storage.view(v, p));
      args_.clear();
      size_t at = 0;
      for (const ValueId v : op.operands) {
        const auto planes = static_cast<size_t>(run.module.type(v).element.planes());
        args_.push_back(std::span(words_).subspan(at, planes));
        at += planes;
      }
      evaluate(fn, args_, out_);
      const View& to = run.storage.view(op.results[0], p);
      for (std::int64_t plane = 0; plane < type.planes(); ++plane) {
        store_word(type.plane_scalar(plane), to.data + plane_offset(type, to.capacity, plane),
                   out_[static_cast<size_t>(plane)]);
      }
    }
  }

 private:
  void load(const ElementType& type, const View& from) {
    for (std::int64_t p = 0; p < type.planes(); ++p) {
      words_.push_back(load_word(type.plane_scalar(p), from.data + plane_offset(type, from.capacity, p)));
    }
  }
  std::vector<Word> words_, out_;
  std::vector<std::span<const Word>> args_;
};

class WithinStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const Word index = run.shared_word(op.operands[0]);
    const Dimension& dim = run.module.dim(op.dim);
    require_inside({dim.name, dim.size, 1, true}, index.i, op.where);
    for (int p = 0; p < run.part_count(); ++p) {
      store_word(Scalar::i64, run.storage.view(op.results[0], p).data, index);
    }
  }
};

// The run goes on with a dimension of this size.
class ObserveStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const Word size = run.shared_word(op.operands[0]);
    for (int p = 0; p < run.part_count(); ++p) {
      store_word(Scalar::i64, run.storage.view(op.results[0], p).data, size);
    }
    run.observe(op, size.i);
  }
};

}  // namespace

std::vector<FnId> accumulators(const Module& module, std::span<const Op> ops, const std::vector<ValueId>& results) {
  std::vector<FnId> found;
  for (const ValueId v : results) {
    FnId reducer = no_fn;
    for (const Op& inner : ops) {
      const bool reduces = inner.code == OpCode::reduce && inner.results.at(0) == v;
      if (reduces && Layout(module, v).is_shared()) reducer = inner.fns.at(0);
    }
    found.push_back(reducer);
  }
  return found;
}

void start_accumulators(Execution& run, const Op& op, std::span<const FnId> reducers, std::span<const View> outputs,
                        int part) {
  for (size_t i = 0; i < reducers.size(); ++i) {
    if (reducers[i] == no_fn) continue;
    store_identity(run, reducers[i], outputs[i], run.storage.inner(op.results[i], part));
  }
}

std::unique_ptr<Step> make_elementwise_step(Execution& run, const Op& op, int number) {
  return std::make_unique<ElementwiseStep>(run, op, number);
}

std::unique_ptr<Step> make_single_step(const Op& op, int number) {
  if (op.code == OpCode::within) return std::make_unique<WithinStep>(op, number);
  return std::make_unique<ObserveStep>(op, number);
}

std::unique_ptr<Step> make_apply_step(Execution& run, const Op& op, int number) {
  for (const ValueId v : op.operands) {
    if (!run.module.type(v).dims.empty()) {
      fail(ExitStatus::bad_input, "apply takes shareds of rank 0", "", "use map for arrays", op.where);
    }
  }
  return std::make_unique<ApplyStep>(op, number);
}

}  // namespace kasen::executor
