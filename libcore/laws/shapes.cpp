#include "libcore/laws/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "libcore/scalar/elementary.h"
#include "libcore/scalar/expression_range.h"

namespace kasen {
namespace {

bool is_constant(const Expr& e) { return e.op == ScalarOp::constant && e.type.is_scalar(); }

double number(const Expr& e) { return is_float(e.type.scalar()) ? e.literal.f : static_cast<double>(e.literal.i); }

Expr literal_like(const Expr& e, std::int64_t value) {
  const Scalar s = e.type.scalar();
  return make_literal(s, is_float(s) ? Word::real(static_cast<double>(value)) : Word::integer(value));
}

// Builds an operator and simplifies it: literals are folded, and so are 0 + x, 1 * x, 0 * x and x / 1.
Expr simple(ScalarOp op, std::vector<Expr> args) {
  if (std::all_of(args.begin(), args.end(), is_constant)) {
    std::vector<Word> words;
    for (const Expr& arg : args) words.push_back(arg.literal);
    return make_literal(args[0].type.scalar(), evaluate_op(op, args[0].type.scalar(), words));
  }
  if (op == ScalarOp::add && is_literal(args[0], 0)) return args[1];
  if ((op == ScalarOp::add || op == ScalarOp::sub) && is_literal(args[1], 0)) return args[0];
  if (op == ScalarOp::sub && is_literal(args[0], 0)) return make_op(ScalarOp::neg, {args[1]});
  if (op == ScalarOp::mul && (is_literal(args[0], 0) || is_literal(args[1], 0))) return literal_like(args[0], 0);
  if (op == ScalarOp::mul && is_literal(args[0], 1)) return args[1];
  if ((op == ScalarOp::mul || op == ScalarOp::div) && is_literal(args[1], 1)) return args[0];
  if (op == ScalarOp::div && is_literal(args[0], 0)) return literal_like(args[0], 0);
  return make_op(op, std::move(args));
}

struct AffineReader {
  int param;
  ElementType type;  // of the parameter; every intermediate result has it

  std::optional<AffineForm> scaled(const Expr& e, const Expr& by, const Expr& x) const {
    auto form = read(x);
    if (!form || by.type != type) return std::nullopt;
    return AffineForm{simple(e.op, {form->slope, by}), simple(e.op, {form->offset, by})};
  }

  std::optional<AffineForm> sum(const Expr& e) const {
    auto a = read(e.args[0]);
    auto b = read(e.args[1]);
    if (!a || !b) return std::nullopt;
    return AffineForm{simple(e.op, {a->slope, b->slope}), simple(e.op, {a->offset, b->offset})};
  }

  std::optional<AffineForm> read(const Expr& e) const {
    if (e.type != type) return std::nullopt;
    if (!uses_param(e, param)) return AffineForm{literal_like(e, 0), e};
    if (e.op == ScalarOp::param) return AffineForm{literal_like(e, 1), literal_like(e, 0)};
    if (e.op == ScalarOp::add || e.op == ScalarOp::sub) return sum(e);
    if (e.op == ScalarOp::mul && !uses_param(e.args[1], param)) return scaled(e, e.args[1], e.args[0]);
    if (e.op == ScalarOp::mul && !uses_param(e.args[0], param)) return scaled(e, e.args[0], e.args[1]);
    if (e.op == ScalarOp::div && !uses_param(e.args[1], param)) return scaled(e, e.args[1], e.args[0]);
    if (e.op != ScalarOp::neg) return std::nullopt;
    auto form = read(e.args[0]);
    if (!form) return std::nullopt;
    return AffineForm{simple(ScalarOp::neg, {form->slope}), simple(ScalarOp::neg, {form->offset})};
  }
};

// True if the result is never an infinity when no parameter is one. Otherwise 0 or an infinity could combine with it to
// a NaN, where a worker without a contribution must not be noticed. (A NaN is one on both sides.)
bool finite(const Expr& e, const std::vector<ScalarParam>& params) {
  if (is_constant(e) && is_integer(e.type.scalar())) {
    const IntegerEnds ends = integer_ends(e.type.scalar());
    return e.literal.i != ends.low && e.literal.i != ends.high;
  }
  if (is_constant(e)) return std::isfinite(number(e));
  const auto range = [&](size_t i) { return scalar_range(e.args[i], params); };
  if (e.op == ScalarOp::div && range(1).holds(0)) return false;
  if (e.op == ScalarOp::floor_div && is_float(e.type.scalar()) && range(1).holds(0)) return false;
  if (const ElementaryRow* function = elementary_row(e.op)) {
    const FunctionShape& shape = function->shape;
    if (shape.from_open && range(0).holds(shape.from)) return false;
    if (shape.to_open && range(0).holds(shape.to)) return false;
  }
  if (e.op == ScalarOp::pow && range(0).holds(0)) return false;
  return std::all_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return finite(arg, params); });
}

