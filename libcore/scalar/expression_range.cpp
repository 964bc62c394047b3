#include "libcore/scalar/expression_range.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "libcore/scalar/elementary.h"
#include "libcore/scalar/interval_arithmetic.h"
#include "libcore/scalar/loops.h"

namespace kasen {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int most_iterations = 4096;  // over coordinates that are evaluated one by one, in one expression

struct RangeReader {
  std::vector<ElementRange> params;
  std::vector<Interval> variables = std::vector<Interval>(64);  // by loop number
  int iterations = 0;

  static ElementRange one(const Interval& r) { return {r}; }

  Interval scalar(const Expr& e) { return read(e).front(); }

  Interval unary(const Expr& e) {
    const Interval a = scalar(e.args[0]);
    switch (e.op) {
      case ScalarOp::neg:
        return negated(a);
      case ScalarOp::abs:
        return absolute(a);
      case ScalarOp::exp:
        return exponential(a);
      case ScalarOp::sqrt:
        return {a.low > 0 ? std::sqrt(a.low) : 0, infinity};
      case ScalarOp::floor:
        return increasing(a, [](double v) { return std::floor(v); });
      case ScalarOp::ceil:
        return increasing(a, [](double v) { return std::ceil(v); });
      default:
        return elementary(e.op, a);
    }
  }

  // Only facts that hold on all machines: its bounds, and the sign where the function rises through zero.
  static Interval elementary(ScalarOp op, const Interval& a) {
    const ElementaryRow* const function = elementary_row(op);
    if (function == nullptr) return {};
    const FunctionShape& shape = function->shape;
    Interval r = closed(shape.least, shape.most);
    if (shape.growth <= 0 || shape.at_zero != 0) return r;
    if (a.low >= 0) r.low = 0;
    if (a.high <= 0) r.high = 0;
    return r;
  }

  Interval binary(const Expr& e) {
    const Interval a = scalar(e.args[0]);
    const Interval b = scalar(e.args[1]);
    switch (e.op) {
      case ScalarOp::add:
        return sum(a, b);
      case ScalarOp::sub:
        return sum(a, negated(b));
      case ScalarOp::mul:
        return e.args[0] == e.args[1] ? square(a) : product(a, b);
      case ScalarOp::div:
        return quotient(a, b);
      case ScalarOp::min:
        return least(a, b);
      case ScalarOp::max:
        return negated(least(negated(a), negated(b)));
      case ScalarOp::floor_div:
        return a.low >= 0 && b.low >= 0 ? Interval::at_least(0) : Interval{};
      case ScalarOp::mod:
        return b.positive() && is_integer(e.type.scalar()) ? Interval{0, b.high} : Interval{};  // floats round
      case ScalarOp::pow:
        return a.low >= 0 ? Interval::at_least(0) : Interval{};
      default:
        return {};  // comparisons and logic give no numbers
    }
  }

  static Interval cast(const Expr& e, const Interval& a) {
    const Scalar from = e.args[0].type.scalar();
    const Scalar to = e.type.scalar();
    if (to == Scalar::boolean) return {};
    if (from == Scalar::boolean) return {0, 1};
    if (is_float(from) && is_integer(to)) {  // a NaN gives 0
      const Interval whole = increasing(a, [](double v) { return std::trunc(v); });
      return join(whole, Interval::exactly(0));
    }
    return a;
  }

  // In a branch of `if x > 0 then ... else ...`, the range of a parameter that is compared with a literal is narrower.
  void refine(const Expr& condition, bool holds) {
    if (holds && condition.op == ScalarOp::logical_and) {
      for (const Expr& part : condition.args) refine(part, true);
      return;
    }
    if (condition.op == ScalarOp::logical_not) return refine(condition.args[0], !holds);
    if (condition.args.size() != 2 || row(condition.op).result != ResultRule::compare) return;
    const bool turned = condition.args[0].op == ScalarOp::constant;
    const Expr& bound = condition.args[turned ? 0 : 1];
    if (bound.op != ScalarOp::constant || !is_numeric(bound.type.scalar())) return;
    const double v = is_float(bound.type.scalar()) ? bound.literal.f : static_cast<double>(bound.literal.i);
    Interval* known = std::isnan(v) ? nullptr : place(condition.args[turned ? 1 : 0]);
    if (known != nullptr) *known = intersect(*known, compared(condition.op, turned, holds, v));
  }

