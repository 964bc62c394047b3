// Dense arrays beside stored entries: of [N, F], F local, the worker of a row has all of it, so an entry meets one
// element of its row. Of U @ V' it meets the sum of its own pairs, and the array is not made.
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
