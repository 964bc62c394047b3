// Steps for products of a matrix with vectors, and the matrices in the form that they use.
#include "libcore/run/executor_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/form_text.h"
#include "libcore/kernels/local_matrix.h"
#include "libcore/run/executor_boxes.h"

namespace kasen::executor {
namespace {

class SparseProductStep : public SparseStep {
 public:
  SparseProductStep(Execution& run, MatrixStore& matrices, const Op& decoded, int at)
      : SparseStep(run, matrices, decoded, at, first_product(decoded)) {
    if (op.code != OpCode::region) return;
    const std::vector<Op>& ops = op.blocks[0].ops;
    for (size_t i = 0; i + 1 < ops.size(); ++i) {
      if (matrices.find(run, ops[i]) == place() && product_matrix(ops[i]) == product_matrix(ops[0])) continue;
      fail(ExitStatus::bad_input, "the products of an mxm region differ in matrix, direction or slaves", "",
           "fuse the program again", op.where);
    }
  }

  void run(Execution& run) override { run_rows(run, LineRows::all); }

  void run_rows(Execution& run, LineRows rows) override {
    look_up(run);
    for (int p = 0; p < run.part_count(); ++p) {
      if (goes_by(p)) {
        go_by(run, p, rows);
      } else {
        add_call(p, range(run, p, rows));
      }
    }
    run_calls(run);
    some_ready_ = rows == LineRows::ready || (some_ready_ && rows == LineRows::ghosts);
  }

 private:
  [[nodiscard]] Range range(const Execution& run, int part, LineRows rows) const {
    const std::int64_t owned = masters(run, part), first = some_ready_ ? ready(part, owned) : 0;
    if (rows == LineRows::ready) return {0, ready(part, owned)};
    if (rows == LineRows::ghosts) return {owned, matrix(part).outputs};
    return {first, rows == LineRows::rest ? owned : matrix(part).outputs};
  }

  // The ghosts' rows first, where others wait for them. None is ready before.
  void go_by(Execution& run, int part, LineRows rows) {
    const std::int64_t owned = masters(run, part);
    if (rows == LineRows::ghosts || rows == LineRows::all) pass_rows(run, part, {owned, matrix(part).outputs});
    if (rows == LineRows::rest || rows == LineRows::all) pass_rows(run, part, {0, owned});
  }

  static const Op& first_product(const Op& op) { return op.code == OpCode::region ? op.blocks.at(0).ops.at(0) : op; }

  bool some_ready_ = false;  // the ready rows have run
};

// A product, a region of products, or a row_chain. The matrix is cut along its rows and whole along its columns.
// Vectors over the columns are shared.
class DenseProductStep : public Step {
 public:
  DenseProductStep(Execution& run, const Op& decoded, int at) : Step(decoded, at), matrix_(product_matrix(decoded)) {
    if (is_row_chain(op)) accumulators_ = accumulators(run.module, op.blocks[0].ops, op.blocks[0].ops.back().operands);
    const Type& type = run.module.type(matrix_);
    const bool whole = type.dims.size() == 2 && !Layout(run.module, type).is_cut(1);
    if (!whole) {
      fail(ExitStatus::bad_input, "a product with a dense matrix cut along its columns",
           "each worker holds whole rows and every vector element that they meet", "exchange its dimensions", op.where);
    }
  }

  void run(Execution& run) override {
    for (int p = 0; p < run.part_count(); ++p) {
      inputs_.clear();
      outputs_.clear();
      for (const ValueId v : op.operands) inputs_.push_back(run.storage.view(v, p));
      for (const ValueId v : op.results) outputs_.push_back(run.storage.view(v, p));
      start_accumulators(run, op, accumulators_, outputs_, p);
      if (is_onto(op)) begin_onto(run, p);
      DenseProductCall call = call_on(run, p);
      call.inputs = inputs_;
      call.outputs = outputs_;
      KernelSet& kernels = run.forms.kernels(run.forms.shape(p));
      const std::int64_t batches = run.forms.batches(p, number);
      if (const auto window = run.pass(*this, p)) {
        call.gate = window.get();
        kernels.dense_product(call);
        run.end_pass(*this, p, *window);
        continue;
      }
      for (std::int64_t batch = 0; batch < batches; ++batch) {
        kernels.dense_product(call);
        if (batch + 1 < batches) advance(run, p, call);
      }
    }
  }

