#include "libcore/scalar/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/floor_quotient.h"
#include "libcore/scalar/element_range.h"
#include "libcore/scalar/elementary.h"
#include "libcore/scalar/exact_evaluator.h"

namespace kasen {
namespace {

constexpr double most_exact_steps = 20'000;

// ---- which functions can be evaluated exactly

bool small_power(const Expr& e) {
  if (e.op != ScalarOp::constant || !e.type.is_scalar() || !is_float(e.type.scalar())) return false;
  return std::floor(e.literal.f) == e.literal.f && std::fabs(e.literal.f) <= exact::largest_power;
}

bool exact_node(const Expr& e) {
  if (e.count > 0 && (e.index < 0 || e.index >= exact::most_loops)) return false;
  if (elementary_row(e.op) != nullptr || is_opaque(e.op)) return false;
  if (e.op == ScalarOp::pow) return small_power(e.args[1]);
  if (e.op == ScalarOp::constant && is_float(e.type.scalar())) return std::isfinite(e.literal.f);
  return true;
}

bool exact_tree(const Expr& e) { return exact_node(e) && std::all_of(e.args.begin(), e.args.end(), exact_tree); }

double steps(const Expr& e) {
  double total = 1;
  for (const Expr& arg : e.args) total += steps(arg);
  return e.count > 1 ? total * static_cast<double>(e.count) : total;
}

// ---- the grid

using Numbers = std::vector<Rational>;

Numbers grid(Scalar scalar) {
  if (is_float(scalar)) return {1, 2, 3, -1, 0, Rational(1, 2), -2, Rational(-1, 2), 5};
  if (is_integer(scalar)) return {1, 2, 3, -1, 0, -2, 5};
  if (scalar == Scalar::boolean) return {1, 0};
  return {1, 2, 3, 0};
}

bool holds(const Interval& range, const Rational& value) { return range.holds(value.convert_to<double>()); }

// Numbers of the range, for ranges that do not contain the usual ones.
Numbers beside(const Interval& range, bool whole) {
  Numbers found;
  const auto add = [&](const Rational& value) {
    const bool fits = holds(range, value) && (!whole || denominator(value) == 1);
    if (fits && std::find(found.begin(), found.end(), value) == found.end()) found.push_back(value);
  };
  const std::array<Rational, 6> steps{0, 1, 2, Rational(1, 2), Rational(1, 4), Rational(1, 1024)};
  for (const Rational& step : steps) {
    if (std::isfinite(range.low)) add(Rational(range.low) + step);
    if (std::isfinite(range.high)) add(Rational(range.high) - step);
  }
  if (std::isfinite(range.low) && std::isfinite(range.high)) add((Rational(range.low) + Rational(range.high)) / 2);
  return found;
}

// The grid of one plane: that of its scalar, and the function's own literals with the numbers beside them.
Numbers plane_grid(Scalar scalar, const Interval& range, std::span<const Rational> literals) {
  Numbers numbers = grid(scalar);
  for (const Rational& literal : literals) {
    const bool number = is_float(scalar) || (is_integer(scalar) && denominator(literal) == 1);
    if (number && std::find(numbers.begin(), numbers.end(), literal) == numbers.end()) numbers.push_back(literal);
  }
  std::erase_if(numbers, [&](const Rational& value) { return !holds(range, value); });
  if (numbers.size() >= 3 || !is_numeric(scalar)) return numbers;
  for (const Rational& more : beside(range, is_integer(scalar))) {
    if (std::find(numbers.begin(), numbers.end(), more) == numbers.end()) numbers.push_back(more);
  }
  return numbers;
}

struct Draw {  // a fixed sequence of numbers (Knuth's MMIX constants)
  std::uint64_t state = 88172645463325252ULL;
  size_t below(size_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<size_t>((state >> 33) % n);
  }
};

struct Points {
  std::vector<Numbers> grids;  // one a plane, all params in order
  std::vector<Planes> values;

  Points(std::span<const ScalarParam> params, std::span<const Rational> literals) {
    for (const ScalarParam& param : params) {
      for (std::int64_t p = 0; p < param.type.planes(); ++p) {
        grids.push_back(plane_grid(param.type.plane_scalar(p), declared_range(param, p), literals));
      }
      values.emplace_back(static_cast<size_t>(param.type.planes()));
    }
  }

  [[nodiscard]] bool empty() const {
    return std::any_of(grids.begin(), grids.end(), [](const Numbers& g) { return g.empty(); });
  }

  void set(const std::function<size_t(size_t plane)>& place) {
    size_t plane = 0;
    for (Planes& value : values) {
      for (Rational& number : value) {
        number = grids[plane][place(plane) % grids[plane].size()];
        ++plane;
      }
    }
  }

