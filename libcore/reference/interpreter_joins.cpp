// Operators on the nonzeros of several patterns (libcore/entries/joins.h), by the places of the whole matrices.
#include <map>
#include <utility>
#include <vector>

#include "libcore/reference/interpreter_state.h"

namespace kasen::reference {

using RowAndColumn = std::pair<std::int64_t, std::int64_t>;

void Interpreter::run_align(const Op& op) {
  const WholeMatrix& to = *values_.at(op.operands.at(0)).matrix;
  const WholeMatrix& from = *values_.at(op.operands.at(1)).matrix;
  const size_t planes = planes_of(op.results.at(0));
  work_.copies(static_cast<std::int64_t>(to.rows.size() + from.rows.size()), static_cast<std::int64_t>(planes));
  std::map<RowAndColumn, std::int64_t> known;
  for (size_t e = 0; e < from.rows.size(); ++e) known[{from.rows[e], from.cols[e]}] = static_cast<std::int64_t>(e);
  const ElementType& element = module_.type(op.results[0]).element;
  const bool null = module_.type(op.operands[1]).element.is(Scalar::null);
  Words made;
  for (size_t e = 0; e < to.rows.size(); ++e) {
    const auto at = known.find({to.rows[e], to.cols[e]});
    for (size_t p = 0; p < planes && at == known.end(); ++p) {
      made.push_back(is_float(element.plane_scalar(static_cast<std::int64_t>(p))) ? Word::real(0) : Word::integer(0));
    }
    if (at == known.end()) continue;
    if (op.operands.size() > 2) {
      const std::span<const Word> value = this->element(op.operands[2], at->second);
      made.insert(made.end(), value.begin(), value.end());
    } else if (null) {
      made.push_back(Word::real(1));
    } else {
      append_element(from.values, at->second, made);
    }
  }
  set(op.results[0], std::move(made));
}

namespace {

Word product(Scalar scalar, Word a, Word b) {
  if (is_float(scalar)) return evaluate_op(ScalarOp::mul, scalar, std::vector<Word>{a, b});
  return evaluate_op(scalar == Scalar::boolean ? ScalarOp::logical_and : ScalarOp::mul, scalar,
                     std::vector<Word>{a, b});
}

Word sum(Scalar scalar, Word a, Word b) {
  return evaluate_op(scalar == Scalar::boolean ? ScalarOp::logical_or : ScalarOp::add, scalar, std::vector<Word>{a, b});
}

}  // namespace

// Of one factor, its value at each place.
void Interpreter::run_place(const Op& op) {
  std::map<RowAndColumn, Word> known;
  for (std::int64_t e = 0; e < count_of(op.operands[1]); ++e) {
    const std::span<const Word> at = element(op.operands[1], e);
    known[{at[0].i, at[1].i}] = element(op.operands[2], e)[0];
  }
  const bool real = is_float(module_.type(op.results.at(0)).element.scalar());
  Words made;
  for (std::int64_t e = 0; e < count_of(op.operands[0]); ++e) {
    const std::span<const Word> at = element(op.operands[0], e);
    const auto found = known.find({at[0].i, at[1].i});
    made.push_back(found != known.end() ? found->second : real ? Word::real(0) : Word::integer(0));
  }
  work_.copies(std::ssize(made), 1);
  set(op.results[0], std::move(made));
}

// The terms of each place in the order of the index that is summed.
void Interpreter::run_meet(const Op& op) {
  if (op.operands.size() == 3) return run_place(op);
  std::map<std::int64_t, std::map<std::int64_t, Word>> left, right;  // by row, by column
  const auto take = [&](size_t places, bool turned, auto& factor) {
    for (std::int64_t e = 0; e < count_of(op.operands[places]); ++e) {
      const std::span<const Word> at = element(op.operands[places], e);
      factor[at[turned ? 1 : 0].i][at[turned ? 0 : 1].i] = element(op.operands[places + 1], e)[0];
    }
  };
  take(1, false, left);
  take(3, true, right);
  const Scalar scalar = module_.type(op.results.at(0)).element.scalar();
  Words made, terms;
  for (std::int64_t e = 0; e < count_of(op.operands[0]); ++e) {
    const std::span<const Word> at = element(op.operands[0], e);
    const auto &row = left[at[0].i], &column = right[at[1].i];
    work_.copies(static_cast<std::int64_t>(row.size()) + 1, 1);
    terms.clear();
    for (const auto& [k, value] : row)
      if (const auto other = column.find(k); other != column.end())
        terms.push_back(product(scalar, value, other->second));
    Word total = is_float(scalar) ? Word::real(0) : Word::integer(0);
    in_order(std::ssize(terms), [&](std::int64_t k) { total = sum(scalar, total, terms[static_cast<size_t>(k)]); });
    made.push_back(total);
  }
  set(op.results[0], std::move(made));
}

}  // namespace kasen::reference
