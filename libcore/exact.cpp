#include "libcore/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasen {
namespace {

namespace mp = boost::multiprecision;

constexpr int most_loops = 64;
constexpr int largest_power = 8;

// ---- which functions can be evaluated exactly

bool small_power(const Expr& e) {
  if (e.op != ScalarOp::constant || !e.type.is_scalar() || !is_float(e.type.scalar())) return false;
  return std::floor(e.literal.f) == e.literal.f && std::fabs(e.literal.f) <= largest_power;
}

bool is_transcendental(ScalarOp op) {
  static constexpr std::array ops{ScalarOp::exp, ScalarOp::log,  ScalarOp::log1p, ScalarOp::expm1, ScalarOp::sqrt,
                                  ScalarOp::erf, ScalarOp::tanh, ScalarOp::sin,   ScalarOp::cos};
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

bool exact_node(const Expr& e) {
  if (e.count > 0 && (e.index < 0 || e.index >= most_loops)) return false;
  if (is_transcendental(e.op)) return false;
  if (e.op == ScalarOp::pow) return small_power(e.args[1]);
  if (e.op == ScalarOp::constant && is_float(e.type.scalar())) return std::isfinite(e.literal.f);
  return true;
}

// Steps of one evaluation, or more than the limit if something in it is not exact.
double steps(const Expr& e) {
  if (!exact_node(e)) return 2 * most_exact_steps;
  double total = 1;
  for (const Expr& arg : e.args) total += steps(arg);
  return e.count > 1 ? total * static_cast<double>(e.count) : total;
}

// ---- evaluation

Rational floor_of(const Rational& q) {
  const mp::cpp_int n = numerator(q);
  const mp::cpp_int d = denominator(q);
  mp::cpp_int whole = n / d;
  if (whole * d > n) --whole;
  return Rational(whole);
}

Rational toward_zero(const Rational& q) { return q < 0 ? Rational(-floor_of(-q)) : floor_of(q); }

struct Undefined {};  // thrown inside evaluate_exactly alone

struct ExactEvaluator {
  std::span<const Planes> args;
  std::vector<std::int64_t> loops = std::vector<std::int64_t>(most_loops, 0);

  Rational divide(const Expr& e, const Rational& a, const Rational& b) const {
    const bool integer = !is_float(e.args[0].type.scalar());
    if (e.op != ScalarOp::div && integer && b == 0) return 0;  // the language's definition
    if (b == 0) throw Undefined{};
    if (e.op == ScalarOp::div) return a / b;
    const Rational quotient = floor_of(a / b);
    return e.op == ScalarOp::floor_div ? quotient : Rational(a - b * quotient);
  }

  static Rational power(const Rational& a, const Rational& b) {
    const int n = b.convert_to<int>();
    if (a == 0 && n < 0) throw Undefined{};
    Rational product = 1;
    for (int i = 0; i < std::abs(n); ++i) product *= a;
    return n < 0 ? Rational(1 / product) : product;
  }

  Rational binary(const Expr& e, const Rational& a, const Rational& b) const {
    switch (e.op) {
      case ScalarOp::add:
        return a + b;
      case ScalarOp::sub:
        return a - b;
      case ScalarOp::mul:
        return a * b;
      case ScalarOp::min:
        return b < a ? b : a;
      case ScalarOp::max:
        return b > a ? b : a;
      case ScalarOp::logical_or:
        return a != 0 || b != 0 ? 1 : 0;
      case ScalarOp::logical_and:
        return a != 0 && b != 0 ? 1 : 0;
      case ScalarOp::eq:
        return a == b ? 1 : 0;
      case ScalarOp::ne:
        return a != b ? 1 : 0;
      case ScalarOp::lt:
        return a < b ? 1 : 0;
      case ScalarOp::le:
        return a <= b ? 1 : 0;
      case ScalarOp::gt:
        return a > b ? 1 : 0;
      case ScalarOp::ge:
        return a >= b ? 1 : 0;
      case ScalarOp::pow:
        return power(a, b);
      default:
        return divide(e, a, b);
    }
  }

  Rational unary(const Expr& e, const Rational& a) const {
    switch (e.op) {
      case ScalarOp::neg:
        return -a;
      case ScalarOp::logical_not:
        return a == 0 ? 1 : 0;
      case ScalarOp::abs:
        return a < 0 ? Rational(-a) : a;
      case ScalarOp::floor:
        return floor_of(a);
      case ScalarOp::ceil:
        return -floor_of(-a);
      default:
        return cast(e, a);
    }
  }

  static Rational cast(const Expr& e, const Rational& a) {
    const Scalar to = e.type.scalar();
    if (to == Scalar::boolean) return a != 0 ? 1 : 0;
    return is_float(to) ? a : toward_zero(a);
  }

  Planes loop(const Expr& e) {
    Planes all;
    Rational total = e.op == ScalarOp::prod_over ? 1 : 0;
    for (std::int64_t j = 0; j < e.count; ++j) {
      loops.at(static_cast<size_t>(e.index)) = j;
      Rational next = eval(e.args[0])[0];
      if (e.op == ScalarOp::build) all.push_back(next);
      if (e.op == ScalarOp::sum_over) total += next;
      if (e.op == ScalarOp::prod_over) total *= next;
      if (e.op == ScalarOp::min_over && (j == 0 || next < total)) total = next;
      if (e.op == ScalarOp::max_over && (j == 0 || next > total)) total = next;
    }
    return e.op == ScalarOp::build ? all : Planes{total};
  }

  Planes part_of(const Expr& e) {
    const Planes whole = eval(e.args[0]);
    if (e.op == ScalarOp::component) {
      const auto first = whole.begin() + e.args[0].type.first_plane(e.index);
      return Planes(first, first + e.type.planes());
    }
    const Rational last = static_cast<std::int64_t>(whole.size()) - 1;
    const Rational at = std::clamp<Rational>(eval(e.args[1])[0], 0, last);
    return {whole.at(at.convert_to<size_t>())};
  }

  Planes tuple(const Expr& e) {
    Planes all;
    for (const Expr& arg : e.args) {
      const Planes part = eval(arg);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Planes eval(const Expr& e) {
    switch (e.op) {
      case ScalarOp::constant:
        return {is_float(e.type.scalar()) ? Rational(e.literal.f) : Rational(e.literal.i)};
      case ScalarOp::param:
        return args[static_cast<size_t>(e.index)];
      case ScalarOp::loop_var:
        return {Rational(loops.at(static_cast<size_t>(e.index)))};
      case ScalarOp::select:
        return eval(e.args[eval(e.args[0])[0] != 0 ? 1 : 2]);
      case ScalarOp::make_tuple:
        return tuple(e);
      case ScalarOp::component:
      case ScalarOp::element:
        return part_of(e);
      case ScalarOp::sum_over:
      case ScalarOp::prod_over:
      case ScalarOp::min_over:
      case ScalarOp::max_over:
      case ScalarOp::build:
        return loop(e);
      default:
        break;
    }
    const Rational a = eval(e.args[0])[0];
    return {e.args.size() > 1 ? binary(e, a, eval(e.args[1])[0]) : unary(e, a)};
  }
};

// ---- the grid

std::span<const Rational> grid(Scalar scalar) {
  static const std::array<Rational, 9> reals{1, 2, 3, -1, 0, Rational(1, 2), -2, Rational(-1, 2), 5};
  static const std::array<Rational, 7> integers{1, 2, 3, -1, 0, -2, 5};
  static const std::array<Rational, 4> indices{1, 2, 3, 0};
  static const std::array<Rational, 2> truths{1, 0};
  if (is_float(scalar)) return reals;
  if (is_integer(scalar)) return integers;
  return scalar == Scalar::boolean ? std::span<const Rational>(truths) : std::span<const Rational>(indices);
}

struct Draw {  // a fixed sequence of numbers (Knuth's MMIX constants)
  std::uint64_t state = 88172645463325252ULL;
  size_t below(size_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<size_t>((state >> 33) % n);
  }
};

struct Points {
  std::span<const ElementType> types;
  std::vector<std::span<const Rational>> grids;  // one a plane, all types in order
  std::vector<Planes> values;

  explicit Points(std::span<const ElementType> all) : types(all) {
    for (const ElementType& type : types) {
      for (std::int64_t p = 0; p < type.planes(); ++p) grids.push_back(grid(type.plane_scalar(p)));
      values.emplace_back(static_cast<size_t>(type.planes()));
    }
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

}  // namespace

double exact_steps(const ScalarFunction& fn) { return steps(fn.body); }

std::optional<Planes> evaluate_exactly(const ScalarFunction& fn, std::span<const Planes> args) {
  try {
    return ExactEvaluator{args}.eval(fn.body);
  } catch (const Undefined&) {
    return std::nullopt;
  }
}

std::vector<Word> to_words(const ElementType& type, const Planes& value) {
  std::vector<Word> words;
  for (size_t p = 0; p < value.size(); ++p) {
    const bool real = is_float(type.plane_scalar(static_cast<std::int64_t>(p)));
    words.push_back(real ? Word::real(value[p].convert_to<double>())
                         : Word::integer(numerator(value[p]).convert_to<std::int64_t>()));
  }
  return words;
}

std::string planes_text(const ElementType& type, const Planes& value) {
  std::string text;
  size_t plane = 0;
  for (const Component& c : type.components) {
    std::string part;
    for (std::int64_t j = 0; j < c.planes(); ++j) part += (j > 0 ? ", " : "") + number_text(c.scalar, value[plane++]);
    text += (text.empty() ? "" : ", ") + (c.count > 0 ? '[' + part + ']' : part);
  }
  return type.tuple ? '(' + text + ')' : text;
}

void for_points(std::span<const ElementType> types, std::int64_t limit,
                const std::function<bool(std::span<const Planes>)>& visit) {
  Points points(types);
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

}  // namespace kasen
