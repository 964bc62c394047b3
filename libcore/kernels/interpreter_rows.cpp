#include "libcore/kernels/interpreter_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/base/checked.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/kernels/expanded_views.h"
#include "libcore/kernels/interpreter_fold.h"
#include "libcore/kernels/interpreter_program.h"
#include "libcore/laws/laws.h"
#include "libcore/rows/row_region.h"
#include "libcore/system/memory.h"

namespace kasen::interpreter {
namespace {

// Calls each(nonzero, row, column) for these rows.
template <class Each>
void for_each_nonzero(const LocalMatrix& matrix, Range rows, const Each& each) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const auto at = static_cast<size_t>(row);
    for (std::int64_t e = matrix.pointers[at]; e < matrix.pointers[at + 1]; ++e)
      each(e, row, matrix.indices[static_cast<size_t>(e)]);
  }
}

void reduce_at(const ScalarFunction& reducer, const Lens& total, std::int64_t place, std::span<const Word> more) {
  std::vector<Word> held(more.size());
  total.load(place, held.data());
  reduce_into(reducer, held, more);
  total.store(place, held.data());
}

// A product or fold of the sparse matrix: a block of rows at a time, whose nonzeros are met row by row also where the
// result is a total over the columns.
class RowEntries {
 public:
  RowEntries(const Module& module, const Op& op);
  // Makes these rows of the result, or adds their nonzeros to it if it is a total. Views begin at row 0.
  void run(const LocalMatrix& matrix, std::span<const View> inputs, std::span<const View> outputs, Range rows) const;

 private:
  void add_product(const LocalMatrix& matrix, const View& vector, const View& total, Range rows) const;
  void add_fold(const LocalMatrix& matrix, std::span<const View> inputs, const View& total, Range rows) const;

  const Module* module_;
  const Op* op_;
  std::optional<Product> product_;
  std::optional<Fold> fold_;
};

RowEntries::RowEntries(const Module& module, const Op& op) : module_(&module), op_(&op) {
  if (is_fold(op)) {
    fold_ = make_fold(module, op.code == OpCode::fold_cols ? entries_of_fold(op) : op);
  } else {
    product_ = make_product(module, op);
    product_->input = 0;
    product_->outputs = {0};
  }
}

void RowEntries::run(const LocalMatrix& matrix, std::span<const View> inputs, std::span<const View> outputs,
                     Range rows) const {
  if (op_->code == OpCode::mxv) return add_product(matrix, inputs[0], outputs[0], rows);
  if (op_->code == OpCode::fold_cols) return add_fold(matrix, inputs, outputs[0], rows);
  ProductCall call;
  call.op = op_;
  call.matrix = &matrix;
  call.inputs = inputs;
  call.outputs = outputs;
  call.range = rows;
  AccessCount ignored;  // the region counts its nonzeros once
  if (fold_) return run_fold(*fold_, call, ignored);
  run_products({*product_}, call, ignored);
}

void RowEntries::add_product(const LocalMatrix& matrix, const View& vector, const View& total, Range rows) const {
  const Lens from(product_->vector, vector), to(product_->result, total);
  const Lens values(matrix.element, View{const_cast<std::byte*>(matrix.values.bytes.data()), matrix.values.count});
  std::vector<Word> x(1), value(1), term(1);
  for_each_nonzero(matrix, rows, [&](std::int64_t e, std::int64_t row, std::int64_t col) {
    values.load(e, value.data());
    for (std::int64_t k = 0; k < product_->columns; ++k) {
      from.load(row * product_->columns + k, x.data());
      const std::span<const Word> args[2] = {x, value};
      evaluate(*product_->multiply, args, term);
      reduce_at(*product_->reduce, to, col * product_->columns + k, term);
    }
  });
}

// The function's value at each nonzero of the block, as an operator entries stores it.
void RowEntries::add_fold(const LocalMatrix& matrix, std::span<const View> inputs, const View& total,
                          Range rows) const {
  LocalMatrix numbered;
  numbered.element = matrix.element;
  numbered.pointers = matrix.pointers;
  numbered.indices = matrix.indices;
  numbered.values = Array(matrix.element, matrix.values.count);
  std::copy_n(matrix.values.bytes.data(), matrix.values.bytes.size(), numbered.values.bytes.data());
  numbered.numbers.own().resize(static_cast<size_t>(matrix.entries()));
  std::iota(numbered.numbers.own().begin(), numbered.numbers.own().end(), 0);
  const ElementType& element = module_->type(op_->results[0]).element;
  Array made(element, matrix.entries());
  const View values{made.bytes.data(), made.count};
  ProductCall call;
  call.op = op_;
  call.matrix = &numbered;
  call.inputs = inputs;
  call.outputs = {&values, 1};
  call.range = rows;
  AccessCount ignored;
  run_fold(*fold_, call, ignored);
  const Lens from(element, values), to(element, total);
  std::vector<Word> word(static_cast<size_t>(element.planes()));
  for_each_nonzero(matrix, rows, [&](std::int64_t e, std::int64_t, std::int64_t col) {
    from.load(e, word.data());
    reduce_at(module_->fn(op_->fns[1]), to, col, word);
  });
}