// ---- monotone functions exchange with min and max

enum class Trend : std::uint8_t { constant, up, down, unknown };

Trend turned(Trend t) {
  if (t == Trend::up) return Trend::down;
  return t == Trend::down ? Trend::up : t;
}

Trend together(Trend a, Trend b) {
  if (a == Trend::constant) return b;
  return b == Trend::constant || a == b ? a : Trend::unknown;
}

// Functions that never fall, even for infinite arguments.
bool is_increasing(ScalarOp op) {
  if (op == ScalarOp::floor || op == ScalarOp::ceil) return true;
  const ElementaryRow* const function = elementary_row(op);
  return function != nullptr && function->shape.never_falls();
}

// Also valid where x is the identity, an infinity (for integers an end of the type, which arithmetic keeps like one).
// Only finite numbers other than 0 scale, so no product is 0 times infinity.
struct TrendReader {
  int param;
  const std::vector<ScalarParam>& params;

  Trend scaled(const Expr& e) const {
    const bool left = e.op == ScalarOp::mul && !uses_param(e.args[0], param);
    const Expr& by = e.args[left ? 0 : 1];
    const Expr& x = e.args[left ? 1 : 0];
    if (uses_param(by, param) || x.type != by.type || !finite(by, params)) return Trend::unknown;
    const Interval range = scalar_range(by, params);
    if (!range.positive() && !range.negative()) return Trend::unknown;
    const Trend inner = read(x);
    return range.positive() ? inner : turned(inner);
  }

  Trend read(const Expr& e) const {
    if (e.type != ElementType::of(e.type.scalar())) return Trend::unknown;
    if (!uses_param(e, param)) return finite(e, params) ? Trend::constant : Trend::unknown;
    if (e.op == ScalarOp::param) return Trend::up;
    if (e.op == ScalarOp::min || e.op == ScalarOp::max) return together(read(e.args[0]), read(e.args[1]));
    if (e.op == ScalarOp::add) return together(read(e.args[0]), read(e.args[1]));
    if (e.op == ScalarOp::sub) return together(read(e.args[0]), turned(read(e.args[1])));
    if (e.op == ScalarOp::neg) return turned(read(e.args[0]));
    const bool scales = e.op == ScalarOp::mul || (e.op == ScalarOp::div && is_float(e.args[0].type.scalar()));
    if (scales) return scaled(e);
    return is_increasing(e.op) ? read(e.args[0]) : Trend::unknown;
  }
};

// True for the parameter itself, or for `op` on such an expression and ones that do not use the parameter.
bool chain_of(const Expr& e, ScalarOp op, int param) {
  if (e.op == ScalarOp::param && e.index == param) return true;
  if (e.op != op) return false;
  const auto fits = [&](const Expr& arg) { return !uses_param(arg, param) || chain_of(arg, op, param); };
  return uses_param(e, param) && std::all_of(e.args.begin(), e.args.end(), fits);
}

bool sum_law(LawKind kind, const ScalarFunction& fn, int operand) {
  const auto form = affine_form(fn, operand);
  if (!form || is_literal(form->slope, 0)) return false;
  if (kind == LawKind::pushdown) return is_literal(form->slope, 1);
  return is_literal(form->offset, 0) && finite(form->slope, fn.params);
}

