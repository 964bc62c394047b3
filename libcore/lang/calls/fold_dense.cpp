// Dense arrays beside stored entries: of [N, F], F local, the worker of a row has all of it, so an entry meets one
// element of its row. Of U @ V' it meets the sum of its own pairs, and the array is not made.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/ir/products.h"
#include "libcore/lang/calls/fold.h"

namespace kasen::lang {
namespace {

void replace_param(Expr& expr, int place, const Expr& by) {
  if (expr.op == ScalarOp::param && expr.index == place) {
    expr = by;
    return;
  }
  for (Expr& arg : expr.args) replace_param(arg, place, by);
}

// The term `by` in the place of a leaf, which goes.
void replace_leaf(Term& formula, size_t place, Term by) {
  std::vector<int> to;
  for (const ValueId leaf : by.leaves) {
    auto known = std::find(formula.leaves.begin(), formula.leaves.end(), leaf);
    if (known == formula.leaves.end()) known = formula.leaves.insert(known, leaf);
    to.push_back(static_cast<int>(known - formula.leaves.begin()));
  }
  renumber_params(by.expr, to);
  replace_param(formula.expr, static_cast<int>(place), by.expr);
  std::vector<int> kept(formula.leaves.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<int>(i > place ? i - 1 : i);
  renumber_params(formula.expr, kept);
  formula.leaves.erase(formula.leaves.begin() + static_cast<std::ptrdiff_t>(place));
  formula.nesting = std::max(formula.nesting, by.nesting);
  formula.iterations = std::max(formula.iterations, by.iterations);
}

}  // namespace

Term Folds::dense_element(ValueId array, const std::vector<DimId>& dims, Mark mark) {
  if (const Op* product = builder_.made_by(array); product != nullptr && product->code == OpCode::mxvt) {
    const ValueId left = product->operands[1];
    const Op* turned = builder_.made_by(product->operands[0]);
    const bool sums = is_plain_operator(module_.fn(product->fns[0]), ScalarOp::mul) &&
                      is_plain_operator(module_.fn(product->fns[1]), ScalarOp::add) && !module_.type(left).sparse;
    if (sums && turned != nullptr && turned->code == OpCode::transpose && seen_element(module_, module_.type(left)) &&
        seen_element(module_, module_.type(turned->operands[0]))) {
      return pairs(values_.term(left), values_.term(turned->operands[0]), mark);
    }
  }
  Term row = formulas_.sided_term(array, EntrySide::rows, dims, mark);
  Term column = formulas_.sided_term(values_.index(dims[1], mark, "index"), EntrySide::cols, dims, mark);
  return located(source_, mark, [&] {
    return element_term(module_, std::move(row), convert_term(module_, Scalar::i64, std::move(column)));
  });
}

// A sparse matrix with a local dimension as an array: a point for each index of the one that is cut.
ValueId Folds::array_of(SparseFactor factor, Mark mark) {
  Term entries = patterns_.settled(std::move(factor.term), mark);
  const std::vector<DimId> dims = entries.dims;
  const DimId kept = dims[factor.turned ? 1 : 0], along = dims[factor.turned ? 0 : 1];
  const std::int64_t columns = module_.dim(along).size;
  if (columns < 0 || columns > most_point_coordinates) {
    source_.fail(
        mark,
        fmt::format("a product of sparse matrices with columns over '{}', which is local", module_.dim(along).name),
        fmt::format("it is an array, with at most {} columns, whose number plan knows", most_point_coordinates),
        fmt::format("write the size where the dimension is declared, dim {0} local = 20, or give -D {0}=20",
                    module_.dim(along).name));
  }
  const int number = builder_.new_loop();
  const ElementType element = entries.type();
  Term point = located(source_, mark, [&] {
    Term at = formulas_.sided_term(values_.index(along, mark, "index"),
                                   factor.turned ? EntrySide::rows : EntrySide::cols, dims, mark);
    Term here =
        combine(module_, ScalarOp::eq, {convert_term(module_, Scalar::i64, std::move(at)), loop_var_term(number)});
    Term zero = literal_term(element.scalar(), is_float(element.scalar()) ? Word::real(0) : Word::integer(0));
    return loop_term(ScalarOp::build, number, columns,
                     combine(module_, ScalarOp::select, {std::move(here), std::move(entries), std::move(zero)}));
  });
  const FnId add = reducers_.plain(function_node(element.is(Scalar::boolean) ? "or" : "add", mark), element, mark);
  return emit(std::move(point), add, factor.turned ? EntrySide::cols : EntrySide::rows, {kept, along}, mark, "rows");
}

// A' @ B over local dimensions is an array: B's rows become arrays, and A has a product with them.
Term Folds::local_product(SparseFactor left, SparseFactor right, Mark mark, const std::string& hint) {
  const bool logic = right.term.type().is(Scalar::boolean);
  const ValueId columns = array_of(std::move(right), mark);
  return multiply(function_node(logic ? "and" : "mul", mark), function_node(logic ? "or" : "add", mark),
                  values_.term(columns), std::move(left.term), !left.turned, mark, hint);
}

void Folds::meet_dense(Term& formula, ValueId matrix, Mark mark) {
  const std::vector<DimId> dims = module_.type(matrix).dims;
  const auto is_dense = [&](ValueId leaf) {
    return leaf >= 0 && leaf != matrix && module_.type(leaf).dims == dims && module_.dim(dims[1]).local;
  };
  for (size_t at = 0; at < formula.leaves.size();) {
    if (is_dense(formula.leaves[at])) {
      replace_leaf(formula, at, dense_element(formula.leaves[at], dims, mark));
    } else {
      ++at;
    }
  }
}

}  // namespace kasen::lang
