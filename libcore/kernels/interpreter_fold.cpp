#include "libcore/kernels/interpreter_fold.h"

#include <algorithm>
#include <array>
#include <span>

#include "libcore/base/error.h"
#include "libcore/kernels/interpreter_product.h"
#include "libcore/kernels/interpreter_program.h"

namespace kasen::interpreter {
namespace {

using Words = std::vector<Word>;

// The sum of a coordinate sum's summands, by lanes (entries.h).
Word lane_sum(const ScalarFunction& summands, std::span<const Word> terms) {
  const Scalar scalar = summands.result().scalar();
  std::array<Word, point_lanes> lanes{};
  for (Word& lane : lanes) lane = Word::real(0);
  const auto add = [&](Word& to, Word more) { to = evaluate_op(ScalarOp::add, scalar, std::array{to, more}); };
  for (size_t c = 0; c < terms.size(); ++c) add(lanes.at(c % lanes.size()), terms[c]);
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; ++l) add(lanes.at(l), lanes.at(l + half));
  return lanes[0];
}

// A row's running value of one result: segments of reduction_block nonzeros, each from the identity.
class RowFold {
 public:
  RowFold(const EntryPass::Result& result, const Fold::Result& fold)
      : fold_(fold), columns_(result.columns), planes_(static_cast<size_t>(result.element.planes())) {}

  void begin() {
    total_ = segment_ = identities();
    taken_ = 0;
  }
  void take(const Words& made) {
    combine(segment_, made);
    if (++taken_ % reduction_block == 0) close();
  }
  const Words& end() {
    if (taken_ % reduction_block != 0) close();
    return total_;
  }

 private:
  void close() {
    combine(total_, segment_);
    segment_ = identities();
  }