  // Points to the known range of `x`, `x.1`, `x[2]` or `x.1[2]` for a parameter x; else null.
  Interval* place(const Expr& e) {
    if (e.op == ScalarOp::element) {
      const Expr& at = e.args[1];
      const std::int64_t count = e.args[0].type.components[0].count;
      if (at.op != ScalarOp::constant || count > coordinates_apart) return nullptr;
      Interval* first = first_of(e.args[0]);
      return first == nullptr ? nullptr : first + std::clamp<std::int64_t>(at.literal.i, 0, count - 1);
    }
    return e.type.is_scalar() ? first_of(e) : nullptr;
  }

  Interval* first_of(const Expr& e) {
    if (e.op == ScalarOp::param) return params[static_cast<size_t>(e.index)].data();
    if (e.op != ScalarOp::component || e.args[0].op != ScalarOp::param) return nullptr;
    return params[static_cast<size_t>(e.args[0].index)].data() + place_of_component(e.args[0].type, e.index);
  }

  // The numbers x for which `x op v` (or `v op x`) holds, or does not. A NaN satisfies none, but is never ruled out.
  static Interval compared(ScalarOp op, bool turned, bool holds, double v) {
    Interval r;
    if (op == ScalarOp::eq || op == ScalarOp::ne) {
      if ((op == ScalarOp::eq) == holds) return Interval::exactly(v);
      r.not_zero = v == 0;
      return r;
    }
    bool less = op == ScalarOp::lt || op == ScalarOp::le;
    bool strict = op == ScalarOp::lt || op == ScalarOp::gt;
    if (turned) less = !less;
    if (!holds) {
      less = !less;
      strict = !strict;
    }
    return less ? Interval{-infinity, v, false, strict} : Interval{v, infinity, strict, false};
  }

  // The result of a comparison of integers, where their ranges decide it. The coordinates that `[a, b, c]` lists are
  // chosen by the number of the coordinate.
  std::optional<bool> decided(const Expr& condition) {
    const bool less = condition.op == ScalarOp::lt, not_less = condition.op == ScalarOp::ge;
    if ((!less && !not_less) || !is_integer(condition.args[0].type.scalar())) return std::nullopt;
    const Interval a = scalar(condition.args[0]), b = scalar(condition.args[1]);
    if (a.high < b.low) return less;
    if (a.low >= b.high) return not_less;
    return std::nullopt;
  }

  ElementRange branches(const Expr& e) {
    if (const auto known = decided(e.args[0])) return read(e.args[*known ? 1 : 2]);
    const std::vector<ElementRange> before = params;
    refine(e.args[0], true);
    ElementRange then = read(e.args[1]);
    params = before;
    refine(e.args[0], false);
    ElementRange other = read(e.args[2]);
    params = before;
    return join(then, other);
  }

  Interval over(const Expr& e) {
    variables.at(static_cast<size_t>(e.index)) = {0, static_cast<double>(e.count - 1)};
    const Interval body = scalar(e.args[0]);
    if (e.op == ScalarOp::min_over || e.op == ScalarOp::max_over) return body;
    if (e.op == ScalarOp::prod_over) return body.low >= 0 ? Interval::at_least(0) : Interval{};
    const auto count = static_cast<double>(e.count);
    Interval r = closed(times(body.low, count), times(body.high, count));
    if (std::isfinite(r.low) && r.low != 0) r.low -= std::fabs(r.low) * 1e-9;  // each step rounds
    if (std::isfinite(r.high) && r.high != 0) r.high += std::fabs(r.high) * 1e-9;
    r.above = r.low == 0 && body.positive();
    r.below = r.high == 0 && body.negative();
    return r;
  }