  [[nodiscard]] bool few(std::int64_t limit) const {
    std::int64_t total = 1;
    for (const auto& g : grids) {
      total *= static_cast<std::int64_t>(g.size());
      if (total > limit) return false;
    }
    return true;
  }

  [[nodiscard]] bool next(std::vector<size_t>& at) const {
    for (size_t p = at.size(); p-- > 0;) {
      if (++at[p] < grids[p].size()) return true;
      at[p] = 0;
    }
    return false;
  }
};

std::string number_text(Scalar scalar, const Rational& value) {
  if (scalar == Scalar::boolean) return value != 0 ? "true" : "false";
  if (denominator(value) == 1) return numerator(value).str();
  return fmt::format("{}", value.convert_to<double>());
}

void collect_literals(const Expr& e, Numbers& found) {
  const bool number = e.op == ScalarOp::constant && is_numeric(e.type.scalar());
  if (number && (!is_float(e.type.scalar()) || std::isfinite(e.literal.f))) {
    const Rational value = is_float(e.type.scalar()) ? Rational(e.literal.f) : Rational(e.literal.i);
    for (const Rational& near : {value, Rational(value + 1), Rational(value - 1)}) {
      if (std::find(found.begin(), found.end(), near) == found.end()) found.push_back(near);
    }
  }
  for (const Expr& arg : e.args) collect_literals(arg, found);
}

}  // namespace

double evaluation_steps(const ScalarFunction& fn) { return steps(fn.body); }

bool is_exact(const ScalarFunction& fn) { return steps(fn.body) <= most_exact_steps && exact_tree(fn.body); }

std::optional<Planes> evaluate_exactly(const ScalarFunction& fn, std::span<const Planes> args) {
  return exact::evaluate_with<Rational>(fn, args);
}

std::vector<Word> to_words(const ElementType& type, const Planes& value) {
  std::vector<Word> words;
  for (size_t p = 0; p < value.size(); ++p) {
    const Scalar scalar = type.plane_scalar(static_cast<std::int64_t>(p));
    const auto real = value[p].convert_to<double>();
    words.push_back(scalar == Scalar::f32   ? Word::real(static_cast<double>(static_cast<float>(real)))
                    : scalar == Scalar::f64 ? Word::real(real)
                                            : Word::integer(numerator(value[p]).convert_to<std::int64_t>()));
  }
  return words;
}

std::string planes_text(const ElementType& type, const std::function<std::string(Scalar, size_t)>& number) {
  std::string text;
  size_t plane = 0;
  for (const Component& c : type.components) {
    std::string part;
    for (std::int64_t j = 0; j < c.planes(); ++j) part += (j > 0 ? ", " : "") + number(c.scalar, plane++);
    text += (text.empty() ? "" : ", ") + (c.count > 0 ? '[' + part + ']' : part);
  }
  return type.tuple ? '(' + text + ')' : text;
}

std::string planes_text(const ElementType& type, const Planes& value) {
  return planes_text(type, [&](Scalar scalar, size_t plane) { return number_text(scalar, value[plane]); });
}

std::vector<Rational> literals_of(const ScalarFunction& fn, size_t most) {
  Numbers found;
  collect_literals(fn.body, found);
  if (found.size() > most) found.resize(most);
  return found;
}

void for_points(std::span<const ScalarParam> params, std::span<const Rational> literals, std::int64_t limit,
                const std::function<bool(std::span<const Planes>)>& visit) {
  Points points(params, literals);
  if (points.empty()) return;
  points.set([](size_t plane) { return plane; });
  if (!visit(points.values)) return;
  if (points.few(limit)) {
    std::vector<size_t> at(points.grids.size(), 0);
    do {
      points.set([&](size_t plane) { return at[plane]; });
      if (!visit(points.values)) return;
    } while (points.next(at));
    return;
  }
  Draw draw;
  for (std::int64_t i = 0; i < limit; ++i) {
    points.set([&](size_t plane) { return draw.below(points.grids[plane].size()); });
    if (!visit(points.values)) return;
  }
}

namespace exact {

Rational floor_of(const Rational& q) {
  return Rational(floor_quotient<boost::multiprecision::cpp_int>(numerator(q), denominator(q)));
}

Rational power(const Rational& a, const Rational& b) {
  const int n = b.convert_to<int>();
  if (denominator(b) != 1 || std::abs(n) > exact::largest_power || (a == 0 && n < 0)) throw Undefined{};
  Rational product = 1;
  for (int i = 0; i < std::abs(n); ++i) product *= a;
  return n < 0 ? Rational(1 / product) : product;
}

Rational transcendental(ScalarOp /*op*/, const Rational& /*a*/) { throw Undefined{}; }

}  // namespace exact
}  // namespace kasen
