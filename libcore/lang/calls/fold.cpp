#include "libcore/lang/calls/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "libcore/ir/layout.h"
#include "libcore/laws/laws.h"

namespace kasen::lang {

Term Folds::pairs(Term left, Term right, Mark mark) {
  const std::vector<DimId> dims{left.dims[0], right.dims[0]};
  const std::int64_t columns = module_.dim(left.dims[1]).size;
  const auto side = [&](Term term, EntrySide at) {
    return formulas_.sided_term(values_.materialise(std::move(term), "t", mark), at, dims, mark);
  };
  Term u = side(std::move(left), EntrySide::rows);
  Term v = side(std::move(right), EntrySide::cols);
  return located(source_, mark, [&] {
    const int number = builder_.new_loop();
    const Term j = loop_var_term(number);
    std::vector<Term> factors{element_term(module_, std::move(u), j), element_term(module_, std::move(v), j)};
    return loop_term(ScalarOp::sum_over, number, columns, combine(module_, ScalarOp::mul, std::move(factors)));
  });
}

bool Folds::gives_pairs(const Term& left, const Term& right) const {
  const auto columns = [&](const Term& t) {
    return t.dims.size() == 2 && !formulas_.is_entries(t) && Layout(module_, t.dims).is_cut(0) &&
           module_.dim(t.dims[1]).local;
  };
  if (!columns(left) || !columns(right) || left.dims[1] != right.dims[1]) return false;
  const std::vector<DimId> over{left.dims[0], right.dims[0]};
  return std::any_of(module_.values.begin(), module_.values.end(), [&](const Value& value) {
    const std::vector<DimId>& dims = value.type.dims;
    return value.type.sparse && std::is_permutation(dims.begin(), dims.end(), over.begin(), over.end());
  });
}

// Each side needs an operand. If it has none, adds one that nothing reads.
void Folds::cover_side(Term& formula, ValueId matrix, EntrySide side, Mark mark) {
  const bool some = std::any_of(formula.leaves.begin(), formula.leaves.end(),
                                [&](ValueId leaf) { return formulas_.side_of(leaf, matrix, mark).side == side; });
  if (some) return;
  const DimId dim = module_.type(matrix).dims[side == EntrySide::rows ? 0 : 1];
  const ValueId every = builder_.emit({.code = OpCode::fill, .literal = {Word::integer(1)}}, mark, "every",
                                      {ElementType::of(Scalar::boolean), {dim}});
  // The side is explicit, since a plain vector is at the columns of a square matrix.
  formula.leaves.push_back(formulas_.sided_term(every, side, {}, mark).leaves[0]);
}

// The formula's function, and what it reads in the order of a fold's operands.
Folds::Operands Folds::operands_of(Term formula, ValueId matrix, Mark mark, const std::string& hint) {
  const ElementType& stored = module_.type(matrix).element;
  std::vector<ScalarParam> params{{"entry", stored.is(Scalar::null) ? ElementType::of(Scalar::f64) : stored, {}}};
  Operands made{{matrix}};
  std::vector<ValueId>& operands = made.values;
  std::vector<ValueId> leaves(formula.leaves.size(), parameter_leaf(0));
  for (const EntrySide now : {EntrySide::rows, EntrySide::cols, EntrySide::entries, EntrySide::shared}) {
    const auto first = static_cast<std::ptrdiff_t>(operands.size());
    for (size_t i = 0; i < formula.leaves.size(); ++i) {
      const Formulas::SidedLeaf leaf = formulas_.side_of(formula.leaves[i], matrix, mark);
      if (leaf.value == matrix || leaf.side != now) continue;
      const auto same = std::find(operands.begin() + first, operands.end(), leaf.value);
      const auto place = static_cast<int>(same - operands.begin());
      leaves[i] = parameter_leaf(place);
      if (same != operands.end()) continue;
      operands.push_back(leaf.value);
      params.push_back({fmt::format("{}_{}", builder_.base_name(leaf.value), place),
                        *seen_element(module_, module_.type(leaf.value)),
                        {}});
    }
    if (now == EntrySide::rows) made.at_rows = static_cast<int>(operands.size()) - 1;
  }
  formula.leaves = std::move(leaves);
  ValueId stray = no_value;
  made.fn =
      builder_.add_function(finish_function(formula, std::move(params), "f_" + (hint.empty() ? "t" : hint), stray));
  return made;
}

// The result is an array over `dims`.
ValueId Folds::emit(Term formula, FnId reducer, EntrySide side, std::vector<DimId> dims, Mark mark,
                    const std::string& hint) {
  const ValueId matrix = formulas_.matrix_of(formula, mark);
  meet_dense(formula, matrix, mark);
  cover_side(formula, matrix, side == EntrySide::rows ? EntrySide::cols : EntrySide::rows, mark);
  Operands operands = operands_of(std::move(formula), matrix, mark, hint);
  return builder_.emit({.code = side == EntrySide::rows ? OpCode::fold_rows : OpCode::fold_cols,
                        .operands = std::move(operands.values),
                        .fns = {operands.fn, reducer},
                        .at_rows = operands.at_rows},
                       mark, hint, {module_.fn(reducer).result(), std::move(dims)});
}

// What a row or column came to, with a 0 for all that it does not store: as many nonzeros as it has elements, or fewer.
ValueId Folds::meet_zeros(ValueId folded, ValueId matrix, FnId reducer, EntrySide side, Mark mark) {
  const ElementType count = ElementType::of(Scalar::i64);
  Term one = literal_term(Scalar::i64, Word::integer(1));
  one.leaves.push_back(matrix);  // it runs once for each nonzero
  const std::vector<DimId> dims = module_.type(matrix).dims;
  const bool rows = side == EntrySide::rows;
  const FnId add = reducers_.plain(function_node("add", mark), count, mark);
  const ValueId stored = emit(std::move(one), add, side, {dims[rows ? 0 : 1]}, mark, "stored");
  const ValueId size = values_.size(dims[rows ? 1 : 0], mark, "elements");
  const ElementType element = module_.fn(reducer).result();
  const Expr met = make_param(0, element);
  const Expr fewer = make_op(ScalarOp::lt, {make_param(1, count), make_param(2, count)});
  const Expr zero = make_literal(element.scalar(), is_float(element.scalar()) ? Word::real(0) : Word::integer(0));
  Expr with_zero = substitute(module_.fn(reducer).body, std::array{met, zero});
  const FnId fn = builder_.add_function({"with_zeros",
                                         {{"met", element, {}}, {"stored", count, {}}, {"elements", count, {}}},
                                         make_op(ScalarOp::select, {fewer, std::move(with_zero), met})});
  return builder_.emit({.code = OpCode::map, .operands = {folded, stored, size}, .fns = {fn}}, mark, "t",
                       {element, {dims[rows ? 0 : 1]}});
}

// The same for all nonzeros. Counts of elements are exact as f64 where nonzeros can be as many.
ValueId Folds::meet_all_zeros(ValueId folded, ValueId matrix, FnId reducer, Mark mark) {
  const ElementType count = ElementType::of(Scalar::i64), element = module_.fn(reducer).result();
  const std::vector<DimId> dims = module_.type(matrix).dims;
  const ValueId stored = values_.size(patterns_.entries_dim_of(matrix, mark), mark, "stored");
  const ValueId rows = values_.size(dims[0], mark, "rows"), columns = values_.size(dims[1], mark, "columns");
  const auto number = [&](int param) { return make_cast(Scalar::f64, make_param(param, count)); };
  const Expr met = make_param(0, element);
  const Expr fewer = make_op(ScalarOp::lt, {number(1), make_op(ScalarOp::mul, {number(2), number(3)})});
  const Expr zero = make_literal(element.scalar(), is_float(element.scalar()) ? Word::real(0) : Word::integer(0));
  Expr with_zero = substitute(module_.fn(reducer).body, std::array{met, zero});
  const FnId fn =
      builder_.add_function({"with_zeros",
                             {{"met", element, {}}, {"stored", count, {}}, {"rows", count, {}}, {"columns", count, {}}},
                             make_op(ScalarOp::select, {fewer, std::move(with_zero), met})});
  return builder_.emit({.code = OpCode::apply, .operands = {folded, stored, rows, columns}, .fns = {fn}}, mark, "t",
                       {element});
}

namespace {

bool is_zero(const ElementType& type, Word word) { return is_float(type.scalar()) ? word.f == 0 : word.i == 0; }

// True if any number of zeros come to 0.
bool keeps_zero(const ScalarFunction& reducer) {
  const std::vector<Word> zero{is_float(reducer.result().scalar()) ? Word::real(0) : Word::integer(0)};
  std::vector<Word> made(1);
  evaluate(reducer, std::array{std::span<const Word>(zero), std::span<const Word>(zero)}, made);
  return is_zero(reducer.result(), made[0]);
}

}  // namespace

Term Folds::reduce(const Node& fn, Term entries, const Node* over, Mark mark, const std::string& hint) {
  formulas_.require_absent(entries, mark);
  const std::vector<DimId> names = entries.dims, gone = types_.named(names, over, mark);
  const EntrySide side = gone.empty() || gone[0] == names[1] ? EntrySide::rows : EntrySide::cols;
  entries = patterns_.settled(std::move(entries), mark);
  const std::vector<DimId> dims = entries.dims;
  if (!gone.empty()) require_kept(names[side == EntrySide::rows ? 0 : 1], entries, mark);
  const ElementType type = entries.type();
  const FnId by = reducers_.plain(fn, type, mark);
  const auto identity = reducer_identity(module_.fn(by));
  if (!identity || !type.is_scalar() || !keeps_zero(module_.fn(by))) {
    formulas_.fail(entries, mark, fmt::format("'{}' of stored entries", module_.fn(by).name),
                   "what is not stored counts as 0, and this reduction would have to meet each of them",
                   "for stored entries alone write mxvt(z, r, G, x), with a multiplier and a reducer");
  }
  const ValueId matrix = formulas_.matrix_of(entries, mark);
  const bool zeros_count = !is_zero(type, (*identity)[0]);
  Term stored = entries;
  if (gone.empty()) {
    meet_dense(stored, matrix, mark);
    take_values(stored, mark);
  }
  if (gone.empty() && formulas_.take_stored_alone(stored, mark)) {
    const ValueId each = values_.materialise(std::move(stored), "t", mark);
    const ValueId all = values_.reduce(by, each, {}, mark, hint);
    return values_.term(zeros_count ? meet_all_zeros(all, matrix, by, mark) : all);
  }
  ValueId folded =
      emit(std::move(entries), by, side, {dims[side == EntrySide::rows ? 0 : 1]}, mark, gone.empty() ? "t" : hint);
  if (zeros_count) folded = meet_zeros(folded, matrix, by, side, mark);
  return values_.term(gone.empty() ? values_.reduce(by, folded, {}, mark, hint) : folded);
}

void Folds::require_fit(const Type& vector, const std::vector<DimId>& dims, bool transposed, Mark mark) const {
  const DimId from = dims[transposed ? 1 : 0];
  const std::vector<DimId>& have = vector.dims;
  const bool fits = !have.empty() && have[0] == from &&
                    std::all_of(have.begin() + 1, have.end(), [&](DimId d) { return module_.dim(d).local; });
  if (fits) return;
  source_.fail(mark,
               fmt::format("the product needs an array over [{0}], or [{0}, ...] with local dimensions, not {1}",
                           module_.dim(from).name, show(module_, vector)),
               fmt::format("the entries are over {}; the product runs along their {}", show_dims(module_, dims),
                           transposed ? "columns" : "rows"));
}

Term Folds::multiply(const Node& times, const Node& plus, Term vector, Term entries, bool transposed, Mark mark,
                     const std::string& hint) {
  entries = patterns_.settled(std::move(entries), mark);
  const std::vector<DimId> dims = entries.dims;
  const ValueId v = values_.materialise(std::move(vector), "t", mark);
  const Type type = module_.type(v);
  require_fit(type, dims, transposed, mark);
  Term term = formulas_.sided_term(v, transposed ? EntrySide::cols : EntrySide::rows, dims, mark);
  const bool points = type.dims.size() > 1;
  const int number = points ? builder_.new_loop() : 0;
  if (points) {
    term = located(source_, mark, [&] { return element_term(module_, std::move(term), loop_var_term(number)); });
  }
  const ValueId matrix = formulas_.matrix_of(entries, mark);
  Term product = calls_.apply(times, {std::move(term), std::move(entries)}, mark);
  // A multiplier that does not read the nonzero still runs once for each of them.
  if (!contains(product.leaves, matrix)) product.leaves.push_back(matrix);
  if (points && !product.type().is_scalar()) {
    source_.fail(mark, fmt::format("entries with columns give {}", show(module_, product.type())),
                 "each column of the result holds a scalar", "take one column at a time: a vector in their place");
  }
  const ElementType element = product.type();
  const Reducer by = reducers_.with_mask(plus, element, mark);
  if (by.masked && points) {
    source_.fail(mark, fmt::format("'{}' has no identity element", module_.fn(by.fn).name),
                 "each column of the result holds a scalar, and no flag that shows whether it holds a value",
                 "take one column at a time: a vector in their place");
  }
  if (by.masked) product = Reducers::mask(product);
  if (points) {
    const std::int64_t columns = point_columns(module_, type);
    product = located(source_, mark, [&] { return loop_term(ScalarOp::build, number, columns, std::move(product)); });
  }
  std::vector<DimId> made = type.dims;
  made[0] = dims[transposed ? 0 : 1];
  const EntrySide side = transposed ? EntrySide::rows : EntrySide::cols;
  const ValueId result = emit(std::move(product), by.fn, side, std::move(made), mark, hint);
  return by.masked ? reducers_.unmask(result, element, by) : values_.term(result);
}

}  // namespace kasen::lang
