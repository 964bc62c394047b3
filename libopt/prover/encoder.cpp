#include "libopt/prover/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/scalar/element_range.h"
#include "libcore/scalar/exact.h"

namespace kasen::prover {
namespace {

constexpr double largest_power = 8;

}  // namespace

// ---- numbers and variables

void Encoder::step() {
  if (++steps_ > most_steps)
    throw NotEncodable{"the functions are too long for the solver when their loops are unrolled"};
}

z3::expr Encoder::number(double value) {
  const Rational exact(value);
  return z3_.real_val(fmt::format("{}/{}", numerator(exact).str(), denominator(exact).str()).c_str());
}

z3::expr Encoder::number_of(Scalar scalar, std::int64_t value) {
  if (is_float(scalar) || numbers_ != Numbers::whole) return z3_.real_val(static_cast<int64_t>(value));
  return z3_.int_val(static_cast<int64_t>(value));
}

z3::expr Encoder::fresh(const char* name, bool whole) {
  const std::string unique = fmt::format("{}!{}", name, names_++);
  if (!whole || numbers_ != Numbers::whole) return z3_.real_const(unique.c_str());
  return z3_.int_const(unique.c_str());
}

z3::expr Encoder::fresh_whole(const char* name) {
  z3::expr value = fresh(name, true);
  integers_ = true;
  note_whole(value);
  return value;
}

// Relaxed: two different integers are at least 1 apart.
void Encoder::note_whole(const z3::expr& value) {
  constexpr size_t most = 10;
  if (numbers_ == Numbers::whole || whole_.size() >= most) return;
  if (whole_.empty()) whole_.push_back(z3_.real_val(0));
  for (const z3::expr& other : whole_) {
    facts_.push_back(z3::implies(value < other, value + 1 <= other));
    facts_.push_back(z3::implies(other < value, other + 1 <= value));
  }
  whole_.push_back(value);
}

void Encoder::require(const z3::expr& condition) {
  const z3::expr here = guard_ ? either(no(*guard_), condition) : condition;
  conditions_ = conditions_ ? both(*conditions_, here) : here;
}

z3::expr Encoder::take_conditions() {
  z3::expr met = conditions_ ? *conditions_ : z3_.bool_val(true);
  conditions_.reset();
  return met;
}

void Encoder::within(const z3::expr& value, const Interval& range) {
  const z3::expr x = real(value);
  if (std::isfinite(range.low)) facts_.push_back(range.above ? x > number(range.low) : x >= number(range.low));
  if (std::isfinite(range.high)) facts_.push_back(range.below ? x < number(range.high) : x <= number(range.high));
  if (range.not_zero) facts_.push_back(x != number(0));
}

Element Encoder::variable(const ScalarParam& param) {
  Element element;
  for (std::int64_t p = 0; p < param.type.planes(); ++p) {
    const Scalar scalar = param.type.plane_scalar(p);
    step();
    if (scalar == Scalar::boolean) {
      element.push_back(plain(z3_.bool_const(fmt::format("{}!{}", param.name, names_++).c_str())));
      continue;
    }
    const bool whole = !is_float(scalar);
    const z3::expr value = whole ? fresh_whole(param.name.c_str()) : fresh(param.name.c_str(), false);
    within(value, declared_range(param, p));
    if (scalar == Scalar::id) facts_.push_back(value >= number_of(scalar, 0));
    if (whole && mode_ == Mode::machine) facts_.push_back(inside_type(value, scalar));
    element.push_back(plain(value));
  }
  return element;
}

Term Encoder::literal(Scalar scalar, Word word) {
  if (scalar == Scalar::boolean) return plain(z3_.bool_val(word.i != 0));
  if (!is_float(scalar)) {
    integers_ = true;
    Term whole = plain(number_of(scalar, word.i));
    if (mode_ != Mode::machine) return whole;
    if (word.i == integer_ends(scalar).high) whole.plus = z3_.bool_val(true);
    if (word.i == integer_ends(scalar).low) whole.minus = z3_.bool_val(true);
    return whole;
  }
  Term term = plain(number(std::isfinite(word.f) ? word.f : 0));
  if (std::isnan(word.f)) term.nan = z3_.bool_val(true);
  if (std::isinf(word.f)) (word.f > 0 ? term.plus : term.minus) = z3_.bool_val(true);
  return term;
}

Element Encoder::constant(const ElementType& type, const std::vector<Word>& words) {
  Element element;
  for (size_t p = 0; p < words.size(); ++p) {
    element.push_back(literal(type.plane_scalar(static_cast<std::int64_t>(p)), words[p]));
  }
  return element;
}

// ---- expressions

Element Encoder::call(const ScalarFunction& fn, const std::vector<Element>& args) {
  const std::vector<Element>* outer = args_;
  args_ = &args;
  Element result = eval(fn.body);
  args_ = outer;
  return result;
}

Element Encoder::eval(const Expr& e) {
  step();
  switch (e.op) {
    case ScalarOp::constant:
      return {literal(e.type.scalar(), e.literal)};
    case ScalarOp::param:
      return args_->at(static_cast<size_t>(e.index));
    case ScalarOp::loop_var:
      return {plain(number_of(Scalar::i64, loops_.at(e.index)))};
    case ScalarOp::select:
      return branches(e);
    case ScalarOp::make_tuple: {
      Element all;
      for (const Expr& arg : e.args) {
        const Element part = eval(arg);
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    case ScalarOp::component:
    case ScalarOp::element:
      return pick(e);
    case ScalarOp::sum_over:
    case ScalarOp::prod_over:
    case ScalarOp::min_over:
    case ScalarOp::max_over:
    case ScalarOp::build:
      return loop(e);
    case ScalarOp::cast:
      return {cast(e)};
    case ScalarOp::pow:
      return {power(e)};
    default:
      break;
  }
  const ResultRule rule = row(e.op).result;
  if (rule == ResultRule::compare || rule == ResultRule::logic) return {truth(e)};
  if (is_opaque(e.op)) throw NotEncodable{std::string(row(e.op).name)};
  return {e.args.size() == 1 ? unary(e) : binary(e)};
}

Term Encoder::truth(const Expr& e) {
  const Term a = scalar(e.args[0]);
  if (e.op == ScalarOp::logical_not) return plain(no(a.value));
  const Term b = scalar(e.args[1]);
  switch (e.op) {
    case ScalarOp::logical_and:
      return plain(both(a.value, b.value));
    case ScalarOp::logical_or:
      return plain(either(a.value, b.value));
    case ScalarOp::eq:
      return plain(equal(a, b));
    case ScalarOp::ne:
      return plain(no(equal(a, b)));
    case ScalarOp::lt:
      return plain(less(a, b));
    case ScalarOp::gt:
      return plain(less(b, a));
    case ScalarOp::le:
      return plain(either(less(a, b), equal(a, b)));
    default:
      return plain(either(less(b, a), equal(a, b)));
  }
}

Term Encoder::unary(const Expr& e) {
  const Term a = scalar(e.args[0]);
  switch (e.op) {
    case ScalarOp::neg:
      keep_in_type(negated(a), e.type.scalar());
      return negated(a);
    case ScalarOp::abs:
      return select(below_zero(a), negated(a), a);
    case ScalarOp::floor:
      return whole_part(a);
    case ScalarOp::ceil:
      return negated(whole_part(negated(a)));
    default:
      return elementary(e.op, a);
  }
}

Term Encoder::times(const Term& a, const Term& b) {
  if (a.value.is_numeral() || b.value.is_numeral()) return product(a, b);
  if (numbers_ != Numbers::opaque) {
    linear_ = false;
    return product(a, b);
  }
  Term result = product(a, b);
  result.value = opaque_product(a.value, b.value);
  return result;
}

z3::expr Encoder::opaque_product(const z3::expr& a, const z3::expr& b) {
  if (a.is_numeral() || b.is_numeral()) return a * b;
  for (const auto& [of, known] : products_) {
    const bool same = (z3::eq(of.first, a) && z3::eq(of.second, b)) || (z3::eq(of.first, b) && z3::eq(of.second, a));
    if (same) return known;
  }
  z3::expr value = fresh("product", false);
  products_.push_back({{a, b}, value});
  return value;
}

Term Encoder::binary(const Expr& e) {
  const Term a = scalar(e.args[0]);
  const Term b = scalar(e.args[1]);
  Term result = a;
  switch (e.op) {
    case ScalarOp::min:
      return lesser(a, b);
    case ScalarOp::max:
      return negated(lesser(negated(a), negated(b)));
    case ScalarOp::add:
      result = sum(a, b);
      break;
    case ScalarOp::sub:
      result = sum(a, negated(b));
      break;
    case ScalarOp::mul:
      result = times(a, b);
      if (is_integer(e.type.scalar())) result = product_of_integers(result);
      break;
    case ScalarOp::div:
      return divided(a, b);
    default:
      return floor_divided(e, a, b);
  }
  if (is_integer(e.type.scalar())) result = of_integers(result);
  keep_in_type(result, e.type.scalar());
  return result;
}

// Returns whether the value is between the ends, which stand for infinities.
z3::expr Encoder::inside_type(const z3::expr& value, Scalar scalar) {
  const IntegerEnds ends = integer_ends(scalar);
  return both(value > number_of(scalar, ends.low), value < number_of(scalar, ends.high));
}

void Encoder::keep_in_type(const Term& value, Scalar scalar) {
  if (mode_ != Mode::machine || !is_integer(scalar)) return;
  require(either(infinite(value), inside_type(value.value, scalar)));
}

// For operators that take the ends of a type as plain numbers.
z3::expr Encoder::as_number(const Term& a, Scalar scalar) {
  const IntegerEnds ends = integer_ends(scalar);
  return choose(a.plus, number_of(scalar, ends.high), choose(a.minus, number_of(scalar, ends.low), a.value));
}

// Clamps to the type. The program has to see to it that mathematical integers fit.
Term Encoder::whole_cast(const Term& a, Scalar from, Scalar to) {
  if (from == Scalar::i32) return plain(as_number(a, from));  // its ends are numbers of i64
  keep_in_type(a, to);
  return a;
}

Term Encoder::cast(const Expr& e) {
  const Scalar from = e.args[0].type.scalar();
  const Scalar to = e.type.scalar();
  Term a = scalar(e.args[0]);
  if (from == to) return a;
  if (from == Scalar::boolean) return plain(choose(a.value, number_of(to, 1), number_of(to, 0)));
  if (to == Scalar::boolean) return plain(no(is_zero(a)));
  if (is_float(to)) return is_float(from) ? a : plain(real(as_number(a, from)));
  if (!is_float(from)) return whole_cast(a, from, to);
  if (!infinite(a).is_false() || !a.nan.is_false()) throw NotEncodable{"an infinity as an integer"};
  return truncated(a);
}

Term Encoder::power(const Expr& e) {
  const Term a = scalar(e.args[0]);
  const Term b = scalar(e.args[1]);
  const Expr& exponent = e.args[1];
  const bool small = exponent.op == ScalarOp::constant && std::fabs(exponent.literal.f) <= largest_power &&
                     std::floor(exponent.literal.f) == exponent.literal.f;
  if (small) {
    Term result = plain(number(1));
    for (int i = 0; i < static_cast<int>(std::fabs(exponent.literal.f)); ++i) result = i == 0 ? a : times(result, a);
    return exponent.literal.f < 0 ? divided(plain(number(1)), result) : result;
  }
  const bool tagged = !finite(a).is_true() || !finite(b).is_true();
  if (tagged || mode_ == Mode::machine) throw NotEncodable{"a power that may be infinite"};
  require(a.value > number(0));
  return plain(apply(ScalarOp::pow, {a.value, b.value}));
}

Element Encoder::branches(const Expr& e) {
  const z3::expr condition = scalar(e.args[0]).value;
  if (condition.is_true()) return eval(e.args[1]);
  if (condition.is_false()) return eval(e.args[2]);
  const std::optional<z3::expr> outer = guard_;
  guard_ = outer ? both(*outer, condition) : condition;
  const Element then = eval(e.args[1]);
  guard_ = outer ? both(*outer, no(condition)) : no(condition);
  const Element other = eval(e.args[2]);
  guard_ = outer;
  Element result;
  for (size_t p = 0; p < then.size(); ++p) {
    if (then[p].value.is_bool()) {
      result.push_back(plain(choose(condition, then[p].value, other[p].value)));
    } else {
      result.push_back(select(condition, then[p], other[p]));
    }
  }
  return result;
}

Element Encoder::loop(const Expr& e) {
  Element all;
  for (std::int64_t j = 0; j < e.count; ++j) {
    loops_[e.index] = j;
    const Term next = scalar(e.args[0]);
    if (e.op == ScalarOp::build || all.empty()) {
      all.push_back(next);
    } else if (e.op == ScalarOp::sum_over) {
      all[0] = is_integer(e.type.scalar()) ? of_integers(sum(all[0], next)) : sum(all[0], next);
    } else if (e.op == ScalarOp::prod_over) {
      all[0] = is_integer(e.type.scalar()) ? product_of_integers(times(all[0], next)) : times(all[0], next);
    } else if (e.op == ScalarOp::min_over) {
      all[0] = lesser(all[0], next);
    } else {
      all[0] = negated(lesser(negated(all[0]), negated(next)));
    }
    if (e.op != ScalarOp::build) keep_in_type(all[0], e.type.scalar());
  }
  loops_.erase(e.index);
  return all;
}

Element Encoder::pick(const Expr& e) {
  const Element whole = eval(e.args[0]);
  if (e.op == ScalarOp::component) {
    const auto first = whole.begin() + e.args[0].type.first_plane(e.index);
    return Element(first, first + e.type.planes());
  }
  const z3::expr at = as_number(scalar(e.args[1]), Scalar::i64).simplify();
  const auto last = static_cast<std::int64_t>(whole.size()) - 1;
  std::int64_t known = 0;
  if (at.is_numeral_i64(known)) return {whole[static_cast<size_t>(std::clamp<std::int64_t>(known, 0, last))]};
  Term picked = whole.back();
  for (size_t i = whole.size() - 1; i-- > 0;) {
    const z3::expr here = at <= number_of(Scalar::i64, static_cast<std::int64_t>(i));
    picked =
        whole[i].value.is_bool() ? plain(choose(here, whole[i].value, picked.value)) : select(here, whole[i], picked);
  }
  return {picked};
}

}  // namespace kasen::prover
