// The index of the largest or smallest element of each row or column of stored entries. Of all that is not stored, the
// first place of a line stands for the others: partition makes the pattern of these.
#include <fmt/format.h>

#include <utility>

#include "libcore/lang/calls/fold.h"
#include "libcore/patterns/recipe.h"

namespace kasen::lang {

Term Folds::place(Term entries, DimId along, const PairReducer& reducer, Mark mark) {
  formulas_.require_absent(entries, mark);
  const EntrySide side = along == entries.dims[1] ? EntrySide::rows : EntrySide::cols;
  const DimId kept = entries.dims[side == EntrySide::rows ? 0 : 1];
  entries = patterns_.settled(std::move(entries), mark);
  const std::vector<DimId> dims = entries.dims;
  require_kept(kept, entries, mark);
  const ElementType element = entries.type();
  const ValueId matrix = formulas_.matrix_of(entries, mark);
  const ValueId ids = values_.index(dims[side == EntrySide::rows ? 1 : 0], mark, "ids");
  const auto with_ids = [&](Term term) {
    Term id = formulas_.sided_term(ids, side == EntrySide::rows ? EntrySide::cols : EntrySide::rows, dims, mark);
    return located(source_, mark, [&] { return tuple_term(module_, {std::move(term), std::move(id)}); });
  };
  Term stored = with_ids(std::move(entries));
  const FnId by = builder_.add_function(reducer(stored.type()));
  const ValueId of_stored = emit(std::move(stored), by, side, {kept}, mark, "first");

  patterns_.require_fixed(matrix, mark);
  const std::string pattern = gaps_pattern(builder_.matrix_name(matrix), side == EntrySide::cols);
  const ValueId gaps = patterns_.matrix_called(pattern, dims, mark);
  Term zero = with_ids(literal_term(element.scalar(), is_float(element.scalar()) ? Word::real(0) : Word::integer(0)));
  zero.leaves.push_back(gaps);  // it runs once for each place
  const ValueId of_zeros = emit(std::move(zero), by, side, {kept}, mark, "zero");
  const ValueId first = builder_.emit({.code = OpCode::map, .operands = {of_stored, of_zeros}, .fns = {by}}, mark,
                                      "first", {module_.fn(by).result(), {kept}});
  return component_term(values_.term(first), 1);
}

void Folds::require_kept(DimId left, const Term& entries, Mark mark) const {
  if (contains(entries.dims, left)) return;
  const std::string own = module_.dim(entries.dims[0]).name, other = module_.dim(left).name;
  source_.fail(
      mark, fmt::format("a result over '{}', which is '{}' by another name", other, own),
      "the result of a sparse matrix lies as its own dimension does",
      fmt::format("let '{1}' stand for the axis that goes: A as [{0}, {1}] or A as [{1}, {0}], over {1}", own, other));
}

}  // namespace kasen::lang
