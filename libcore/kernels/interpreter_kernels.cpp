// The plain kernel set: evaluates scalar functions node by node and counts every element that it touches.
#include <algorithm>
#include <cstring>
#include <map>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/expanded_views.h"
#include "libcore/kernels/interpreter_chain.h"
#include "libcore/kernels/interpreter_fold.h"
#include "libcore/kernels/interpreter_product.h"
#include "libcore/kernels/interpreter_program.h"
#include "libcore/kernels/interpreter_rows.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/rows/row_region.h"
#include "libcore/system/memory.h"

namespace kasen {
namespace {

using interpreter::Cell;
using interpreter::Chain;
using interpreter::ExpandedViews;
using interpreter::Lens;
using interpreter::Product;
using interpreter::Program;
using interpreter::Work;

class InterpreterKernels : public KernelSet {
 public:
  [[nodiscard]] std::unique_ptr<KernelSet> another() const override { return std::make_unique<InterpreterKernels>(); }
  void prepare(const Module& module) override {
    module_ = &module;
    programs_.clear();
    products_.clear();
    folds_.clear();
    chains_.clear();
    prepare_block(module.body);
  }

  void elementwise(const ElementwiseCall& call) override {
    const auto it = programs_.find(call.op);
    if (it == programs_.end()) throw InternalError("an operator that was not prepared");
    if (call.range.begin == 0 && !call.slaves) {
      count_.read_bytes += compressed_reads(*module_, *call.op, call.inputs);
    }
    const ExpandedViews inputs(call.inputs);
    ElementwiseCall dense = call;
    dense.inputs = inputs.views();
    run(it->second, dense);
  }

  void product(const ProductCall& call) override {
    if (const auto fold = folds_.find(call.op); fold != folds_.end()) {
      return interpreter::run_fold(fold->second, call, count_);
    }
    const auto it = products_.find(call.op);
    if (it == products_.end()) throw InternalError("a product that was not prepared");
    if (is_epilogue(*call.op)) return run_epilogue(it->second, programs_.at(call.op), call);
    interpreter::run_products(it->second, call, count_);
  }

  void dense_product(const DenseProductCall& call) override;
  void rows(const RowsCall& call) override;

  void copy_masters(const ElementType& element, std::span<const Mirrored> lists) override {
    for (const Mirrored& list : lists) {
      for (std::int64_t p = 0; p < element.planes(); ++p) {
        const auto size = static_cast<size_t>(scalar_bytes(element.plane_scalar(p)));
        const std::byte* base = list.masters.data + plane_offset(element, list.masters.capacity, p);
        std::byte* to = list.copies_at(element, p);
        list.elements.for_each_run(0, list.count(), [&](std::int64_t first, std::int64_t count) {
          const auto bytes = static_cast<size_t>(count) * size;
          std::memcpy(to, base + static_cast<size_t>(first) * size, bytes);
          to += bytes;
        });
      }
    }
  }

  void combine(FnId reducer, std::span<const Mirrored> lists) override {
    for (const Mirrored& list : lists) interpreter::combine(module_->fn(reducer), list);
  }

  void axis(const AxisCall& call) override {
    if (call.op->code == OpCode::scan) return interpreter::scan(call);
    if (is_grouping(*call.op)) return interpreter::reduce_by(call);
    run_all(call);
  }

  void carry(const CarryCall& call) override { interpreter::carry(module_->fn(call.fn), call); }

  [[nodiscard]] AccessCount accesses() const override { return count_; }

 private:
  void prepare_block(const Block& block);
  void run_epilogue(const std::vector<Product>& products, Program& program, const ProductCall& call);
  void prepare_chain(const Op& op);
  void prepare_rows(const Op& op);
  void run_chain(const Chain& chain, const DenseProductCall& call);
  void run(Program& program, const ElementwiseCall& call);
  void run_index(Program& program, const ElementwiseCall& call, std::span<const Lens> inputs,
                 std::span<const Lens> outputs, std::int64_t index);
  static void load(const Program& program, Cell& cell, std::span<const Lens> inputs, std::int64_t index);
  static void run_view(Program& program, const Work& work);
  void run_map(Program& program, Work& work, bool slaves);
  static void run_reduce(Program& program, Work& work);

