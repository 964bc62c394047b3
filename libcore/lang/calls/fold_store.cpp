// Formulas as sparse values: what they give at each nonzero is stored.
#include <fmt/format.h>

#include <utility>

#include "libcore/lang/calls/fold.h"
#include "libcore/patterns/recipe.h"

namespace kasen::lang {

Folds::Folds(const Part& part, Calls& calls, Reducers& reducers)
    : Part(part), calls_(calls), reducers_(reducers), patterns_(source_, builder_, formulas_, values_) {
  functions_.add({"at_rows"}, Functions::Name::yields, [this](auto& node, auto&) { return at_rows(node); });
  functions_.add({"tril"}, Functions::Name::yields, [this](auto& node, auto&) { return triangle(node, ScalarOp::le); });
  functions_.add({"triu"}, Functions::Name::yields, [this](auto& node, auto&) { return triangle(node, ScalarOp::ge); });
  functions_.add({"diag"}, Functions::Name::yields, [this](auto& node, auto& hint) { return diagonal(node, hint); });
}

bool Folds::takes_entries(const Node& call) const {
  const bool named = call.text == "tril" || call.text == "triu" || call.text == "diag";
  return named && !call.args.empty() && formulas_.is_entries(evaluator_.eval(call.args[0]));
}

Term Folds::entries_argument(const Node& node) {
  const std::size_t most = node.text == "diag" ? 1 : 2;
  if (node.args.empty() || node.args.size() > most) {
    source_.fail(node.mark, fmt::format("{} of {} arguments", node.text, node.args.size()), {},
                 fmt::format("write {}(A)", node.text));
  }
  Term entries = formulas_.by_own_names(evaluator_.element(node.args[0]), node.mark);
  if (!formulas_.is_entries(entries)) {
    source_.fail(node.args[0].mark, fmt::format("{} of {}", node.text, show_dims(module_, entries.dims)),
                 "here it takes a sparse matrix, or an expression over stored entries",
                 fmt::format("write use \"{}\" for that of an array", node.text == "diag" ? "linalg" : "arrays"));
  }
  return entries;
}

// The entries whose column stands in this relation to the row plus a number; all others become 0.
Term Folds::kept(Term entries, ScalarOp keeps, Term diagonal, Mark mark) {
  const std::vector<DimId> dims = entries.dims;
  const auto index = [&](EntrySide side) {
    const DimId dim = dims[side == EntrySide::rows ? 0 : 1];
    Term term = formulas_.sided_term(values_.index(dim, mark, "index"), side, dims, mark);
    return located(source_, mark, [&] { return convert_term(module_, Scalar::i64, std::move(term)); });
  };
  return located(source_, mark, [&] {
    Term row = combine(module_, ScalarOp::add, {index(EntrySide::rows), std::move(diagonal)});
    Term keep = combine(module_, keeps, {index(EntrySide::cols), std::move(row)});
    Term zero = literal_term(entries.type().is(Scalar::boolean) ? Scalar::boolean : Scalar::i64, Word::integer(0));
    return combine(module_, ScalarOp::select, {std::move(keep), std::move(entries), std::move(zero)});
  });
}

// tril(A), triu(A), tril(A, k)
Term Folds::triangle(const Node& node, ScalarOp keeps) {
  Term entries = entries_argument(node);
  Term diagonal = node.args.size() > 1 ? evaluator_.element(node.args[1]) : literal_term(Scalar::i64, Word::integer(0));
  if (!diagonal.dims.empty()) {
    source_.fail(node.args[1].mark, fmt::format("a diagonal for {}", show_dims(module_, diagonal.dims)),
                 "the number of a diagonal is a single integer", "write tril(A, -1)");
  }
  return kept(std::move(entries), keeps, std::move(diagonal), node.mark);
}

// diag(A): what A has at (i, i), or 0.
Term Folds::diagonal(const Node& node, const std::string& hint) {
  Term entries = entries_argument(node);
  const std::vector<DimId> dims = entries.dims;
  if (dims[0] != dims[1]) {
    source_.fail(node.mark, fmt::format("the diagonal of a matrix over {}", show_dims(module_, dims)),
                 "a square matrix has one", "write both dimensions as one");
  }
  formulas_.require_absent(entries, node.mark);
  const ElementType type = entries.type();
  Term on = kept(patterns_.settled(std::move(entries), node.mark), ScalarOp::eq,
                 literal_term(Scalar::i64, Word::integer(0)), node.mark);
  const FnId add = reducers_.plain(function_node(type.is(Scalar::boolean) ? "or" : "add", node.mark), type, node.mark);
  return values_.term(emit(std::move(on), add, EntrySide::rows, {dims[0]}, node.mark, hint));
}

// at_rows(d): of a square matrix the rows' elements. A vector by its name alone is at the columns.
Term Folds::at_rows(const Node& node) {
  if (node.args.size() != 1) source_.fail(node.mark, "at_rows takes a vector", {}, "write A / at_rows(d)");
  const Mark mark = node.args[0].mark;
  const ValueId value = values_.materialise(evaluator_.element(node.args[0]), "t", mark);
  const std::vector<DimId> dims = module_.type(value).dims;
  if (dims.size() != 1 || module_.dim(dims[0]).local) {
    source_.fail(
        mark,
        fmt::format("at_rows takes a vector over the rows of a matrix, not {}", show(module_, module_.type(value))),
        "an entry meets one element of its row");
  }
  return formulas_.sided_term(value, EntrySide::rows, {dims[0], dims[0]}, mark);
}

ValueId Folds::emit_entries(Term formula, Mark mark, const std::string& hint) {
  const ValueId matrix = formulas_.matrix_of(formula, mark);
  meet_dense(formula, matrix, mark);
  const ElementType element = formula.type();
  const DimId dim = patterns_.entries_dim_of(matrix, mark);
  cover_side(formula, matrix, EntrySide::rows, mark);
  cover_side(formula, matrix, EntrySide::cols, mark);
  Operands operands = operands_of(std::move(formula), matrix, mark, hint);
  return builder_.emit({.code = OpCode::entries,
                        .operands = std::move(operands.values),
                        .fns = {operands.fn},
                        .at_rows = operands.at_rows},
                       mark, hint, {element, {dim}});
}

void Folds::take_values(Term& formula, Mark mark) {
  const ValueId matrix = formulas_.matrix_of(formula, mark);
  if (builder_.batches_of(matrix) != no_value) return;
  const ElementType& element = module_.type(matrix).element;
  const auto own = std::find(formula.leaves.begin(), formula.leaves.end(), matrix);
  const bool alone = std::all_of(formula.leaves.begin(), formula.leaves.end(), [&](ValueId leaf) {
    if (leaf >= 0 && module_.type(leaf).dims.size() > 1) return leaf == matrix;
    const EntrySide side = formulas_.side_of(leaf, matrix, mark).side;
    return side == EntrySide::entries || side == EntrySide::shared;
  });
  if (own == formula.leaves.end() || !alone || element.is(Scalar::null)) return;
  const DimId dim = patterns_.entries_dim_of(matrix, mark);
  const std::string name = builder_.matrix_name(matrix);
  const std::vector<Op>& ops = module_.body.ops;
  const auto known =
      std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return gives_values(module_, op) && op.name == name; });
  const ValueId values = known != ops.end()
                             ? known->results.at(0)
                             : builder_.add_input(name, mark, builder_.base_name(matrix), {element, {dim}});
  *own = formulas_.stored_term(values).leaves[0];
}

