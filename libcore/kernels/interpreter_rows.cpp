#include "libcore/kernels/interpreter_rows.h"

#include <algorithm>

#include "libcore/base/checked.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/kernels/interpreter_program.h"
#include "libcore/laws/laws.h"
#include "libcore/rows/row_region.h"
#include "libcore/system/memory.h"

namespace kasen::interpreter {
namespace {

class RowsRun {
 public:
  RowsRun(const Module& module, const RowsCall& call, const RunVectorWork& vector_work)
      : m_(module),
        call_(call),
        vector_work_(vector_work),
        ops_(call.op->blocks.at(0).ops),
        rows_(worked_rows(module, ops_.at(0))),
        blocks_(row_blocks(module, *call.op, call.rows)) {
    for (size_t i = 0; i < call.op->operands.size(); ++i) views_[call.op->operands[i]] = call.inputs[i];
    for (size_t r = 0; r < yielded().size(); ++r) {
      if (!is_made_total(yielded()[r])) views_.emplace(yielded()[r], call.outputs[r]);
    }
    for (const Op& op : ops_) {
      if (op.code == OpCode::yield) continue;
      if (is_total(op, rows_) || !views_.contains(op.results[0])) make_room(op.results[0], is_total(op, rows_));
      if (is_product(op)) products_.emplace(&op, make_product(m_, op));
    }
  }

  void run() {
    for (std::int64_t s = 0; s < blocks_.shares; ++s) {
      const Range share{s * blocks_.share_rows, std::min(call_.rows, (s + 1) * blocks_.share_rows)};
      if (call_.gate != nullptr) call_.gate->enter(share.begin, share.end);
      for (const Op& op : ops_) {
        if (op.code != OpCode::yield && is_total(op, rows_)) begin_total(op);
      }
      for (std::int64_t r = share.begin; r < share.end; r += blocks_.rows) {
        const Range block{r, std::min(share.end, r + blocks_.rows)};
        for (const Op& op : ops_) {
          if (op.code != OpCode::yield) run_on(op, block);
        }
      }
      for (size_t r = 0; r < yielded().size(); ++r) add_total(r);
      if (call_.gate != nullptr) call_.gate->leave(share.begin, share.end);
    }
    hand_on_again();
  }

 private:
  [[nodiscard]] const std::vector<ValueId>& yielded() const { return ops_.back().operands; }

  [[nodiscard]] const Op* maker(ValueId value) const {
    const auto it = std::find_if(ops_.begin(), ops_.end(), [&](const Op& op) { return contains(op.results, value); });
    return &*it;
  }
  [[nodiscard]] bool is_made_total(ValueId value) const { return is_total(*maker(value), rows_); }

  [[nodiscard]] std::int64_t inner(ValueId value) const { return Layout(m_, value).elements_per_index(); }

  void make_room(ValueId value, bool total) {
    const std::int64_t count = checked_mul(total ? 1 : call_.rows, inner(value), "a value of a region");
    Bytes& memory = rooms_.emplace_back(storage_bytes(m_.type(value).element, count));
    views_[value] = {memory.data(), count};
  }

  [[nodiscard]] static FnId reducer(const Op& op) { return op.fns.at(op.code == OpCode::mxv ? 1 : 0); }

  void begin_total(const Op& op) {
    const ValueId value = op.results[0];
    const std::vector<Word> identity = reducer_identity(m_.fn(reducer(op))).value();  // prepare has found it
    const Lens to(m_.type(value).element, views_.at(value));
    for (std::int64_t e = 0; e < inner(value); ++e) to.store(e, identity.data());
  }

  void run_on(const Op& op, Range block) {
    if (is_product(op)) return run_product(op, block);
    std::vector<View> inputs, outputs;
    for (const ValueId v : op.operands) inputs.push_back(views_.at(v));
    for (const ValueId v : op.results) outputs.push_back(views_.at(v));
    ElementwiseCall call;
    call.op = &op;
    call.inputs = inputs;
    call.outputs = outputs;
    call.range = block;
    vector_work_(call);
  }

  // The part of an array that begins at this row.
  [[nodiscard]] View from_row(ValueId value, std::int64_t row) const {
    View view = views_.at(value);
    view.data += row * inner(value) * scalar_bytes(m_.type(value).element.scalar());
    return view;
  }

  void run_product(const Op& op, Range block) {
    const ValueId matrix = product_matrix(op);
    const bool rowwise = op.code == OpCode::mxvt;
    const View operand = rowwise ? views_.at(op.operands[0]) : from_row(op.operands[0], block.begin);
    const View result = rowwise ? from_row(op.results[0], block.begin) : views_.at(op.results[0]);
    Product product = products_.at(&op);
    product.onto = !rowwise;
    product.input = 0;
    product.outputs = {0};
    DenseProductCall call;
    call.op = &op;
    call.matrix = from_row(matrix, block.begin);
    call.inputs = {&operand, 1};
    call.outputs = {&result, 1};
    call.rows = block.size();
    call.cols = inner(matrix);
    AccessCount ignored;  // of values in the cache
    run_dense({product}, m_.type(matrix).element, call, ignored);
  }

  void add_total(size_t result) {
    const ValueId value = yielded()[result];
    if (!is_made_total(value)) return;
    const ElementType& element = m_.type(value).element;
    const Lens from(element, views_.at(value)), to(element, call_.outputs[result]);
    std::vector<Word> sum(static_cast<size_t>(element.planes())), next = sum;
    const ScalarFunction& fn = m_.fn(reducer(*maker(value)));
    for (std::int64_t e = 0; e < inner(value); ++e) {
      to.load(e, sum.data());
      from.load(e, next.data());
      reduce_into(fn, sum, next);
      to.store(e, sum.data());
    }
  }

  // Arrays of rows that the region gives twice.
  void hand_on_again() {
    for (size_t r = 0; r < yielded().size(); ++r) {
      const ValueId value = yielded()[r];
      const View &from = views_.at(value), &to = call_.outputs[r];
      if (is_made_total(value) || from.data == to.data) continue;
      const ElementType& element = m_.type(value).element;
      const Lens source(element, from), target(element, to);
      std::vector<Word> words(static_cast<size_t>(element.planes()));
      for (std::int64_t e = 0; e < call_.rows * inner(value); ++e) {
        source.load(e, words.data());
        target.store(e, words.data());
      }
    }
  }

  const Module& m_;
  const RowsCall& call_;
  const RunVectorWork& vector_work_;
  const std::vector<Op>& ops_;
  const DimId rows_;
  const RowBlocks blocks_;
  std::map<ValueId, View> views_;
  std::vector<Bytes> rooms_;
  std::map<const Op*, Product> products_;
};

}  // namespace

void run_rows(const Module& module, const RowsCall& call, const RunVectorWork& vector_work) {
  RowsRun(module, call, vector_work).run();
}

}  // namespace kasen::interpreter
