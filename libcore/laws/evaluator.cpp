#include "libcore/laws/evaluator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/scalar/element_range.h"

namespace kasen {
namespace {

CaseValue of_truth(bool truth) { return {true, {}, truth}; }
CaseValue of_number(CaseNumber number) { return {false, std::move(number)}; }

}  // namespace

CaseElement CaseEvaluator::variable(const ScalarParam& param) {
  auto element = std::make_shared<LazyElement>();
  for (std::int64_t p = 0; p < param.type.planes(); ++p) {
    const Scalar scalar = param.type.plane_scalar(p);
    if (scalar == Scalar::boolean) {
      element->planes.push_back(CaseValue{true, {}, false, a_.name()});
      continue;
    }
    const CaseNumber number = a_.unknown();
    const RationalPolynomial& x = number.value.over;
    within(x, declared_range(param, p));
    if (scalar == Scalar::id) path_.given(x, false);
    if (!is_float(scalar)) in_type_.push_back(x);
    element->planes.push_back(of_number(number));
  }
  return element;
}

CaseElement CaseEvaluator::constant(const ElementType& type, const std::vector<Word>& words) const {
  auto element = std::make_shared<LazyElement>();
  for (size_t p = 0; p < words.size(); ++p) {
    element->planes.push_back(literal(type.plane_scalar(static_cast<std::int64_t>(p)), words[p]));
  }
  return element;
}

CaseElement CaseEvaluator::call(const ScalarFunction& fn, std::vector<CaseElement> args) {
  const auto planes = static_cast<size_t>(fn.result().planes());
  LazyElement element{&fn, std::move(args), std::vector<std::optional<CaseValue>>(planes)};
  return std::make_shared<LazyElement>(std::move(element));
}

CaseElement CaseEvaluator::side(const LawSide& s, const std::vector<CaseElement>& variables) {
  if (s.fn == nullptr) return variables[s.variable];
  std::vector<CaseElement> args;
  for (const LawSide& arg : s.args) args.push_back(side(arg, variables));
  return call(*s.fn, std::move(args));
}

void CaseEvaluator::only_these_integers(const CaseElement& element, const ElementType& type) {
  const auto integers = [](const Component& c) { return is_integer(c.scalar); };
  const bool any = std::any_of(type.components.begin(), type.components.end(), integers);
  for (size_t p = 0; any && p < element->planes.size(); ++p) (void)plane(*element, p);
  given_ = false;
}

bool CaseEvaluator::same(const CaseElement& a, const CaseElement& b, size_t p) {
  const CaseValue& x = plane(*a, p);
  const CaseValue& y = plane(*b, p);
  if (!x.is_truth) return a_.same(x.number, y.number);
  return (x.unknown >= 0 && x.unknown == y.unknown) || known(x) == known(y);
}

void CaseEvaluator::within(const RationalPolynomial& x, const Interval& range) {
  const auto bound = [&](double at, bool strict, bool turned) {
    if (!std::isfinite(at)) return;
    RationalPolynomial p = x;
    p -= RationalPolynomial(Rational(at));
    path_.given(p, strict, turned);
  };
  bound(range.low, range.above, false);
  bound(range.high, range.below, true);
  if (range.not_zero) path_.require_not_zero(x);
}

CaseValue CaseEvaluator::literal(Scalar scalar, Word word) const {
  return scalar == Scalar::boolean ? of_truth(word.i != 0) : of_number(a_.literal(scalar, word));
}

const CaseValue& CaseEvaluator::plane(LazyElement& element, size_t p) {
  std::optional<CaseValue>& value = element.planes[p];
  if (!value) {
    const std::vector<CaseElement>* outer = std::exchange(args_, &element.args);
    std::map<int, std::int64_t> loops = std::exchange(loops_, {});
    value = eval(element.fn->body, p);
    args_ = outer;
    loops_ = std::move(loops);
  }
  return *value;
}

CaseValue CaseEvaluator::eval(const Expr& e, size_t p) {
  path_.step();
  switch (e.op) {
    case ScalarOp::constant:
      return literal(e.type.scalar(), e.literal);
    case ScalarOp::param:
      return plane(*args_->at(static_cast<size_t>(e.index)), p);
    case ScalarOp::loop_var:
      return of_number(CaseArithmetic::number(Rational(loops_.at(e.index))));
    case ScalarOp::select:
      return eval(truth(e.args[0]) ? e.args[1] : e.args[2], p);
    case ScalarOp::make_tuple: {
      size_t at = 0;
      while (p >= static_cast<size_t>(e.args[at].type.planes())) p -= static_cast<size_t>(e.args[at++].type.planes());
      return eval(e.args[at], p);
    }
    case ScalarOp::component:
      return eval(e.args[0], static_cast<size_t>(e.args[0].type.first_plane(e.index)) + p);
    case ScalarOp::element:
      return coordinate(e);
    case ScalarOp::build:
      return iteration(e, static_cast<std::int64_t>(p));
    case ScalarOp::sum_over:
    case ScalarOp::prod_over:
    case ScalarOp::min_over:
    case ScalarOp::max_over:
      return of_number(loop(e));
    case ScalarOp::cast:
      return cast(e);
    default:
      break;
  }
  const ResultRule rule = row(e.op).result;
  if (rule == ResultRule::logic) return of_truth(logic(e));
  if (rule == ResultRule::compare) return of_truth(compare(e));
  if (is_opaque(e.op)) throw Undecided{};
  return of_number(e.args.size() == 1 ? unary(e) : binary(e));
}

bool CaseEvaluator::logic(const Expr& e) {
  const bool a = truth(e.args[0]);
  if (e.op == ScalarOp::logical_not) return !a;
  return e.op == ScalarOp::logical_and ? a && truth(e.args[1]) : a || truth(e.args[1]);
}

bool CaseEvaluator::compare(const Expr& e) {
  const bool equality = e.op == ScalarOp::eq || e.op == ScalarOp::ne;
  if (e.args[0].type.is(Scalar::boolean)) {
    if (!equality) throw Undecided{};
    return (truth(e.args[0]) == truth(e.args[1])) == (e.op == ScalarOp::eq);
  }
  const CaseNumber a = scalar(e.args[0]);
  const CaseNumber b = scalar(e.args[1]);
  if (equality) return a_.equal(a, b) == (e.op == ScalarOp::eq);
  if (a.nan() || b.nan()) return false;
  switch (e.op) {
    case ScalarOp::lt:
      return a_.less(a, b);
    case ScalarOp::gt:
      return a_.less(b, a);
    case ScalarOp::le:
      return !a_.less(b, a);
    default:
      return !a_.less(a, b);
  }
}

CaseNumber CaseEvaluator::unary(const Expr& e) {
  const CaseNumber a = scalar(e.args[0]);
  switch (e.op) {
    case ScalarOp::neg:
      return keep(CaseArithmetic::negated(a), e.type.scalar());
    case ScalarOp::abs:
      return a_.less(a, CaseArithmetic::number(0)) ? CaseArithmetic::negated(a) : a;
    case ScalarOp::floor:
      return a_.whole_part(a);
    case ScalarOp::ceil:
      return CaseArithmetic::negated(a_.whole_part(CaseArithmetic::negated(a)));
    default:
      return a_.elementary(e.op, a);
  }
}

CaseNumber CaseEvaluator::binary(const Expr& e) {
  const CaseNumber a = scalar(e.args[0]);
  const CaseNumber b = scalar(e.args[1]);
  const bool integers = !is_float(e.type.scalar());
  switch (e.op) {
    case ScalarOp::min:
    case ScalarOp::max:
      return a_.extremum(a, b, e.op == ScalarOp::min);
    case ScalarOp::add:
      return keep(a_.sum(a, b, integers), e.type.scalar());
    case ScalarOp::sub:
      return keep(a_.sum(a, CaseArithmetic::negated(b), integers), e.type.scalar());
    case ScalarOp::mul:
      return keep(a_.product(a, b, integers), e.type.scalar());
    case ScalarOp::div:
      return a_.quotient(a, b);
    case ScalarOp::pow:
      return a_.power(a, b, e.args[1]);
    default:
      break;
  }
  if (integers) return a_.whole_quotient(e.op, a, b);
  const CaseNumber q = a_.whole_part(a_.quotient(a, b));
  return e.op == ScalarOp::floor_div ? q : a_.sum(a, CaseArithmetic::negated(a_.product(b, q, false)), false);
}

CaseValue CaseEvaluator::iteration(const Expr& e, std::int64_t j) {
  loops_[e.index] = j;
  return eval(e.args[0], 0);
}

CaseNumber CaseEvaluator::loop(const Expr& e) {
  if (e.count < 1) throw Undecided{};
  const bool integers = !is_float(e.type.scalar());
  CaseNumber total = iteration(e, 0).number;
  for (std::int64_t j = 1; j < e.count; ++j) {
    const CaseNumber next = iteration(e, j).number;
    if (e.op == ScalarOp::sum_over) {
      total = keep(a_.sum(total, next, integers), e.type.scalar());
    } else if (e.op == ScalarOp::prod_over) {
      total = keep(a_.product(total, next, integers), e.type.scalar());
    } else {
      total = a_.extremum(total, next, e.op == ScalarOp::min_over);
    }
  }
  return total;
}

CaseValue CaseEvaluator::coordinate(const Expr& e) {
  const CaseNumber at = scalar(e.args[1]);
  if (!at.finite() || !at.value.over.is_constant()) throw Undecided{};
  const Rational last = e.args[0].type.planes() - 1;
  const Rational place = std::clamp(at.value.over.constant(), Rational(0), last);
  return eval(e.args[0], place.convert_to<size_t>());
}

CaseValue CaseEvaluator::cast(const Expr& e) {
  const Scalar from = e.args[0].type.scalar();
  const Scalar to = e.type.scalar();
  CaseValue value = eval(e.args[0], 0);
  if (from == to) return value;
  if (from == Scalar::boolean) return of_number(CaseArithmetic::number(known(value) ? 1 : 0));
  if (to == Scalar::boolean) return of_truth(!a_.is_zero(value.number));
  if (is_float(from)) return is_float(to) ? value : of_number(a_.truncated(value.number));
  if (!value.number.finite()) throw Undecided{};  // an end of a type is a plain number in another type
  return is_float(to) ? value : of_number(keep(value.number, to));
}

// The result of an operator on integers. It must stay in its type to equal the machine's result.
CaseNumber CaseEvaluator::keep(CaseNumber result, Scalar scalar) {
  if (a_.mode() != CaseMode::machine || !is_integer(scalar) || !result.finite()) return result;
  const RationalPolynomial& x = result.value.over;
  const IntegerEnds ends = integer_ends(scalar);
  if (x.is_constant() && x.constant() > ends.low && x.constant() < ends.high) return result;
  if (std::find(in_type_.begin(), in_type_.end(), x) != in_type_.end()) return result;
  if (!given_) throw Undecided{};
  in_type_.push_back(x);
  return result;
}

}  // namespace kasen
