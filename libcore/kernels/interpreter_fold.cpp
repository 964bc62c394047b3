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

class FoldRun {
 public:
  FoldRun(const Fold& fold, const ProductCall& call) : fold_(fold), call_(call) {
    const LocalMatrix& m = *call.matrix;
    values_ = View{const_cast<std::byte*>(m.values.bytes.data()), m.values.count};
    args_.push_back(Words(static_cast<size_t>(fold.entry.planes())));
    if (fold.pattern) args_[0][0] = is_float(fold.entry.scalar()) ? Word::real(1) : Word::integer(1);
    for (size_t i = 0; i < fold.operands.size(); ++i) {
      const Fold::Operand& operand = fold.operands[i];
      lenses_.emplace_back(operand.element, call.inputs[i + 1]);
      args_.push_back(Words(static_cast<size_t>(operand.seen.planes())));
      if (operand.side == EntrySide::shared) load(i, 0);
    }
    for (const auto* list : {&fold.function.sums, &fold.function.once})
      args_.resize(args_.size() + list->size(), Words(1));
    made_.resize(static_cast<size_t>(fold.function.rest.result().planes()));
  }

  void run() {
    const Lens entries(fold_.entry, values_);
    const Lens out(fold_.result, call_.outputs[0]);
    const auto& pointers = call_.matrix->pointers;
    const auto planes = static_cast<std::ptrdiff_t>(fold_.result.planes());
    for (std::int64_t row = call_.range.begin; row < call_.range.end; ++row) {
      move(row, false);
      begin();
      for (std::int64_t e = pointers[static_cast<size_t>(row)]; e < pointers[static_cast<size_t>(row) + 1]; ++e) {
        if (!fold_.pattern) entries.load(e, args_[0].data());
        move(call_.matrix->indices[static_cast<size_t>(e)], true);
        take();
      }
      close();
      for (std::int64_t c = 0; c < fold_.columns; ++c) out.store(row * fold_.columns + c, total_.data() + c * planes);
    }
  }

 private:
  void load(size_t i, std::int64_t index) {
    const Fold::Operand& operand = fold_.operands[i];
    const std::int64_t planes = operand.element.planes();
    for (std::int64_t c = 0; c < operand.columns; ++c)
      lenses_[i].load(index * operand.columns + c, args_[i + 1].data() + c * planes);
  }

  void move(std::int64_t index, bool across) {
    for (size_t i = 0; i < fold_.operands.size(); ++i) {
      const Fold::Operand& operand = fold_.operands[i];
      if (operand.side != EntrySide::shared && operand.across == across) load(i, index);
    }
  }

  void evaluate_with(const ScalarFunction& fn, std::span<Word> out) {
    const std::vector<std::span<const Word>> args(args_.begin(), args_.end());
    evaluate(fn, args, out);
  }

  // Takes the function of one nonzero into the segment of each column.
  void take() {
    size_t next = fold_.operands.size() + 1;
    for (const ScalarFunction& sum : fold_.function.sums) {
      Words terms(static_cast<size_t>(sum.result().planes()));
      evaluate_with(sum, terms);
      args_[next++] = {lane_sum(sum, terms)};
    }
    for (const ScalarFunction& one : fold_.function.once) {
      Words word(1);
      evaluate_with(one, word);
      args_[next++] = std::move(word);
    }
    evaluate_with(fold_.function.rest, made_);
    combine(segment_, made_);
    if (++taken_ % reduction_block == 0) {
      combine(total_, segment_);
      segment_ = identities();
    }
  }

  void combine(Words& into, const Words& more) const {
    const auto planes = static_cast<size_t>(fold_.result.planes());
    for (size_t at = 0; at < into.size(); at += planes) {
      Words here(into.begin() + static_cast<std::ptrdiff_t>(at),
                 into.begin() + static_cast<std::ptrdiff_t>(at + planes));
      reduce_into(*fold_.reduce, here, std::span(more).subspan(at, planes));
      std::copy(here.begin(), here.end(), into.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  [[nodiscard]] Words identities() const {
    Words words;
    for (std::int64_t c = 0; c < fold_.columns; ++c)
      words.insert(words.end(), fold_.identity.begin(), fold_.identity.end());
    return words;
  }

  void begin() {
    total_ = segment_ = identities();
    taken_ = 0;
  }
  void close() {
    if (taken_ % reduction_block != 0) combine(total_, segment_);
  }

  const Fold& fold_;
  const ProductCall& call_;
  View values_;
  std::vector<Lens> lenses_;
  std::vector<Words> args_;  // of the function's parameters, then of its parts
  Words made_, total_, segment_;
  std::int64_t taken_ = 0;
};

}  // namespace

Fold make_fold(const Module& module, const Op& op) {
  Fold fold;
  const ScalarFunction& fn = module.fn(op.fns.at(0));
  const auto stored = [&](size_t i) -> const Type& { return module.type(op.operands.at(i)); };
  fold.entry = fn.params.at(0).type;
  fold.pattern = stored(0).element.is(Scalar::null);
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const EntrySide side = entry_side(module, op, i);
    const std::int64_t columns = side == EntrySide::shared ? 1 : point_columns(module, stored(i));
    fold.operands.push_back({stored(i).element, fn.params.at(i).type, columns, side, is_across(module, op, i)});
  }
  fold.result = module.type(op.results.at(0)).element;
  fold.columns = point_columns(module, module.type(op.results[0]));
  fold.function = entry_function(fn);
  fold.reduce = &module.fn(op.fns.at(1));
  const auto identity = reducer_identity(*fold.reduce);
  if (!identity) {
    fail(ExitStatus::bad_input, "the reducer " + fold.reduce->name + " has no identity element",
         "an output without nonzeros holds it", "reduce with a function that has one", op.where);
  }
  fold.identity = *identity;
  return fold;
}

void run_fold(const Fold& fold, const ProductCall& call, AccessCount& count) {
  FoldRun(fold, call).run();
  const auto& pointers = call.matrix->pointers;
  const std::int64_t rows = call.range.size();
  const std::int64_t entries =
      pointers[static_cast<size_t>(call.range.end)] - pointers[static_cast<size_t>(call.range.begin)];
  count.read_bytes += 8 * rows + entries * (4 + call.matrix->element.bytes());
  for (const Fold::Operand& operand : fold.operands) {
    if (operand.side == EntrySide::shared) continue;
    count.read_bytes += (operand.across ? entries : rows) * operand.columns * operand.element.bytes();
  }
  count.written_bytes += rows * fold.columns * fold.result.bytes();
}

}  // namespace kasen::interpreter