  [[nodiscard]] std::int64_t rows_at_once(const Execution& run, int part) const override {
    const ValueInfo& matrix = run.storage.info(matrix_);
    const bool in_list = matrix.slot < 0;  // a view, which is nowhere yet
    if (in_list || matrix.cut == no_dim || run.forms.batches(part, number) != 1 || is_onto(op)) return 0;
    return run.forms.kernels(run.forms.shape(part)).rows_at_once(call_on(run, part));
  }

 private:
  // Without operands and results.
  [[nodiscard]] DenseProductCall call_on(const Execution& run, int part) const {
    const Module& module = run.forms.module(part);
    const std::vector<DimId>& dims = run.module.type(matrix_).dims;
    DenseProductCall call;
    call.op = &run.forms.op_on(part, op, number);
    call.matrix = run.storage.view(matrix_, part);
    call.cols = module.dim(dims[1]).size;
    const bool cut = run.storage.info(matrix_).cut != no_dim;
    call.rows = cut ? run.storage.masters(matrix_, part) : module.dim(dims[0]).size;
    return call;
  }

  // Terms are reduced onto what stands in the result's memory: elements of an array, and identities.
  void begin_onto(Execution& run, int part) {
    const ValueId array = run.forms.memory_of(op.operands[2]), result = run.forms.memory_of(op.results[0]);
    const View &from = run.storage.view(array, part), &to = run.storage.view(result, part);
    const int worker = run.parts[static_cast<size_t>(part)].worker;
    const Elements own = elements_of(run.plan, box_of(run, array), worker);
    const Elements all = elements_of(run.plan, box_of(run, result), worker);
    const auto charge = [&](std::int64_t read, std::int64_t written) {
      run.charge_moved(run.form.original(result), number, read, written);
    };
    charge(all.count(), 0);  // the kernels read it
    const bool takes = is_first_along(run.plan, worker, run.forms.first_only(number));
    const bool whole = takes && box_of(run, array) == box_of(run, result);
    if (whole && from.data == to.data) return;
    if (!whole) {
      store_identity(run, op.fns[1], to, all.count());
      charge(0, all.count());
    }
    if (!takes) return;
    copy_places(run, run.module.type(result).element, from, places_in(own, own), to, places_in(own, all));
    charge(own.count(), own.count());
  }

  // Of a value of the form that has memory of its own.
  [[nodiscard]] static Box box_of(const Execution& run, ValueId memory) {
    const ValueId first = run.plan.values.end_id();
    if (memory < first) return stored_box(run.plan, run.plan.type(memory));
    return run.forms.stand_ins()[static_cast<size_t>(memory - first)].box;
  }

  // To the matrices of the next batch, which lie behind these. Each of their planes has scalars of one size.
  void advance(const Execution& run, int part, DenseProductCall& call) {
    const Module& module = run.forms.module(part);
    const auto next = [&](ValueId v, View& view) {
      const Type& type = module.type(v);
      view.data += Layout(module, type).elements_per_index() * scalar_bytes(type.element.plane_scalar(0));
    };
    for (size_t i = 0; i < op.operands.size(); ++i) next(op.operands[i], inputs_[i]);
    for (size_t i = 0; i < op.results.size(); ++i) next(op.results[i], outputs_[i]);
    call.matrix = inputs_[1];
  }

  ValueId matrix_;
  std::vector<FnId> accumulators_;  // [result] of a row_chain
  std::vector<View> inputs_, outputs_;
};

}  // namespace

void SparseStep::prepare(Execution& run) {
  for (int p = 0; p < run.part_count(); ++p) {
    if (goes_by(p)) continue;
    const std::int64_t batches = matrices_.batches(place_, p);
    FormStore* const kept = batches == 1 ? run.options.forms : nullptr;  // forms of batches are not kept
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      run.kernels.take_matrix(op, matrices_.matrix(place_, p, batch), {kept, matrices_.form_name(run, place_, p)});
    }
  }
}

