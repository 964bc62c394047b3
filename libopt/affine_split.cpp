#include "libopt/affine_split.h"

#include <algorithm>

#include "libcore/law_shapes.h"

namespace kasen {
namespace {

void collect_params(const Expr& e, std::vector<int>& used) {
  if (e.op == ScalarOp::param && std::find(used.begin(), used.end(), e.index) == used.end()) used.push_back(e.index);
  for (const Expr& arg : e.args) collect_params(arg, used);
}

// `expr` as a function of the parameters that it uses. Entry i of `from` is the whole function's parameter for i.
Expr over_own_params(const Expr& expr, const ScalarFunction& whole, std::vector<ScalarParam>& params,
                     std::vector<int>& from) {
  std::vector<int> used;
  collect_params(expr, used);
  std::vector<Expr> args;
  for (size_t i = 0; i < whole.params.size(); ++i) {
    const int old = static_cast<int>(i);
    auto at = std::find(from.begin(), from.end(), old);
    if (at == from.end() && std::find(used.begin(), used.end(), old) != used.end()) {
      params.push_back(whole.params[i]);
      from.push_back(old);
      at = from.end() - 1;
    }
    const int place = at == from.end() ? 0 : static_cast<int>(at - from.begin());
    args.push_back(make_param(place, whole.params[i].type));
  }
  return substitute(expr, args);
}

}  // namespace

std::optional<AffineHalves> split_affine(const ScalarFunction& fn, int param) {
  const std::optional<AffineForm> form = affine_form(fn, param);
  if (!form || is_literal(form->slope, 0) || is_literal(form->slope, 1) || is_literal(form->offset, 0)) {
    return std::nullopt;
  }
  const auto at = static_cast<size_t>(param);
  AffineHalves halves;
  halves.scale.name = fn.name + "_scale";
  halves.scale.params = {fn.params[at]};
  halves.scale_from = {param};
  Expr slope = over_own_params(form->slope, fn, halves.scale.params, halves.scale_from);
  halves.scale.body = make_op(ScalarOp::mul, {std::move(slope), make_param(0, fn.params[at].type)});
  halves.shift.name = fn.name + "_shift";
  halves.shift.params = {ScalarParam{fn.params[at].name, fn.result()}};
  halves.shift_from = {-1};
  Expr offset = over_own_params(form->offset, fn, halves.shift.params, halves.shift_from);
  halves.shift.body = make_op(ScalarOp::add, {std::move(offset), make_param(0, fn.result())});
  return halves;
}

}  // namespace kasen