ValueId Folds::store(Term entries, Mark mark, const std::string& hint) {
  formulas_.require_absent(entries, mark);
  if (entries.type().is(Scalar::null)) entries = entries_as(std::move(entries), Scalar::f64, mark);
  if (!entries.type().is_scalar()) {
    source_.fail(mark, fmt::format("stored entries of {}", show(module_, entries.type())),
                 "the entries of a sparse matrix are scalars");
  }
  require_own_names(entries, mark);
  entries = patterns_.settled(std::move(entries), mark);
  meet_dense(entries, formulas_.matrix_of(entries, mark), mark);
  take_values(entries, mark);
  if (formulas_.take_stored_alone(entries, mark)) return values_.materialise(std::move(entries), hint, mark);
  return emit_entries(std::move(entries), mark, hint);
}

// Those of a null matrix are ones of this type.
Term Folds::entries_as(Term entries, Scalar scalar, Mark mark) {
  entries.named = false;
  if (entries.type().is(Scalar::null)) entries.expr = make_param(0, ElementType::of(Scalar::f64));
  if (!formulas_.is_sparse(entries) || entries.type().is(scalar)) return entries;
  return located(source_, mark, [&] { return convert_term(module_, scalar, std::move(entries)); });
}

// The values of a factor at its own nonzeros; the term then names them.
ValueId Folds::factor_values(SparseFactor& factor, Scalar scalar, Mark mark) {
  factor.term = entries_as(patterns_.settled(std::move(factor.term), mark), scalar, mark);
  const ValueId stored = store(std::move(factor.term), mark, "factor");
  factor.term = formulas_.stored_term(stored);
  return stored;
}