  ElementRange tuple(const Expr& e) {
    ElementRange all;
    for (const Expr& arg : e.args) {
      const ElementRange part = read(arg);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Interval number(const Expr& e) {
    switch (e.op) {
      case ScalarOp::constant: {
        const Scalar s = e.type.scalar();
        if (s == Scalar::boolean || (is_float(s) && std::isnan(e.literal.f))) return {};
        return Interval::exactly(is_float(s) ? e.literal.f : static_cast<double>(e.literal.i));
      }
      case ScalarOp::loop_var:
        return variables.at(static_cast<size_t>(e.index));
      case ScalarOp::cast:
        return cast(e, scalar(e.args[0]));
      default:
        break;
    }
    const bool loop = is_coordinate_loop(e.op) && e.op != ScalarOp::build;
    if (loop) return over(e);
    return e.args.size() > 1 ? binary(e) : unary(e);
  }

  // Evaluates coordinates one by one, where they are few.
  ElementRange built(const Expr& e) {
    const size_t places = places_of(e.type);
    Interval& variable = variables.at(static_cast<size_t>(e.index));
    if (places == 1 || iterations > most_iterations) {
      variable = {0, static_cast<double>(e.count - 1)};
      return ElementRange(places, scalar(e.args[0]));
    }
    ElementRange all;
    for (size_t j = 0; j < places; ++j, ++iterations) {
      variables.at(static_cast<size_t>(e.index)) = Interval::exactly(static_cast<double>(j));
      all.push_back(scalar(e.args[0]));
    }
    return all;
  }

  // An index that lies outside is moved to the nearest end.
  Interval coordinate(const Expr& e) {
    const ElementRange array = read(e.args[0]);
    const Interval at = scalar(e.args[1]);
    const auto last = static_cast<double>(array.size() - 1);
    const auto from = static_cast<size_t>(std::clamp(at.low, 0.0, last));
    const auto to = static_cast<size_t>(std::clamp(at.high, 0.0, last));
    Interval all = array[from];
    for (size_t j = from + 1; j <= to; ++j) all = join(all, array[j]);
    return all;
  }

  [[nodiscard]] ElementRange parameter(const Expr& e) const {
    ElementRange range = params[static_cast<size_t>(e.index)];
    for (size_t i = 0; i < range.size(); ++i) range[i] = with_integer_ends(range[i], place_scalar(e.type, i));
    return range;
  }

  ElementRange component(const Expr& e) {
    const ElementRange whole = read(e.args[0]);
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(place_of_component(e.args[0].type, e.index));
    return {first, first + static_cast<std::ptrdiff_t>(places_of(e.type))};
  }

  ElementRange read(const Expr& e) {
    switch (e.op) {
      case ScalarOp::param:
        return parameter(e);
      case ScalarOp::select:
        return branches(e);
      case ScalarOp::make_tuple:
        return tuple(e);
      case ScalarOp::component:
        return component(e);
      case ScalarOp::build:
        return built(e);
      case ScalarOp::element:
        return one(coordinate(e));
      default:
        return one(rounded(number(e), e.type.scalar()));
    }
  }
};

}  // namespace

ElementRange range_of(const ScalarFunction& fn, std::span<const ElementRange> args) {
  RangeReader reader{{args.begin(), args.end()}};
  for (size_t i = 0; i < fn.params.size(); ++i) {
    if (!fn.params[i].range.empty()) reader.params[i] = intersect(reader.params[i], fn.params[i].range);
  }
  return reader.read(fn.body);
}

Interval scalar_range(const Expr& e, const std::vector<ScalarParam>& params) {
  RangeReader reader;
  for (const ScalarParam& p : params) {
    reader.params.push_back(unknown_range(p.type));
    if (!p.range.empty()) reader.params.back() = intersect(reader.params.back(), p.range);
  }
  return reader.read(e).front();
}

}  // namespace kasen