bool product_law(LawKind kind, const ScalarFunction& fn, int operand) {
  const auto form = affine_form(fn, operand);
  if (!form || is_literal(form->slope, 0)) return false;
  return kind == LawKind::pushdown && is_literal(form->offset, 0);
}

bool extremum_law(LawKind kind, const ScalarFunction& fn, ScalarOp op, int operand) {
  if (kind == LawKind::pushdown) return chain_of(fn.body, op, operand);
  return TrendReader{operand, fn.params}.read(fn.body) == Trend::up;
}

// For && and ||: a chain of the reducer itself is pushed down, and any chain of either operator is exchanged.
bool truth_law(LawKind kind, const ScalarFunction& fn, ScalarOp op, int operand) {
  if (chain_of(fn.body, op, operand)) return true;
  const ScalarOp dual = op == ScalarOp::logical_and ? ScalarOp::logical_or : ScalarOp::logical_and;
  return kind != LawKind::pushdown && chain_of(fn.body, dual, operand);
}

struct AlgebraRow {
  ScalarOp op;
  Algebra algebra;
};

constexpr std::array algebras{
    AlgebraRow{ScalarOp::add, Algebra::sum},
    AlgebraRow{ScalarOp::mul, Algebra::product},
    AlgebraRow{ScalarOp::min, Algebra::minimum},
    AlgebraRow{ScalarOp::max, Algebra::maximum},
    AlgebraRow{ScalarOp::logical_and, Algebra::all},
    AlgebraRow{ScalarOp::logical_or, Algebra::any},
    AlgebraRow{ScalarOp::bit_and, Algebra::bits},
    AlgebraRow{ScalarOp::bit_or, Algebra::bits},
    AlgebraRow{ScalarOp::bit_xor, Algebra::differing_bits},
};

}  // namespace

bool uses_param(const Expr& e, int param) {
  if (e.op == ScalarOp::param) return e.index == param;
  return std::any_of(e.args.begin(), e.args.end(), [&](const Expr& arg) { return uses_param(arg, param); });
}

bool is_literal(const Expr& e, double value) {
  return is_constant(e) && is_numeric(e.type.scalar()) && number(e) == value;
}

Algebra algebra_of(const ScalarFunction& reducer) {
  const Expr& body = reducer.body;
  const bool plain = reducer.params.size() == 2 && body.args.size() == 2 && body.args[0].op == ScalarOp::param &&
                     body.args[1].op == ScalarOp::param && body.args[0].index != body.args[1].index;
  if (!plain || body.type != body.args[0].type) return Algebra::other;
  for (const AlgebraRow& r : algebras) {
    if (r.op == body.op) return r.algebra;
  }
  return Algebra::other;
}

std::optional<AffineForm> affine_form(const ScalarFunction& fn, int param) {
  const ElementType& type = fn.params[static_cast<size_t>(param)].type;
  if (!type.is_scalar() || !is_numeric(type.scalar())) return std::nullopt;
  return AffineReader{param, type}.read(fn.body);
}

bool law_by_shape(LawKind kind, const ScalarFunction& fn, const ScalarFunction& reducer, int operand) {
  const bool itself = fn.body.op == ScalarOp::param && fn.body.index == operand;
  if (itself) return true;
  switch (algebra_of(reducer)) {
    case Algebra::sum:
      return sum_law(kind, fn, operand);
    case Algebra::product:
      return product_law(kind, fn, operand);
    case Algebra::minimum:
      return extremum_law(kind, fn, ScalarOp::min, operand);
    case Algebra::maximum:
      return extremum_law(kind, fn, ScalarOp::max, operand);
    case Algebra::all:
      return truth_law(kind, fn, ScalarOp::logical_and, operand);
    case Algebra::any:
      return truth_law(kind, fn, ScalarOp::logical_or, operand);
    case Algebra::bits:
    case Algebra::differing_bits:
      return kind == LawKind::pushdown && chain_of(fn.body, reducer.body.op, operand);
    default:
      return false;
  }
}

}  // namespace kasen