  const Module* module_ = nullptr;
  std::map<const Op*, Program> programs_;
  std::map<const Op*, std::vector<Product>> products_;
  std::map<const Op*, interpreter::Fold> folds_;
  std::map<const Op*, Chain> chains_;
  AccessCount count_;
  std::vector<Bytes> totals_of_share_;  // with which the next call of a region of rows goes on
  std::vector<std::span<const Word>> args_;
};

void InterpreterKernels::prepare_block(const Block& block) {
  for (const Op& op : block.ops) {
    if (is_blocks(op)) continue;  // its tasks are a plan of their own
    const bool region = op.code == OpCode::region;
    if (is_product(op)) {
      products_.emplace(&op, std::vector<Product>{interpreter::make_product(*module_, op)});
    } else if (holds_fold(op)) {
      folds_.emplace(&op, interpreter::make_fold(*module_, op));
    } else if (is_row_chain(op)) {
      prepare_chain(op);
    } else if (is_rows(op)) {
      prepare_rows(op);
    } else if (region && row(op.kind).entry == RegionEntry::product) {
      products_.emplace(&op, interpreter::make_products(*module_, op));
      if (is_epilogue(op)) programs_.emplace(&op, interpreter::make_program(*module_, op));
    } else if (row(op.code).group == OpGroup::vector || region) {
      programs_.emplace(&op, interpreter::make_program(*module_, op));
    } else {
      for (const Block& inner : op.blocks) prepare_block(inner);
    }
  }
}

// Writes the rows of the call to `waiting`, or to a buffer of their own that costs nothing. Then the vector work runs.
void InterpreterKernels::run_epilogue(const std::vector<Product>& products, Program& program, const ProductCall& call) {
  const ElementType& element = products.at(0).result;
  Bytes room;
  View rows = call.waiting;
  if (call.work == RowWork::all) {
    room = Bytes(storage_bytes(element, call.range.end));
    rows = {room.data(), call.range.end};
  }
  if (call.work != RowWork::vector) {
    ProductCall product = call;
    product.outputs = {&rows, 1};
    AccessCount touched;
    interpreter::run_products(products, product, touched);
    count_.read_bytes += touched.read_bytes;
    if (call.work == RowWork::product) {
      if (!call.by_pieces) count_.written_bytes += touched.written_bytes;
      return;
    }
  }
  std::vector<View> inputs(call.inputs.begin(), call.inputs.end());
  inputs.push_back(rows);
  program.cells[program.gathered].charged = call.work == RowWork::vector && !call.by_pieces;
  ElementwiseCall vector;
  vector.op = call.op;
  vector.inputs = inputs;
  vector.outputs = call.outputs;
  vector.range = call.range;
  run(program, vector);
}

// Its operators touch no memory of their own: what comes from outside and what goes there is counted for the region.
void InterpreterKernels::prepare_rows(const Op& region) {
  for (const Op& op : std::span(region.blocks.at(0).ops).first(region.blocks.at(0).ops.size() - 1)) {
    if (is_product(op) || is_fold(op)) continue;
    Program& program = programs_.emplace(&op, interpreter::make_program(*module_, op)).first->second;
    for (Cell& cell : program.cells) cell.charged = false;
  }
}

void InterpreterKernels::rows(const RowsCall& call) {
  const AccessCount before = count_;
  const auto work = [&](const ElementwiseCall& one) { run(programs_.at(one.op), one); };
  const AccessCount made = interpreter::run_rows(*module_, call, work, totals_of_share_);
  count_ = {before.read_bytes + made.read_bytes, before.written_bytes + made.written_bytes};
}

// Of the values that the vector work reads, only the operands of the region are charged, without the matrix, which the
// whole region reads once.
void InterpreterKernels::prepare_chain(const Op& op) {
  const Chain& chain = chains_.emplace(&op, interpreter::make_chain(*module_, op)).first->second;
  if (chain.vector.results.empty()) return;
  Program program = interpreter::make_program(*module_, chain.vector);
  const ValueId matrix = product_matrix(op);
  for (Cell& cell : program.cells)
    cell.charged = cell.charged && contains(op.operands, cell.array) && cell.array != matrix;
  programs_.emplace(&chain.vector, std::move(program));
}

// Runs one operator after another, each on all rows.
void InterpreterKernels::run_chain(const Chain& chain, const DenseProductCall& call) {
  std::vector<Bytes> memory;
  std::vector<View> inputs(call.inputs.begin(), call.inputs.end()), outputs(call.outputs.begin(), call.outputs.end());
  for (const ValueId room : chain.rooms) {
    const std::int64_t count = checked_mul(call.rows, Layout(*module_, room).elements_per_index());
    memory.emplace_back(storage_bytes(module_->type(room).element, count));
    inputs.push_back({memory.back().data(), count});
    outputs.push_back(inputs.back());
  }
  DenseProductCall products = call;
  products.inputs = inputs;
  products.outputs = outputs;
  const ElementType& matrix = module_->type(product_matrix(*call.op)).element;
  interpreter::run_dense(chain.inner, matrix, products, count_);
  if (!chain.vector.results.empty()) {
    std::vector<View> from, to;
    for (const size_t i : chain.vector_inputs) from.push_back(inputs[i]);
    for (const size_t o : chain.vector_outputs) to.push_back(outputs[o]);
    ElementwiseCall vector;
    vector.op = &chain.vector;
    vector.inputs = from;
    vector.outputs = to;
    vector.range = {0, call.rows};
    const std::int64_t written = count_.written_bytes;
    run(programs_.at(&chain.vector), vector);
    count_.written_bytes = written;  // these buffers cost nothing
  }
  interpreter::run_dense(chain.outer, matrix, products, count_);
  for (const Chain::Copy& copy : chain.copies) {
    const ElementType& element = module_->type(chain.rooms[copy.room]).element;
    const Lens from(element, inputs[call.inputs.size() + copy.room]), to(element, call.outputs[copy.result]);
    std::vector<Word> words(static_cast<size_t>(element.planes()));
    const std::int64_t count = call.rows * Layout(*module_, chain.rooms[copy.room]).elements_per_index();
    for (std::int64_t i = 0; i < count; ++i) {
      from.load(i, words.data());
      to.store(i, words.data());
    }
    count_.written_bytes += count * element.bytes();
  }
}

// ---- element-wise

void InterpreterKernels::run(Program& program, const ElementwiseCall& call) {
  std::vector<Lens> inputs, outputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool gathered = i == call.op->operands.size();
    inputs.emplace_back(
        gathered ? program.cells[program.gathered].element : module_->type(call.op->operands[i]).element,
        call.inputs[i]);
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    outputs.emplace_back(module_->type(call.op->results[i]).element, call.outputs[i]);
  }
  for (Cell& cell : program.cells) {  // shareds: once a call
    if (cell.input < 0 || !cell.shared) continue;
    load(program, cell, inputs, 0);
  }
  for (Work& work : program.works) {
    if (!work.reduce) continue;
    Cell& result = program.cells[work.result];
    interpreter::reset(work.reduction, result.elements);
    for (size_t i = 0; i < result.words.size(); ++i) result.words[i] = work.reduction.identity[i % result.planes];
  }
  for (size_t r = 0; r < program.outputs.size(); ++r) {  // accumulators start from their current value
    Cell& cell = program.cells[program.outputs[r]];
    for (size_t e = 0; cell.accumulator && e < cell.elements; ++e) {
      outputs[r].load(static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
  }
  for (std::int64_t i = call.range.begin; i < call.range.end; ++i) run_index(program, call, inputs, outputs, i);
  for (Work& work : program.works) {
    Cell& result = program.cells[work.result];
    for (size_t e = 0; work.reduce && result.accumulator && e < result.elements; ++e) {
      interpreter::flush(*work.fn, work.reduction, e,
                         std::span(result.words).subspan(e * result.planes, result.planes));
    }
  }
  for (size_t r = 0; r < program.outputs.size(); ++r) {
    const Cell& cell = program.cells[program.outputs[r]];
    if (!cell.shared || (call.slaves && !cell.accumulator)) continue;
    for (size_t e = 0; e < cell.elements; ++e) {
      outputs[r].store(static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
  }
}

void InterpreterKernels::load(const Program& program, Cell& cell, std::span<const Lens> inputs, std::int64_t index) {
  const std::int64_t first = index * static_cast<std::int64_t>(cell.elements);
  for (size_t e = 0; e < cell.elements; ++e) {
    const std::int64_t at = cell.array == cell.value ? first + static_cast<std::int64_t>(e)
                                                     : interpreter::element_at(program, cell.view, index, e);
    inputs[static_cast<size_t>(cell.input)].load(at, &cell.words[e * cell.planes]);
  }
}

void InterpreterKernels::run_index(Program& program, const ElementwiseCall& call, std::span<const Lens> inputs,
                                   std::span<const Lens> outputs, std::int64_t index) {
  for (Cell& cell : program.cells) {
    if (cell.input < 0 || cell.shared || (call.slaves && !cell.used_on_slaves)) continue;
    load(program, cell, inputs, index);
    if (cell.charged) count_.read_bytes += static_cast<std::int64_t>(cell.elements) * cell.element.bytes();
  }
  for (Work& work : program.works) {
    if (call.slaves && !work.on_slaves) continue;
    if (work.reduce) {
      run_reduce(program, work);
    } else if (work.fn == nullptr) {
      run_view(program, work);
    } else {
      run_map(program, work, call.slaves);
    }
  }
  for (size_t r = 0; r < program.outputs.size(); ++r) {
    const Cell& cell = program.cells[program.outputs[r]];
    if (cell.shared || (call.slaves && !cell.on_slaves)) continue;
    const std::int64_t first = index * static_cast<std::int64_t>(cell.elements);
    for (size_t e = 0; e < cell.elements; ++e) {
      outputs[r].store(first + static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
    count_.written_bytes += static_cast<std::int64_t>(cell.elements) * cell.element.bytes();
  }
}

void InterpreterKernels::run_view(Program& program, const Work& work) {
  Cell& result = program.cells[work.result];
  const Cell& array = program.cells[work.operands[0]];
  for (size_t e = 0; e < result.elements; ++e) {
    const auto at = static_cast<size_t>(interpreter::element_at(program, work.view, 0, e));
    std::copy_n(array.words.begin() + static_cast<std::ptrdiff_t>(at * array.planes), array.planes,
                result.words.begin() + static_cast<std::ptrdiff_t>(e * result.planes));
  }
}

void InterpreterKernels::run_map(Program& program, Work& work, bool slaves) {
  Cell& result = program.cells[work.result];
  args_.resize(work.operands.size());
  for (size_t e = 0; e < result.elements; ++e) {
    for (size_t i = 0; i < work.operands.size(); ++i) {
      const Cell& cell = program.cells[work.operands[i]];
      args_[i] = std::span(cell.words).subspan(work.places[i][e] * cell.planes, cell.planes);
    }
    const auto out = std::span(result.words).subspan(e * result.planes, result.planes);
    if (slaves && work.handed_on != SIZE_MAX) {
      std::copy(args_[work.handed_on].begin(), args_[work.handed_on].end(), out.begin());
    } else {
      evaluate(*work.fn, args_, out);
    }
  }
}

// Over the cut dimension, reduces into the accumulator; within an index, from the identity each time.
void InterpreterKernels::run_reduce(Program& program, Work& work) {
  Cell& result = program.cells[work.result];
  const Cell& from = program.cells[work.operands[0]];
  const auto at = [&](size_t e) { return std::span(result.words).subspan(e * result.planes, result.planes); };
  if (!result.accumulator) {
    for (size_t i = 0; i < result.words.size(); ++i) result.words[i] = work.reduction.identity[i % result.planes];
  }
  for (size_t e = 0; e < from.elements; ++e) {
    const size_t to = work.places[0][e];
    const auto next = std::span(from.words).subspan(e * from.planes, from.planes);
    interpreter::take(*work.fn, work.reduction, to, next, at(to));
  }
  for (size_t e = 0; !result.accumulator && e < result.elements; ++e) {
    interpreter::flush(*work.fn, work.reduction, e, at(e));
  }
}

void InterpreterKernels::dense_product(const DenseProductCall& given) {
  const ExpandedViews inputs(given.inputs), matrices({&given.matrix, 1});
  DenseProductCall call = given;
  call.inputs = inputs.views();
  call.matrix = matrices.views()[0];
  const Type& matrix = module_->type(product_matrix(*call.op));
  if (is_row_chain(*call.op)) {
    run_chain(chains_.at(call.op), call);
  } else {
    interpreter::run_dense(products_.at(call.op), matrix.element, call, count_);
  }
  count_.read_bytes += compressed_reads(*module_, *call.op, given.inputs);
  if (Layout(*module_, matrix).is_shared() || matrix.compressed) return;
  count_.read_bytes += call.rows * call.cols * matrix.element.bytes();
}

}  // namespace

std::unique_ptr<KernelSet> make_interpreter_kernels() { return std::make_unique<InterpreterKernels>(); }

}  // namespace kasen