  void combine(Words& into, const Words& more) const {
    for (size_t at = 0; at < into.size(); at += planes_) {
      Words here(into.begin() + static_cast<std::ptrdiff_t>(at),
                 into.begin() + static_cast<std::ptrdiff_t>(at + planes_));
      reduce_into(*fold_.reduce, here, std::span(more).subspan(at, planes_));
      std::copy(here.begin(), here.end(), into.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  [[nodiscard]] Words identities() const {
    Words words;
    for (std::int64_t c = 0; c < columns_; ++c) words.insert(words.end(), fold_.identity.begin(), fold_.identity.end());
    return words;
  }

  const Fold::Result& fold_;
  std::int64_t columns_;
  size_t planes_;
  Words total_, segment_;
  std::int64_t taken_ = 0;
};

class FoldRun {
 public:
  FoldRun(const Fold& fold, const ProductCall& call) : fold_(fold), pass_(fold.pass), call_(call) {
    const LocalMatrix& m = *call.matrix;
    values_ = View{const_cast<std::byte*>(m.values.bytes.data()), m.values.count};
    args_.push_back(Words(static_cast<size_t>(fold.pattern ? 1 : m.element.planes())));
    for (size_t i = 0; i < pass_.operands.size(); ++i) {
      const EntryPass::Operand& operand = pass_.operands[i];
      lenses_.emplace_back(operand.element, call.inputs[fold.inputs[i]]);
      args_.push_back(Words(static_cast<size_t>(operand.seen.planes())));
      if (operand.side == EntrySide::shared) load(i, 0);
    }
    for (const auto* list : {&pass_.sums, &pass_.once}) args_.resize(args_.size() + list->size(), Words(1));
    for (size_t r = 0; r < pass_.results.size() && !pass_.stores; ++r)
      sums_.emplace_back(pass_.results[r], fold.results[r]);
  }

  void run() {
    const Lens entries(call_.matrix->element, values_);
    const auto& pointers = call_.matrix->pointers;
    for (std::int64_t row = call_.range.begin; row < call_.range.end; ++row) {
      move(row, false);
      for (RowFold& sum : sums_) sum.begin();
      for (std::int64_t e = pointers[static_cast<size_t>(row)]; e < pointers[static_cast<size_t>(row) + 1]; ++e) {
        at_nonzero(entries, e);
        if (pass_.stores) {
          store_at(number(e));
        } else {
          take();
        }
      }
      for (size_t r = 0; r < sums_.size(); ++r) store(r, row);
    }
  }

 private:
  void store(size_t r, std::int64_t row) {
    const EntryPass::Result& result = pass_.results[r];
    const Words& total = sums_[r].end();
    for (const size_t output : fold_.results[r].outputs) {
      const Lens out(result.element, call_.outputs[output]);
      for (std::int64_t c = 0; c < result.columns; ++c) {
        out.store(row * result.columns + c, total.data() + c * result.element.planes());
      }
    }
  }

  // Operator entries: the nonzero's value goes to its number.
  void store_at(std::int64_t index) {
    compute_parts();
    for (const size_t output : fold_.results[0].outputs) {
      compute(0);
      Lens(pass_.results[0].element, call_.outputs[output]).store(index, made_.data());
    }
  }

  [[nodiscard]] std::int64_t number(std::int64_t e) const { return call_.matrix->numbers[static_cast<size_t>(e)]; }

  void at_nonzero(const Lens& entries, std::int64_t e) {
    if (!fold_.pattern) entries.load(e, args_[0].data());
    move(call_.matrix->indices[static_cast<size_t>(e)], true);
    for (size_t i = 0; i < pass_.operands.size(); ++i)
      if (pass_.operands[i].side == EntrySide::entries) load(i, number(e));
  }

  void load(size_t i, std::int64_t index) {
    const EntryPass::Operand& operand = pass_.operands[i];
    const std::int64_t planes = operand.element.planes();
    for (std::int64_t c = 0; c < operand.columns; ++c)
      lenses_[i].load(index * operand.columns + c, args_[i + 1].data() + c * planes);
  }

  void move(std::int64_t index, bool across) {
    for (size_t i = 0; i < pass_.operands.size(); ++i) {
      const EntryPass::Operand& operand = pass_.operands[i];
      const bool at_side = operand.side == EntrySide::rows || operand.side == EntrySide::cols;
      if (at_side && operand.across == across) load(i, index);
    }
  }

  void evaluate_with(const ScalarFunction& fn, std::span<Word> out) {
    const std::vector<std::span<const Word>> args(args_.begin(), args_.end());
    evaluate(fn, args, out);
  }

  // The parts of one nonzero's functions. Those that several functions have are computed once.
  void compute_parts() {
    size_t next = pass_.operands.size() + 1;
    for (const ScalarFunction& sum : pass_.sums) {
      Words terms(static_cast<size_t>(sum.result().planes()));
      evaluate_with(sum, terms);
      args_[next++] = {lane_sum(sum, terms)};
    }
    for (const ScalarFunction& one : pass_.once) {
      Words word(1);
      evaluate_with(one, word);
      args_[next++] = std::move(word);
    }
  }

  void compute(size_t r) {
    made_.resize(static_cast<size_t>(pass_.results[r].function.result().planes()));
    evaluate_with(pass_.results[r].function, made_);
  }

  // Takes the functions of one nonzero into their results.
  void take() {
    compute_parts();
    for (size_t r = 0; r < sums_.size(); ++r) {
      compute(r);
      sums_[r].take(made_);
    }
  }

  const Fold& fold_;
  const EntryPass& pass_;
  const ProductCall& call_;
  View values_;
  std::vector<Lens> lenses_;
  std::vector<Words> args_;  // of the functions' parameters
  std::vector<RowFold> sums_;
  Words made_;
};

}  // namespace

Fold make_fold(const Module& module, const Op& op) {
  Fold fold;
  const std::span<const Op> ops = entry_operators(op);
  fold.pass = entry_pass(module, ops);
  fold.pattern = module.type(fold.pass.matrix).element.is(Scalar::null);
  const auto place = [](const std::vector<ValueId>& values, ValueId id) {
    return static_cast<size_t>(std::find(values.begin(), values.end(), id) - values.begin());
  };
  for (const EntryPass::Operand& operand : fold.pass.operands) fold.inputs.push_back(place(op.operands, operand.value));
  const std::vector<ValueId>& handed_on = op.code == OpCode::region ? op.blocks[0].ops.back().operands : op.results;
  for (size_t r = 0; r < ops.size(); ++r) {
    Fold::Result& result = fold.results.emplace_back();
    for (size_t o = 0; o < handed_on.size(); ++o)
      if (handed_on[o] == ops[r].results.at(0)) result.outputs.push_back(o);
    if (fold.pass.stores) continue;
    result.reduce = &module.fn(fold.pass.results[r].reducer);
    const auto identity = reducer_identity(*result.reduce);
    if (!identity) {
      fail(ExitStatus::bad_input, "the reducer " + result.reduce->name + " has no identity element",
           "an output without nonzeros holds it", "reduce with a function that has one", ops[r].where);
    }
    result.identity = *identity;
  }
  return fold;
}

void run_fold(const Fold& fold, const ProductCall& call, AccessCount& count) {
  FoldRun(fold, call).run();
  const auto& pointers = call.matrix->pointers;
  const std::int64_t rows = call.range.size();
  const std::int64_t entries =
      pointers[static_cast<size_t>(call.range.end)] - pointers[static_cast<size_t>(call.range.begin)];
  count.read_bytes += 8 * rows + entries * (4 + (fold.pass.numbered ? 4 : 0) + call.matrix->element.bytes());
  for (const EntryPass::Operand& operand : fold.pass.operands) {
    count.read_bytes += (operand.at_each() ? entries : rows) * operand.bytes();
  }
  for (size_t r = 0; r < fold.results.size(); ++r) {
    const EntryPass::Result& result = fold.pass.results[r];
    const auto copies = static_cast<std::int64_t>(fold.results[r].outputs.size());
    count.written_bytes += (fold.pass.stores ? entries : rows) * result.columns * result.element.bytes() * copies;
  }
}

}  // namespace kasen::interpreter