std::int64_t SparseStep::ready(int part, std::int64_t rows) const {
  const std::int64_t alone = matrices_.rows_alone(place_, part, batch_);
  return alone >= rows ? rows : alone / reduction_block * reduction_block;
}

void SparseStep::look_up(const Execution& run) {
  if (index_ != no_value) batch_ = run.shared_word(index_).i;
  inputs_.resize(run.parts.size());
  outputs_.resize(run.parts.size());
  for (int p = 0; p < run.part_count(); ++p) {
    std::vector<View>& inputs = inputs_[static_cast<size_t>(p)];
    std::vector<View>& outputs = outputs_[static_cast<size_t>(p)];
    inputs.clear();
    outputs.clear();
    for (const ValueId v : op.operands) {
      inputs.push_back(run.module.type(v).sparse ? View{} : run.storage.view(v, p));
    }
    for (const ValueId v : op.results) outputs.push_back(run.storage.view(v, p));
  }
}

ProductCall SparseStep::call_of(int part, Range range, RowWork work, const View& waiting) const {
  ProductCall product;
  product.op = &op;
  product.matrix = &matrix(part);
  product.inputs = inputs_[static_cast<size_t>(part)];
  product.outputs = outputs(part);
  product.range = range;
  product.work = work;
  product.waiting = waiting;
  return product;
}

void SparseStep::add_call(int part, Range range, RowWork work, View waiting) {
  if (range.size() > 0) calls_.push_back(call_of(part, range, work, waiting));
}

void SparseStep::pass_rows(Execution& run, int part, Range rows, RowWork work, const View& waiting) {
  if (rows.size() <= 0) return;
  const PassingEntries& passing = matrices_.entries(place_, part);
  const std::int64_t* const pointers = matrix(part).pointers.data();
  const auto window = run.pass_some(*this, part, passing, pointers[rows.begin], pointers[rows.end]);
  const auto call = [&](Range some, RowWork of, bool by_pieces) {
    ProductCall product = call_of(part, some, of, waiting);
    product.by_pieces = by_pieces;
    run.kernels.product_of_parts({&product, 1});
  };
  if (window == nullptr) return call(rows, work, false);
  const bool waits = work == RowWork::all && is_epilogue(op);
  for (Range some = rows; some.begin < rows.end; some.begin = some.end) {
    const std::int64_t* const behind =
        std::upper_bound(pointers + some.begin, pointers + rows.end + 1, pointers[some.begin] + passing.at_once);
    some.end = std::max(some.begin + 1, behind - pointers - 1);
    window->enter(pointers[some.begin], pointers[some.end]);
    call(some, waits ? RowWork::product : work, waits);
    window->leave(pointers[some.begin], pointers[some.end]);
  }
  run.end_pass(*this, part, *window);
  if (waits) call(rows, RowWork::vector, true);
}

std::vector<std::int64_t> SparseStep::cuts(const Execution& run, int part) const { return {masters(run, part)}; }

std::optional<EntryUse> SparseStep::entries(const Execution& run, int part) const {
  if (!goes_by(part)) return std::nullopt;
  const HeldList<std::int64_t>& pointers = matrix(part).pointers;
  EntryUse use{&matrices_.entries(place_, part), {0}};
  for (const std::int64_t row : cuts(run, part)) use.cuts.push_back(pointers[static_cast<size_t>(row)]);
  use.cuts.push_back(pointers.back());
  return use;
}

void SparseStep::run_calls(Execution& run) {
  if (calls_.empty()) return;
  run.kernels.product_of_parts(calls_);
  calls_.clear();
}

std::unique_ptr<Step> make_product_step(Execution& run, MatrixStore& matrices, const Op& op, int number) {
  if (is_epilogue(op)) return make_epilogue_step(run, matrices, op, number);
  if (is_fold(op) || run.module.type(product_matrix(op)).sparse) {
    return std::make_unique<SparseProductStep>(run, matrices, op, number);
  }
  return std::make_unique<DenseProductStep>(run, op, number);
}

}  // namespace kasen::executor