class RowsRun {
 public:
  RowsRun(const Module& module, const RowsCall& call, const RunVectorWork& vector_work, std::vector<Bytes>& going_on)
      : going_on_(going_on),
        m_(module),
        call_(call),
        vector_work_(vector_work),
        ops_(call.op->blocks.at(0).ops),
        rows_(worked_rows(module, ops_.at(0))),
        all_rows_(call.matrix == nullptr ? call.rows : call.matrix->outputs),
        blocks_(
            row_blocks(row_sizes(module, *call.op), all_rows_, call.matrix == nullptr ? 0 : call.matrix->entries())),
        pointers_(call.matrix == nullptr ? nullptr : call.matrix->pointers.data()) {
    for (size_t i = 0; i < call.op->operands.size(); ++i) views_[call.op->operands[i]] = call.inputs[i];
    for (size_t r = 0; r < yielded().size(); ++r) {
      if (!is_made_total(yielded()[r])) views_.emplace(yielded()[r], call.outputs[r]);
    }
    for (const Op& op : ops_) {
      if (op.code == OpCode::yield) continue;
      if (is_total(op, rows_) || !views_.contains(op.results[0])) make_room(op.results[0], is_total(op, rows_));
      if (visits_entries(module, op))
        sparse_.emplace(&op, RowEntries(module, op));
      else if (is_product(op))
        products_.emplace(&op, make_product(m_, op));
    }
  }

  void run() {
    for (std::int64_t s = call_.first / blocks_.share_rows; s * blocks_.share_rows < call_.rows; ++s) {
      const std::int64_t first = s * blocks_.share_rows, last = std::min(all_rows_, first + blocks_.share_rows);
      const Range share{std::max(call_.first, first), std::min(call_.rows, last)};
      if (call_.gate != nullptr) call_.gate->enter(share.begin, share.end);
      begin_totals(share.begin > first);
      for (std::int64_t r = share.begin; r < share.end;) {
        const Range block{r, block_end(blocks_, r, share.end, pointers_)};
        r = block.end;
        for (const Op& op : ops_) {
          if (op.code != OpCode::yield) run_on(op, block);
        }
      }
      end_totals(share.end < last);
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

  void begin_total(const Op& op) {
    const ValueId value = op.results[0];
    const std::vector<Word> identity = reducer_identity(m_.fn(total_reducer(op))).value();  // prepare has found it
    const Lens to(m_.type(value).element, views_.at(value));
    for (std::int64_t e = 0; e < inner(value); ++e) to.store(e, identity.data());
  }

  // Those of a share that another call began are there.
  void begin_totals(bool begun) {
    size_t next = 0;
    for (const Op& op : ops_) {
      if (op.code == OpCode::yield || !is_total(op, rows_)) continue;
      if (!begun) {
        begin_total(op);
        continue;
      }
      const Bytes& before = going_on_.at(next++);
      std::memcpy(views_.at(op.results[0]).data, before.data(), static_cast<size_t>(before.size()));
    }
  }

  void end_totals(bool goes_on) {
    if (!goes_on) {
      for (size_t r = 0; r < yielded().size(); ++r) add_total(r);
      return;
    }
    going_on_.clear();
    for (const Op& op : ops_) {
      if (op.code == OpCode::yield || !is_total(op, rows_)) continue;
      const ValueId value = op.results[0];
      Bytes& kept = going_on_.emplace_back(storage_bytes(m_.type(value).element, inner(value)));
      std::memcpy(kept.data(), views_.at(value).data, static_cast<size_t>(kept.size()));
    }
  }

  void run_on(const Op& op, Range block) {
    if (products_.contains(&op)) return run_product(op, block);
    std::vector<View> inputs, outputs;
    for (const ValueId v : op.operands) inputs.push_back(views_.at(v));
    for (const ValueId v : op.results) outputs.push_back(views_.at(v));
    if (const auto sparse = sparse_.find(&op); sparse != sparse_.end())
      return sparse->second.run(*call_.matrix, inputs, outputs, block);
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
    const ScalarFunction& fn = m_.fn(total_reducer(*maker(value)));
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

  std::vector<Bytes>& going_on_;
  const Module& m_;
  const RowsCall& call_;
  const RunVectorWork& vector_work_;
  const std::vector<Op>& ops_;
  const DimId rows_;
  const std::int64_t all_rows_;  // with those of other calls
  const RowBlocks blocks_;
  const std::int64_t* const pointers_;  // of the sparse matrix, if there is one
  std::map<ValueId, View> views_;
  std::vector<Bytes> rooms_;
  std::map<const Op*, Product> products_;   // with dense matrices
  std::map<const Op*, RowEntries> sparse_;  // products and folds of the sparse one
};

}  // namespace

AccessCount run_rows(const Module& module, const RowsCall& call, const RunVectorWork& vector_work,
                     std::vector<Bytes>& going_on) {
  const ExpandedViews inputs(call.inputs);
  RowsCall expanded = call;
  expanded.inputs = inputs.views();
  RowsRun(module, expanded, vector_work, going_on).run();
  const RowTraffic traffic = row_traffic(module, *call.op);
  return {
      compressed_reads(module, *call.op, call.inputs) + call.count() * traffic.read + call.entries() * traffic.entry,
      call.count() * traffic.written + call.entries() * traffic.stored};
}

}  // namespace kasen::interpreter
