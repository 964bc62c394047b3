// Intervals, what functions can give, and what is known of a module's values.
#include <gtest/gtest.h>

#include <random>

#include "libcore/analysis/value_ranges.h"

namespace kasen {
namespace {

Module module_of(const std::string& text) {
  return parse_module("kir 1 level 1\nmodule m {\n dim N\n" + text + "\n}\n##end\n", "ranges.kir");
}

std::string range_of_fn(const std::string& params, const std::string& body) {
  const Module m = module_of("fn F(" + params + ") -> f64 = " + body);
  return interval_text(scalar_range(m.functions[FnId(0)].body, m.functions[FnId(0)].params));
}

TEST(Ranges, OfExpressions) {
  EXPECT_EQ(range_of_fn("x: f64", "x"), "");
  EXPECT_EQ(range_of_fn("x: f64", "abs(x)"), " >= 0.0");
  EXPECT_EQ(range_of_fn("x: f64 != 0.0", "abs(x)"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: f64", "x * x + 1.0"), " >= 1.0");
  EXPECT_EQ(range_of_fn("x: f64", "exp(x)"), " >= 0.0");
  EXPECT_EQ(range_of_fn("x: f64 >= 0.0", "x + 0.5"), " >= 0.5");
  EXPECT_EQ(range_of_fn("x: f64 > 0.0", "-x"), " < 0.0");
  EXPECT_EQ(range_of_fn("x: f64 > 0.0", "2.0 * x"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: f64 > 0.0, y: f64 > 0.0", "x * y"), " >= 0.0");  // may underflow
  EXPECT_EQ(range_of_fn("x: f64 >= 1.0 <= 4.0", "2.0 / x"), " >= 0.5 <= 2.0");
  EXPECT_EQ(range_of_fn("x: f64", "1.0 / (1.0 + exp(-x))"), " >= 0.0 <= 1.0");
  EXPECT_EQ(range_of_fn("x: f64", "1.0 / x"), "");
  EXPECT_EQ(range_of_fn("x: f64", "if x > 0.0 then x else 1.0"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: f64", "if x > 0.0 && x < 5.0 then 1.0 / x else 2.0"), " >= 0.2");
  EXPECT_EQ(range_of_fn("x: f64", "max(x, 3.0)"), " >= 3.0");
  EXPECT_EQ(range_of_fn("x: [f64; 3]", "sum($0 in 3: x[$0] * x[$0])"), " >= 0.0");
  EXPECT_EQ(range_of_fn("x: i64", "f64(if x > 3 then x else 3)"), " >= 3.0");
  EXPECT_EQ(range_of_fn("x: f64", "tanh(x) + 2.0"), " >= 1.0 <= 3.0");
}

TEST(Ranges, OfComponentsAndCoordinates) {
  EXPECT_EQ(range_of_fn("x: (f64, f64) at 1 > 0.0", "2.0 * x.1"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: (f64, f64) at 1 > 0.0", "2.0 * x.0"), "");
  EXPECT_EQ(range_of_fn("x: (f64, [f64; 2]) at 2 >= 3.0", "x.1[1]"), " >= 3.0");
  EXPECT_EQ(range_of_fn("x: [f64; 3] at 0 >= 1.0 at 1 >= 2.0 at 2 >= 3.0", "x[1]"), " >= 2.0");
  EXPECT_EQ(range_of_fn("x: [f64; 3] at 0 >= 1.0 at 1 >= 2.0 at 2 >= 3.0", "x[7]"), " >= 3.0");  // the nearest end
  EXPECT_EQ(range_of_fn("x: [f64; 3] at 0 >= 1.0 at 1 >= 2.0 at 2 >= 3.0", "sum($0 in 3: x[$0])"), " >= 2.999999997");
  EXPECT_EQ(range_of_fn("x: [f64; 2] > 0.0", "x[0]"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: (f64, f64)", "if x.0 > 0.0 then x.0 else 1.0"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: [f64; 2]", "if x[1] > 0.0 then x[1] else 1.0"), " > 0.0");
  EXPECT_EQ(range_of_fn("x: f64", "[$0 in 2: if $0 < 1 then 4.0 else x][0]"), " >= 4.0 <= 4.0");
  EXPECT_EQ(range_of_fn("x: [f64; 17]", "x[3]"), "");
}

ElementRange of(const Module& m, const std::string& name) {
  const ValueRanges ranges(m);
  for (const ValueId v : m.values.ids()) {
    if (m.value(v).name == name) return ranges.of(v);
  }
  ADD_FAILURE() << name;
  return {Interval{}};
}

std::string text_of(const Module& m, const std::string& name) { return interval_text(of(m, name)[0]); }

TEST(Ranges, OfValues) {
  const Module m = module_of(R"(
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn least(x: f64, y: f64) -> f64 = min(x, y)
  fn half(x: f64) -> f64 = 0.5 * x
  fn next(x: f64) -> f64 = x + 1.0
  fn down(x: f64) -> f64 = x - 1.0
  assume "w" >= 0.0
  assume "x" > 2.0
  %w = input "w" : f64[N,N] sparse @?
  %G = input "G" : null[N,N] sparse @?
  %x = input "x" : f64[N] @?
  %one = literal 1.0 : f64 @?
  %degree = mxvt[mul, add] %x, %G : f64[N] @?
  %paths = mxv[add, least] %x, %w : f64[N] @?
  %total = reduce[add] %x : f64 @?
  %h = map[half] %x : f64[N] @?
  %lo = literal 0 : i64 @?
  %hi = literal 9 : i64 @?
  %up, %sink, %same = for %i : i64 @? in %lo, %hi (%a : f64 @? = %one, %b : f64 @? = %one, %c : f64 @? = %one) : f64 @?, f64 @?, f64 @? {
    %a2 = apply[next] %a : f64 @?
    %b2 = apply[down] %b : f64 @?
    %c2 = apply[mul] %c, %one : f64 @?
    yield %a2, %b2, %c2
  }
)");
  EXPECT_EQ(text_of(m, "x"), " > 2.0");
  EXPECT_EQ(text_of(m, "degree"), " >= 0.0");
  EXPECT_EQ(text_of(m, "paths"), " >= 2.0");
  EXPECT_EQ(text_of(m, "total"), " >= 0.0");  // of nothing it is 0
  EXPECT_EQ(text_of(m, "h"), " >= 1.0");
  EXPECT_EQ(text_of(m, "i"), " >= 0.0 <= 9.0");
  EXPECT_EQ(text_of(m, "up"), " >= 1.0");
  EXPECT_EQ(text_of(m, "sink"), " <= 1.0");
  EXPECT_EQ(text_of(m, "same"), " >= 1.0 <= 1.0");
}

// Random expressions on random arguments give what their ranges promise.
class RandomExpression {
 public:
  explicit RandomExpression(unsigned seed) : random_(seed) {}

  Expr make(int depth) {
    const ElementType f64 = ElementType::of(Scalar::f64);
    if (depth == 0) {
      if (below(3) == 0) return make_literal(Scalar::f64, Word::real(0.5 * static_cast<double>(below(9)) - 2));
      return make_param(static_cast<int>(below(3)), f64);
    }
    static constexpr std::array unary{ScalarOp::neg,   ScalarOp::abs, ScalarOp::exp,   ScalarOp::sqrt, ScalarOp::tanh,
                                      ScalarOp::floor, ScalarOp::log, ScalarOp::expm1, ScalarOp::cos};
    static constexpr std::array binary{ScalarOp::add, ScalarOp::sub, ScalarOp::mul,      ScalarOp::div,
                                       ScalarOp::min, ScalarOp::max, ScalarOp::floor_div};
    const size_t kind = below(4);
    if (kind == 0) return make_op(unary[below(unary.size())], {make(depth - 1)});
    if (kind == 1) {
      Expr condition = make_op(below(2) == 0 ? ScalarOp::lt : ScalarOp::ge, {make(0), make(0)});
      return make_op(ScalarOp::select, {std::move(condition), make(depth - 1), make(depth - 1)});
    }
    return make_op(binary[below(binary.size())], {make(depth - 1), make(depth - 1)});
  }

  Interval range() {
    Interval r;
    const double at = static_cast<double>(below(7)) - 3;
    if (below(2) == 0) r = {at, at + static_cast<double>(1 + below(4)), below(2) == 0, below(2) == 0};
    if (below(4) == 0) r.not_zero = true;
    return r;
  }

  double value_in(const Interval& r) {
    for (;;) {
      const double low = std::max(r.low, -4.0);
      const double v = low + 0.25 * static_cast<double>(below(33));
      if (r.holds(v)) return v;
    }
  }

  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

 private:
  std::mt19937 random_;
};

TEST(Ranges, HoldWhatRandomFunctionsGive) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomExpression random(seed);
    ScalarFunction fn{"f", {}, {}};
    for (const char* name : {"a", "b", "c"})
      fn.params.push_back({name, ElementType::of(Scalar::f64), as_declared({random.range()})});
    fn.body = random.make(1 + static_cast<int>(seed % 3));
    const Interval range = scalar_range(fn.body, fn.params);
    for (int i = 0; i < 20; ++i) {
      std::array<Word, 3> words{};
      for (size_t p = 0; p < 3; ++p) words[p] = Word::real(random.value_in(declared_range(fn.params[p], 0)));
      const std::array<std::span<const Word>, 3> args{std::span(&words[0], 1), std::span(&words[1], 1),
                                                      std::span(&words[2], 1)};
      Word out{};
      evaluate(fn, args, std::span(&out, 1));
      EXPECT_TRUE(std::isnan(out.f) || range.holds(out.f))
          << seed << ": " << out.f << " is not" << interval_text(range) << " with " << words[0].f << ' ' << words[1].f
          << ' ' << words[2].f << '\n'
          << print_function(Module{}, fn);
    }
  }
}

}  // namespace
}  // namespace kasen
