// The solver's facts about exp, log and friends. In machine mode growth is not strict: different numbers may round to
// one, and exp of a very small number is 0.
#include "libcore/scalar/elementary.h"

#include <algorithm>
#include <cmath>

#include "libopt/prover/encoder.h"

namespace kasen::prover {
namespace {

constexpr double exp_is_positive_from = -80;
constexpr size_t most_applications = 24;

FunctionShape shape_of(ScalarOp op) {
  const ElementaryRow* const function = elementary_row(op);
  if (function == nullptr) throw NotEncodable{"a function that the solver does not know"};
  return function->shape;
}

z3::expr given(const z3::expr& condition, const z3::expr& fact) {
  return condition.is_true() ? fact : z3::implies(condition, fact);
}

}  // namespace

// Returns whether `a` is in the domain.
z3::expr Encoder::within_domain(const FunctionShape& shape, const z3::expr& a) {
  z3::expr inside = z3_.bool_val(true);
  if (std::isfinite(shape.from)) inside = shape.from_open ? a > number(shape.from) : a >= number(shape.from);
  if (std::isfinite(shape.to)) inside = both(inside, shape.to_open ? a < number(shape.to) : a <= number(shape.to));
  return inside;
}

// Adds the result for an infinite argument: `limit`, as the shape states it.
Term Encoder::at_infinity(const z3::expr& there, double limit, Term result) {
  if (std::isnan(limit)) {
    result.nan = either(result.nan, there);
  } else if (limit == FunctionShape::infinity) {
    result.plus = either(result.plus, there);
  } else if (limit == -FunctionShape::infinity) {
    result.minus = either(result.minus, there);
  } else if (std::floor(limit) == limit) {
    result = select(there, plain(number(limit)), result);
  } else {
    throw NotEncodable{"a limit that is no rational number"};
  }
  return result;
}

// Applies the function to a finite argument. The tags state the result of infinite ones.
Term Encoder::elementary(ScalarOp op, const Term& a) {
  const FunctionShape shape = shape_of(op);
  const z3::expr value = apply(op, {a.value.simplify()});
  const z3::expr none = z3_.bool_val(false);
  Term result{value, none, none, a.nan};
  if (!shape.everywhere()) {
    const z3::expr inside = within_domain(shape, a.value);
    const auto pole = [&](bool open, double end) { return open ? both(finite(a), a.value == number(end)) : none; };
    const z3::expr low = pole(shape.from_open, shape.from), high = pole(shape.to_open, shape.to);
    if (mode_ == Mode::defined) {
      const z3::expr minus = std::isnan(shape.at_minus) ? a.minus : none,
                     plus = std::isnan(shape.at_plus) ? a.plus : none;
      require(no(either(both(finite(a), no(inside)), either(minus, plus))));
      if (infinite(a).is_false()) return result;
    }
    // A function that grows beyond all bounds at an end has an infinity there. Elsewhere outside it has no value.
    result.minus = low;
    result.plus = high;
    const z3::expr outside = both(finite(a), no(either(inside, either(low, high))));
    result.nan = either(a.nan, outside);
  }
  if (infinite(a).is_false()) return result;
  return at_infinity(a.minus, shape.at_minus, at_infinity(a.plus, shape.at_plus, result));
}

z3::expr Encoder::apply(ScalarOp op, const std::vector<z3::expr>& args) {
  for (const Application& known : applications_) {
    const bool same_args =
        known.op == op && std::equal(args.begin(), args.end(), known.args.begin(),
                                     [](const z3::expr& a, const z3::expr& b) { return z3::eq(a, b); });
    if (same_args) return known.value;
  }
  if (applications_.size() >= most_applications) throw NotEncodable{"too many applications of exp, log and the like"};
  Application made{op, args, fresh(std::string(row(op).name).c_str(), false)};
  single_facts(made);
  for (const Application& other : applications_) pair_facts(made, other);
  applications_.push_back(made);
  return made.value;
}

void Encoder::single_facts(const Application& f) {
  const z3::expr& x = f.args[0];
  const z3::expr& v = f.value;
  const z3::expr zero = number(0), one = number(1);
  const bool strict = mode_ == Mode::defined;
  const auto above = [&](const z3::expr& a, const z3::expr& b) { return strict ? a > b : a >= b; };
  if (f.op == ScalarOp::pow) {  // the base is positive
    facts_.push_back(above(v, zero));
    facts_.push_back(z3::implies(x == one || f.args[1] == zero, v == one));
    facts_.push_back(z3::implies(f.args[1] == one, v == x));
    return;
  }
  const FunctionShape shape = shape_of(f.op);
  const z3::expr inside = within_domain(shape, x);
  // A rising function passes `value` at `place`.
  const auto passes = [&](double place, double value) {
    if (std::isnan(place) || std::isnan(value)) return;
    const z3::expr at = number(place), height = number(value);
    facts_.push_back(z3::implies(x == at, v == height));
    if (shape.growth == 0) return;
    facts_.push_back(z3::implies(inside && x > at, shape.growth > 0 ? above(v, height) : above(height, v)));
    facts_.push_back(z3::implies(inside && x<at, shape.growth> 0 ? above(height, v) : above(v, height)));
  };
  const auto bound = [&](const z3::expr& high, const z3::expr& low, bool open) {
    facts_.push_back(given(inside, open ? above(high, low) : high >= low));
  };
  if (std::isfinite(shape.least)) bound(v, number(shape.least), shape.least_open);
  if (std::isfinite(shape.most)) bound(number(shape.most), v, shape.most_open);
  passes(0, shape.at_zero);
  if (shape.root != 0) passes(shape.root, 0);
  if (f.op == ScalarOp::exp) facts_.push_back(z3::implies(x >= number(exp_is_positive_from), v > zero));
  if (f.op != ScalarOp::sqrt || numbers_ == Numbers::opaque) return;
  linear_ = false;
  facts_.push_back(z3::implies(x >= zero, v * v == x));
}

// The values have the order of the arguments, or the reverse order.
z3::expr Encoder::monotone(const Application& f, const Application& g, int growth) {
  const z3::expr &x = f.args[0], &y = g.args[0];
  const z3::expr &low = growth > 0 ? f.value : g.value, &high = growth > 0 ? g.value : f.value;
  if (mode_ == Mode::machine) return z3::implies(x <= y, low <= high) && z3::implies(x >= y, low >= high);
  return (x < y) == (low < high) && (x > y) == (low > high);
}

void Encoder::pair_facts(const Application& f, const Application& g) {
  const auto inverse = [&](const Application& outer, const Application& inner) {
    if (!z3::eq(outer.args[0], inner.value)) return;
    if (outer.op == ScalarOp::log && inner.op == ScalarOp::exp && mode_ == Mode::defined) {
      facts_.push_back(outer.value == inner.args[0]);
    }
    if (outer.op == ScalarOp::exp && inner.op == ScalarOp::log) {
      facts_.push_back(z3::implies(inner.args[0] > number(0), outer.value == inner.args[0]));
    }
  };
  inverse(f, g);
  inverse(g, f);
  if (f.op != g.op) return;
  if (f.op == ScalarOp::pow) {
    const z3::expr same_power = f.args[1] == g.args[1];
    facts_.push_back(z3::implies(f.args[0] == g.args[0] && same_power, f.value == g.value));
    const z3::expr smaller = same_power && f.args[1] > number(0);
    facts_.push_back(z3::implies(smaller && f.args[0] < g.args[0], f.value < g.value));
    facts_.push_back(z3::implies(smaller && f.args[0] > g.args[0], f.value > g.value));
    return;
  }
  const FunctionShape shape = shape_of(f.op);
  const z3::expr domain = both(within_domain(shape, f.args[0]), within_domain(shape, g.args[0]));
  if (shape.growth != 0) facts_.push_back(given(domain, monotone(f, g, shape.growth)));
  if (shape.growth == 0) facts_.push_back(z3::implies(f.args[0] == g.args[0], f.value == g.value));
  if (shape.parity == Parity::odd) facts_.push_back(z3::implies(f.args[0] == -g.args[0], f.value == -g.value));
  if (shape.parity == Parity::even) facts_.push_back(z3::implies(f.args[0] == -g.args[0], f.value == g.value));
}

}  // namespace kasen::prover
