// Formulas as sparse values: what they give at each nonzero is stored.
#include <fmt/format.h>

#include <utility>

#include "libcore/lang/calls/fold.h"

namespace kasen::lang {

Folds::Folds(const Part& part, Calls& calls, Reducers& reducers) : Part(part), calls_(calls), reducers_(reducers) {
  functions_.add({"at_rows"}, Functions::Name::yields, [this](auto& node, auto&) { return at_rows(node); });
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

// The dimension of the matrix's nonzeros. A bundle does not hold it, and no program can name it.
DimId Folds::entries_dim_of(ValueId matrix) {
  const std::string name = matrix_name(module_, matrix);
  if (const DimId known = entries_dim(module_, name); known != no_dim) return known;
  std::string own = name + "_entries";
  while (module_.find_dim(own) != no_dim) own += '_';
  Dimension dim;
  dim.name = std::move(own);
  dim.entries_of = name;
  return builder_.add_dim(std::move(dim));
}

ValueId Folds::emit_entries(Term formula, Mark mark, const std::string& hint) {
  const ValueId matrix = formulas_.matrix_of(formula, mark);
  meet_dense(formula, matrix, mark);
  const ElementType element = formula.type();
  const DimId dim = entries_dim_of(matrix);
  cover_side(formula, matrix, EntrySide::rows, mark);
  cover_side(formula, matrix, EntrySide::cols, mark);
  Operands operands = operands_of(std::move(formula), matrix, mark, hint);
  return builder_.emit({.code = OpCode::entries,
                        .operands = std::move(operands.values),
                        .fns = {operands.fn},
                        .at_rows = operands.at_rows},
                       mark, hint, {element, {dim}});
}

ValueId Folds::store(Term entries, Mark mark, const std::string& hint) {
  formulas_.require_absent(entries, mark);
  if (!entries.type().is_scalar()) {
    source_.fail(mark, fmt::format("stored entries of {}", show(module_, entries.type())),
                 "the entries of a sparse matrix are scalars");
  }
  meet_dense(entries, formulas_.matrix_of(entries, mark), mark);
  if (formulas_.take_stored_alone(entries, mark)) return values_.materialise(std::move(entries), hint, mark);
  return emit_entries(std::move(entries), mark, hint);
}

ValueId Folds::store_with_indices(Term entries, Mark mark, const std::string& hint) {
  const ValueId matrix = formulas_.matrix_of(entries, mark);
  formulas_.require_absent(entries, mark);
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
