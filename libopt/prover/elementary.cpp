// What the solver is told of exp, log and friends. In machine mode growth is not strict: different numbers may round to
// one, and exp of a very small number is 0.
#include <algorithm>
#include <array>

#include "libopt/prover/encoder.h"

namespace kasen::prover {
namespace {

constexpr double exp_is_positive_from = -80;
constexpr size_t most_applications = 24;

bool is_odd(ScalarOp op) { return op == ScalarOp::erf || op == ScalarOp::tanh || op == ScalarOp::sin; }

bool is_rising(ScalarOp op) { return op != ScalarOp::sin && op != ScalarOp::cos && op != ScalarOp::pow; }

}  // namespace

// The function of a finite argument; what it is of infinite ones stands in the tags.
Term Encoder::elementary(ScalarOp op, const Term& a) {
  const z3::expr value = apply(op, {a.value.simplify()});
  const z3::expr none = z3_.bool_val(false);
  Term finite_value{value, none, none, a.nan};
  const auto at = [&](double number_at) { return plain(number(number_at)); };
  Term result = finite_value;
  const bool logarithm = op == ScalarOp::log || op == ScalarOp::log1p;
  if (logarithm || op == ScalarOp::sqrt) {
    const z3::expr end = number(op == ScalarOp::log1p ? -1 : 0);
    const z3::expr below = either(a.minus, both(finite(a), a.value < end));
    const z3::expr there = both(finite(a), a.value == end);
    if (mode_ == Mode::defined) require(no(logarithm ? either(below, there) : below));
    if (mode_ == Mode::defined && infinite(a).is_false()) return finite_value;
    if (logarithm) result.minus = there;
    result.plus = a.plus;
    result.nan = either(a.nan, below);
    return result;
  }
  if (infinite(a).is_false()) return result;
  if (op == ScalarOp::exp || op == ScalarOp::expm1) {
    result = select(a.minus, at(op == ScalarOp::exp ? 0 : -1), result);
    result.plus = a.plus;
  } else if (op == ScalarOp::tanh || op == ScalarOp::erf) {
    result = select(a.minus, at(-1), select(a.plus, at(1), result));
  } else {
    result.nan = either(result.nan, infinite(a));
  }
  return result;
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
  const z3::expr zero = number(0);
  const z3::expr one = number(1);
  const bool strict = mode_ == Mode::defined;
  const auto above = [&](const z3::expr& a, const z3::expr& b) { return strict ? a > b : a >= b; };
  const auto sign = [&] {  // that of x
    facts_.push_back(z3::implies(x > zero, above(v, zero)));
    facts_.push_back(z3::implies(x < zero, above(zero, v)));
    facts_.push_back(z3::implies(x == zero, v == zero));
  };
  switch (f.op) {
    case ScalarOp::exp:
      facts_.push_back(above(v, zero));
      facts_.push_back(z3::implies(x >= number(exp_is_positive_from), v > zero));
      facts_.push_back(z3::implies(x > zero, above(v, one)));
      facts_.push_back(z3::implies(x < zero, above(one, v)));
      facts_.push_back(z3::implies(x == zero, v == one));
      return;
    case ScalarOp::expm1:
      facts_.push_back(above(v, number(-1)));
      return sign();
    case ScalarOp::log:
      facts_.push_back(z3::implies(x > one, above(v, zero)));
      facts_.push_back(z3::implies(x > zero && x < one, above(zero, v)));
      facts_.push_back(z3::implies(x == one, v == zero));
      return;
    case ScalarOp::log1p:
      return sign();
    case ScalarOp::sqrt:
      facts_.push_back(z3::implies(x >= zero, v >= zero));
      if (numbers_ == Numbers::opaque) return;
      linear_ = false;
      facts_.push_back(z3::implies(x >= zero, v * v == x));
      return;
    case ScalarOp::erf:
    case ScalarOp::tanh:
      facts_.push_back(above(one, v) && above(v, number(-1)));
      return sign();
    case ScalarOp::sin:
    case ScalarOp::cos:
      facts_.push_back(v <= one && v >= number(-1));
      facts_.push_back(z3::implies(x == zero, v == (f.op == ScalarOp::sin ? zero : one)));
      return;
    default:  // pow of a positive base
      facts_.push_back(above(v, zero));
      facts_.push_back(z3::implies(x == one || f.args[1] == zero, v == one));
      facts_.push_back(z3::implies(f.args[1] == one, v == x));
      return;
  }
}

z3::expr Encoder::rising(const Application& f, const Application& g) {
  const z3::expr& x = f.args[0];
  const z3::expr& y = g.args[0];
  if (mode_ == Mode::machine) return z3::implies(x <= y, f.value <= g.value) && z3::implies(x >= y, f.value >= g.value);
  return (x < y) == (f.value < g.value) && (x > y) == (f.value > g.value);
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
  const z3::expr domain = f.op == ScalarOp::log     ? f.args[0] > number(0) && g.args[0] > number(0)
                          : f.op == ScalarOp::log1p ? f.args[0] > number(-1) && g.args[0] > number(-1)
                          : f.op == ScalarOp::sqrt  ? f.args[0] >= number(0) && g.args[0] >= number(0)
                                                    : z3_.bool_val(true);
  if (is_rising(f.op)) facts_.push_back(domain.is_true() ? rising(f, g) : z3::implies(domain, rising(f, g)));
  if (!is_rising(f.op)) facts_.push_back(z3::implies(f.args[0] == g.args[0], f.value == g.value));
  if (is_odd(f.op)) facts_.push_back(z3::implies(f.args[0] == -g.args[0], f.value == -g.value));
  if (f.op == ScalarOp::cos) facts_.push_back(z3::implies(f.args[0] == -g.args[0], f.value == g.value));
}

}  // namespace kasen::prover