// A': stored entries with rows and columns exchanged.
Term Folds::turned(Term entries, Mark mark) {
  formulas_.require_absent(entries, mark);
  const ElementType type = entries.type();
  SparseFactor factor{std::move(entries), true};
  const ValueId values =
      factor_values(factor, type.is_scalar() && !type.is(Scalar::null) ? type.scalar() : Scalar::f64, mark);
  const ValueId matrix = formulas_.matrix_of(factor.term, mark);
  Formulas::Product made{patterns_.places(matrix, true, mark),
                         values,
                         no_value,
                         no_value,
                         turned_pattern(builder_.matrix_name(matrix)),
                         {factor.term.dims[1], factor.term.dims[0]}};
  return formulas_.product_term(std::move(made), module_.type(values).element);
}

Term Folds::sparse_product(SparseFactor left, SparseFactor right, Mark mark, const std::string& hint) {
  const auto dim = [](const SparseFactor& f, size_t axis) { return f.term.dims[f.turned ? 1 - axis : axis]; };
  if (dim(left, 1) != dim(right, 0)) {
    source_.fail(mark,
                 fmt::format("'@' of matrices over {} and {}", show_dims(module_, {dim(left, 0), dim(left, 1)}),
                             show_dims(module_, {dim(right, 0), dim(right, 1)})),
                 "the columns of the first are the rows of the second");
  }
  const auto null = [&](const SparseFactor& f) {
    return formulas_.is_sparse(f.term) && module_.type(f.term.leaves[0]).element.is(Scalar::null);
  };
  const ElementType of_left = left.term.type(), of_right = right.term.type();
  const Scalar of_both = null(left) ? of_right.scalar() : of_left.scalar();
  const Scalar scalar = of_both == Scalar::null ? Scalar::f64 : of_both;
  if (!null(left) && !null(right) && of_left != of_right) {
    source_.fail(mark, fmt::format("'@' of {} and {}", show(module_, of_left), show(module_, of_right)),
                 "nothing is converted silently", "convert one of them, as in f64(A) @ B");
  }
  if (module_.dim(dim(left, 0)).local && module_.dim(dim(right, 1)).local) {
    for (Term* term : {&left.term, &right.term}) {
      formulas_.require_absent(*term, mark);
      if (term->type().is(Scalar::null)) *term = entries_as(std::move(*term), scalar, mark);
    }
    return local_product(std::move(left), std::move(right), mark, hint);
  }
  const bool same =
      formulas_.is_sparse(left.term) && formulas_.is_sparse(right.term) && left.term.leaves == right.term.leaves;
  const ValueId u = factor_values(left, scalar, mark);
  if (same) right.term = left.term;
  const ValueId v = same ? u : factor_values(right, scalar, mark);
  const ValueId a = formulas_.matrix_of(left.term, mark), b = formulas_.matrix_of(right.term, mark);
  const auto name = [&](ValueId matrix, bool turned) {
    const std::string& own = builder_.matrix_name(matrix);
    return turned ? turned_pattern(own) : own;
  };
  Formulas::Product product{patterns_.places(a, left.turned, mark),
                            u,
                            patterns_.places(b, right.turned, mark),
                            v,
                            product_of_patterns(name(a, left.turned), name(b, right.turned)),
                            {dim(left, 0), dim(right, 1)}};
  return formulas_.product_term(std::move(product), module_.type(u).element);
}

// Other names tell which axis a reduction is along.
void Folds::require_own_names(const Term& entries, Mark mark) const {
  const std::vector<DimId> own = formulas_.own_dims(entries, mark);
  if (own == entries.dims) return;
  source_.fail(mark, fmt::format("entries over {} as {}", show_dims(module_, own), show_dims(module_, entries.dims)),
               "a sparse matrix keeps the names of its dimensions where it is stored or read more than once",
               "give it other names where it is reduced: sum(A as [N, M], over M)");
}

ValueId Folds::store_with_indices(Term entries, Mark mark, const std::string& hint) {
  require_own_names(entries, mark);
  formulas_.require_absent(entries, mark);
  entries = patterns_.settled(std::move(entries), mark);
  const ValueId matrix = formulas_.matrix_of(entries, mark);
  const std::vector<DimId> dims = module_.type(matrix).dims;
  const auto index = [&](EntrySide side) {
    const DimId dim = dims[side == EntrySide::rows ? 0 : 1];
    return formulas_.sided_term(values_.index(dim, mark, "index"), side, dims, mark);
  };
  std::vector<Term> parts{index(EntrySide::rows), index(EntrySide::cols), std::move(entries)};
  Term all = located(source_, mark, [&] { return tuple_term(module_, std::move(parts)); });
  return emit_entries(std::move(all), mark, hint);
}

}  // namespace kasen::lang
