#include "libopt/sync/chain_split.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/laws/shapes.h"
#include "libcore/scalar/loops.h"

namespace kasen {
namespace {

constexpr size_t most_parts = 12;  // of one expression; a longer one is cut at its outermost parts alone

void collect_params(const Expr& e, std::vector<int>& used) {
  if (e.op == ScalarOp::param && std::find(used.begin(), used.end(), e.index) == used.end()) used.push_back(e.index);
  for (const Expr& arg : e.args) collect_params(arg, used);
}

bool has_free_loop(const Expr& e, std::vector<int>& open) {
  if (e.op == ScalarOp::loop_var) return std::find(open.begin(), open.end(), e.index) == open.end();
  const bool loop = is_coordinate_loop(e.op);
  if (loop) open.push_back(e.index);
  const bool found =
      std::any_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return has_free_loop(arg, open); });
  if (loop) open.pop_back();
  return found;
}

// Makes `expr` a function of x, or of its replacement, and of the other parameters that it uses. Entry i of `from` is
// the whole function's parameter for i. The first entry is for x.
ScalarFunction over_own_params(std::string name, const Expr& expr, const ScalarFunction& whole, int x,
                               std::vector<int>& from) {
  const ScalarParam& first = whole.params[static_cast<size_t>(x)];
  ScalarFunction fn{std::move(name), {{first.name, first.type, {}}}, {}};
  std::vector<int> used;
  collect_params(expr, used);
  std::vector<Expr> args;
  for (size_t i = 0; i < whole.params.size(); ++i) {
    const int old = static_cast<int>(i);
    auto at = old == x ? from.begin() : std::find(from.begin() + 1, from.end(), old);
    if (at == from.end() && std::find(used.begin(), used.end(), old) != used.end()) {
      fn.params.push_back(whole.params[i]);
      from.push_back(old);
      at = from.end() - 1;
    }
    const int place = at == from.end() ? 0 : static_cast<int>(at - from.begin());
    args.push_back(make_param(place, whole.params[i].type));
  }
  fn.body = substitute(expr, args);
  return fn;
}

// `outer` has x in the place of the inner part.
FunctionSplit make_split(const ScalarFunction& fn, int param, const Expr& inner, const Expr& outer,
                         const std::pair<const char*, const char*>& names) {
  FunctionSplit split;
  split.first_from = {param};
  split.first = over_own_params(fn.name + names.first, inner, fn, param, split.first_from);
  split.second_from = {-1};
  split.second = over_own_params(fn.name + names.second, outer, fn, param, split.second_from);
  return split;
}

// Returns slope * x + offset, unless the function already is one of these halves.
std::optional<FunctionSplit> affine_split(const ScalarFunction& fn, int param) {
  const std::optional<AffineForm> form = affine_form(fn, param);
  if (!form || is_literal(form->slope, 0) || is_literal(form->slope, 1) || is_literal(form->offset, 0)) {
    return std::nullopt;
  }
  const Expr x = make_param(param, fn.params[static_cast<size_t>(param)].type);
  return make_split(fn, param, make_op(ScalarOp::mul, {form->slope, x}), make_op(ScalarOp::add, {form->offset, x}),
                    {"_scale", "_shift"});
}

// Collects the parts that hold x, from the outermost on, each once.
void collect_parts(const Expr& e, const ScalarFunction& fn, int param, std::vector<const Expr*>& parts) {
  if (!uses_param(e, param) || e.op == ScalarOp::param) return;
  std::vector<int> open;
  const bool fits = &e != &fn.body && e.type == fn.result() && !has_free_loop(e, open);
  const bool known = std::any_of(parts.begin(), parts.end(), [&](const Expr* part) { return *part == e; });
  if (fits && !known && parts.size() < most_parts) parts.push_back(&e);
  for (const Expr& arg : e.args) collect_parts(arg, fn, param, parts);
}

Expr with_hole(const Expr& e, const Expr& part, const Expr& hole) {
  if (e == part) return hole;
  Expr copy = e;
  for (Expr& arg : copy.args) arg = with_hole(arg, part, hole);
  return copy;
}

// Returns true if x occurs outside of the part. (The hole that replaces the part is written as x.)
bool occurs_outside(const Expr& e, const Expr& part, int param) {
  if (e == part) return false;
  if (e.op == ScalarOp::param) return e.index == param;
  return std::any_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return occurs_outside(arg, part, param); });
}

}  // namespace

std::vector<FunctionSplit> function_splits(const ScalarFunction& fn, int param) {
  std::vector<FunctionSplit> splits;
  const ElementType& type = fn.params[static_cast<size_t>(param)].type;
  if (type != fn.result()) return splits;
  if (auto affine = affine_split(fn, param)) splits.push_back(std::move(*affine));
  std::vector<const Expr*> parts;
  collect_parts(fn.body, fn, param, parts);
  const Expr hole = make_param(param, type);
  for (const Expr* part : parts) {
    if (occurs_outside(fn.body, *part, param)) continue;
    splits.push_back(make_split(fn, param, *part, with_hole(fn.body, *part, hole), {"_first", "_then"}));
  }
  return splits;
}

}  // namespace kasen
