// What programs mean: small ones run by the interpreter, their results computed here by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/core/run_program.h"

namespace kasen::meaning {
namespace {

TEST(Meaning, OperatorsBindAsDocumented) {
  EXPECT_EQ(value_of("one + 2 * 3"), 7);
  EXPECT_EQ(value_of("-one ^ 2"), -1);
  EXPECT_EQ(value_of("2 ^ 3 ^ (2 * one)"), 512);
  EXPECT_EQ(value_of("(one + 1) ^ -1"), 0.5);
  EXPECT_EQ(value_of("10 - one - 2"), 7);
  EXPECT_EQ(value_of("if one > 0 && one < 2 || false then 1.0 else 0.0"), 1);
  EXPECT_EQ(value_of("if !(one == 1) then 1.0 else 2.0"), 2);
  EXPECT_EQ(value_of("1 / 4 * one"), 0.25);
  EXPECT_EQ(value_of("one +\n  1"), 2);
}

TEST(Meaning, IntegersFloorAndWrap) {
  EXPECT_EQ(whole_of("(one - 8) // 2"), -4);
  EXPECT_EQ(whole_of("(one - 8) % 2"), 1);
  EXPECT_EQ(whole_of("one // (one - 1)"), 0);
  EXPECT_EQ(whole_of("one % (one - 1)"), 0);
  EXPECT_EQ(whole_of("(one + 2) ^ 3"), 27);
  EXPECT_EQ(whole_of("9223372036854775800 + one * 100"), std::numeric_limits<std::int64_t>::min() + 92);
  EXPECT_EQ(whole_of("i64(2.9 * f64(one))"), 2);
  EXPECT_EQ(whole_of("i64(i32(one) + 1)"), 2);
  EXPECT_EQ(whole_of("i64(i32(one * 5000000000))"), 2147483647);
  EXPECT_EQ(whole_of("i64(i32(one * -5000000000))"), -2147483648);
}

TEST(Meaning, BitsAreCounted) {
  EXPECT_EQ(whole_of("bit_count(one + 6)"), 3);
  EXPECT_EQ(whole_of("bit_count(-one)"), 64);
  EXPECT_EQ(whole_of("leading_zeros(one)"), 63);
  EXPECT_EQ(whole_of("leading_zeros(one - 1)"), 64);
  EXPECT_EQ(whole_of("leading_zeros(-one)"), 0);
  EXPECT_EQ(whole_of("trailing_zeros(8 * one)"), 3);
  EXPECT_EQ(whole_of("trailing_zeros(one - 1)"), 64);
}

// The largest and the smallest integer stand for infinities.
TEST(Meaning, ExtremesOfIntegersStayWhatTheyAre) {
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max(),
                         low = std::numeric_limits<std::int64_t>::min();
  const std::string infinity = "(9223372036854775806 + one)";
  EXPECT_EQ(whole_of(infinity + " + one"), high);
  EXPECT_EQ(whole_of(infinity + " - 5"), high);
  EXPECT_EQ(whole_of("5 - " + infinity), low);
  EXPECT_EQ(whole_of("-" + infinity), low);
  EXPECT_EQ(whole_of("-(-" + infinity + ")"), high);
  EXPECT_EQ(whole_of("abs(-" + infinity + ")"), high);
  EXPECT_EQ(whole_of("3 * " + infinity), high);
  EXPECT_EQ(whole_of("-3 * " + infinity), low);
  EXPECT_EQ(whole_of("0 * " + infinity), 0);
  EXPECT_EQ(whole_of(infinity + " - " + infinity), low);
  EXPECT_EQ(whole_of("i64(2147483647i32 + i32(one))"), 2147483647);
  EXPECT_EQ(whole_of("i64(-2147483647i32 - i32(one) - 1i32)"), -2147483648);
  EXPECT_EQ(whole_of("2147483647 + one"), 2147483648);
}

TEST(Meaning, FunctionsOfThePrelude) {
  const std::string zero = "(one - 1)", infinity = "(one / (one - 1))", none = "(0 * (one / (one - 1)))";
  EXPECT_EQ(value_of("square(-3 * one) + reciprocal(4 * one)"), 9.25);
  EXPECT_EQ(value_of("sign(-2 * one) * 10 + sign(one) + sign(" + zero + ")"), -9);
  EXPECT_TRUE(std::isnan(value_of("sign(" + none + ")")));
  EXPECT_EQ(value_of("trunc(-1.7 * one) + trunc(2.7 * one)"), 1);
  for (const auto& [x, rounded] :
       std::vector<std::pair<std::string, double>>{{"0.5", 0},
                                                   {"1.5", 2},
                                                   {"2.5", 2},
                                                   {"-0.5", 0},
                                                   {"-1.5", -2},
                                                   {"-2.5", -2},
                                                   {"0.49999999999999994", 0},
                                                   {"4503599627370497.0", 4503599627370497.0},
                                                   {"-3.2", -3},
                                                   {"1e300", 1e300}})
    EXPECT_EQ(value_of("round(one * " + x + ")"), rounded) << x;
  EXPECT_EQ(value_of("round(-" + infinity + ")"), -std::numeric_limits<double>::infinity());
  const auto tests = [&](const std::string& x) {
    return value_of("(if isnan(" + x + ") then 1.0 else 0.0) + (if isinf(" + x +
                    ") then 10.0 else 0.0) + (if isfinite(" + x + ") then 100.0 else 0.0)");
  };
  EXPECT_EQ(tests("one"), 100);
  EXPECT_EQ(tests(infinity), 10);
  EXPECT_EQ(tests("-" + infinity), 10);
  EXPECT_EQ(tests(none), 1);
  EXPECT_EQ(value_of("copysign(3 * one, -one) + copysign(-one, -(" + zero + "))"), -4);
  EXPECT_EQ(value_of("hypot(3 * one, -4 * one)"), 5);
  EXPECT_EQ(value_of("hypot(3e300 * one, 4e300 * one)"), 5e300);
  EXPECT_EQ(value_of("hypot(" + zero + ", -(" + zero + "))"), 0);
  EXPECT_EQ(value_of("hypot(one, " + infinity + ")"), std::numeric_limits<double>::infinity());
}

// The angle of every octant and of every axis, by the C library's atan2.
TEST(Meaning, AnglesOfPoints) {
  for (const double y : {-2.0, -1.0, -0.0, 0.0, 1.0, 2.0}) {
    for (const double x : {-2.0, -1.0, -0.0, 0.0, 1.0, 3.0}) {
      const auto text = [](double v) {
        return std::signbit(v) ? "(-(" + std::to_string(-v) + " * one))" : std::to_string(v);
      };
      const double angle = value_of("atan2(one * " + text(y) + ", " + text(x) + ")");
      EXPECT_NEAR(angle, std::atan2(y, x), 1e-15) << y << ' ' << x;
      EXPECT_EQ(std::signbit(angle), std::signbit(std::atan2(y, x))) << y << ' ' << x;
    }
  }
  EXPECT_TRUE(std::isnan(value_of("atan2(0 * (one / (one - 1)), one)")));
  EXPECT_TRUE(std::isnan(value_of("atan2(one, 0 * (one / (one - 1)))")));
}

// A fn of the program's own counts; what is wrong with a call is said where it stands.
TEST(Meaning, OwnFunctionsBeforeThePrelude) {
  EXPECT_EQ(real(run_text("param one = 1.0\nfn square(x) = x + 41\noutput z = square(one)\n"), "z"), 42);
  EXPECT_EQ(real(run_text("param one = 1f32\noutput z = f64(round(2.5 * one) + hypot(3 * one, 4 * one))\n"), "z"), 7);
  EXPECT_EQ(whole(run_text("param one = 1\noutput z = square(3 * one) + sign(-5 * one)\n"), "z"), 8);
  try {
    (void)run_text("param one = true\noutput z = 1\noutput y = square(one)\n");
    FAIL() << "a square of a bool";
  } catch (const UserError& error) {
    EXPECT_EQ(error.diagnostics().front().where.line, 3) << error.what();
    EXPECT_NE(std::string(error.what()).find("in 'square'"), std::string::npos) << error.what();
  }
}

TEST(Meaning, LiteralsAndConstsTakeTheTypeTheyMeet) {
  const std::string text = R"(
const k = 3
param x = 2.0, y = 5f32, n = 4
output a = k * x, b = k * y, c = k * n, d = n / k
)";
  Outputs out = run_text(text);
  EXPECT_EQ(real(out, "a"), 6);
  EXPECT_EQ(out.at("b").as<float>()[0], 15.0F);
  EXPECT_EQ(whole(out, "c"), 12);
  EXPECT_DOUBLE_EQ(real(out, "d"), 4.0 / 3.0);
  out = run_text(text, {}, {{"k", "10"}, {"x", "-0.5"}});
  EXPECT_EQ(real(out, "a"), -5);
  EXPECT_EQ(whole(out, "c"), 40);
}

TEST(Meaning, ArraysFromNothing) {
  WholeInputs inputs;
  inputs.dims["N"] = 4;
  const Outputs out = run_text(R"(
dim N, K local = 3
param r = 2.5
a = fill(r, N)
b : i64[N] = 7
c = i64(index(N)) * size(N)
d : f64[N, K] = r
e = 2 * r * fill(1.0, N)
f = fill(r, N, K) - a
output e, f, a, b, c, total = sum(d), rows = sum(d, over K), picked = sum(if i64(index(N)) == 2 then a else 0)
)",
                               inputs);
  EXPECT_EQ(out.at("a").count, 4);
  EXPECT_EQ(out.at("a").as<double>()[3], 2.5);
  EXPECT_EQ(out.at("b").as<std::int64_t>()[0], 7);
  EXPECT_EQ(out.at("c").as<std::int64_t>()[3], 12);
  EXPECT_EQ(real(out, "total"), 30);
  ASSERT_EQ(out.at("e").count, 4);
  EXPECT_EQ(out.at("e").as<double>()[3], 5);
  ASSERT_EQ(out.at("f").count, 12);
  EXPECT_EQ(out.at("f").as<double>()[11], 0);
  ASSERT_EQ(out.at("rows").count, 4);
  EXPECT_EQ(out.at("rows").as<double>()[1], 7.5);
  EXPECT_EQ(real(out, "picked"), 2.5);
}

// One operand has all dimensions, wherever it stands among the others.
TEST(Meaning, OperandsMatchInAnyOrder) {
  WholeInputs inputs;
  inputs.dims = {{"N", 1}};
  const std::string head =
      "dim N, F local = 2, K local = 3\na = fill(2.0, F)\nb = fill(3.0, K)\nc = fill(4.0, N, F, K)\n";
  const Outputs out = run_text(head +
                                   "output t = sum((if a > 1.0 then b else c)), u = sum((a, b, c).1), v = sum([a, b, "
                                   "c][1]), w = sum([c, b, a][2])\n",
                               inputs);
  EXPECT_EQ(real(out, "t"), 18);
  EXPECT_EQ(real(out, "u"), 18);
  EXPECT_EQ(real(out, "v"), 18);
  EXPECT_EQ(real(out, "w"), 12);
  EXPECT_THROW((void)run_text(head + "output t = (a, b)\n", inputs), UserError);
}

TEST(Meaning, LoopsCarryAndBlocksAreLocal) {
  const Outputs out = run_text(R"(
param turns = 5
a = 0
b = 1
for i in 0..turns {
  next = a + b
  a = b
  b = next
}
digits = 0
for i in reversed(1..4) { digits = 10 * digits + i }
wrote = 0
n = 27
while n != 1 {
  if n % 2 == 0 { n = n // 2 } else if n == 3 { n = 10 } else {
    n = 3 * n + 1
  }
  wrote = wrote + 1
}
nothing = 3
while nothing < 0 { nothing = nothing - 1 }
output a, digits, wrote, nothing
)");
  EXPECT_EQ(whole(out, "a"), 5);
  EXPECT_EQ(whole(out, "digits"), 321);
  EXPECT_EQ(whole(out, "wrote"), 111);
  EXPECT_EQ(whole(out, "nothing"), 3);
}

TEST(Meaning, UnrolledLoopsMeanTheSame) {
  const std::string head = "param x = 3.0\nlist s[4] : f64 = 0\nt = 0.0\n";
  const std::string body = " { s[i] = x * f64(i)\n t = t * 10 + s[i] }\noutput t\n";
  const double plain = real(run_text(head + "for i in reversed(0..4)" + body), "t");
  EXPECT_EQ(plain, 9630);
  EXPECT_EQ(real(run_text(head + "for i in reversed(0..4) unroll" + body), "t"), plain);
}

TEST(Meaning, ListsRotate) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  const Outputs out = run_text(R"(
const m = 3
dim N
list s[m] : f64[N] = 1
list r[m] : f64 = 0
for i in 0..5 {
  push(s, fill(f64(i), N))
  push(r, f64(i * i))
}
s[0] = s[0] + 10
before = s[1]
push(s, s[0])
output oldest = s[0], newest = s[m - 1], before, r0 = r[0], r2 = r[2]
)",
                               inputs);
  EXPECT_EQ(real(out, "oldest"), 3);
  EXPECT_EQ(real(out, "newest"), 12);
  EXPECT_EQ(real(out, "before"), 3);
  EXPECT_EQ(real(out, "r0"), 4);
  EXPECT_EQ(real(out, "r2"), 16);
}

TEST(Meaning, PointsTuplesAndCoordinates) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  Array points(ElementType::array(Scalar::f64, 2), 2);
  points.as<double>(0)[0] = 3;
  points.as<double>(1)[0] = 4;
  points.as<double>(0)[1] = 5;
  points.as<double>(1)[1] = 12;
  inputs.arrays["X"] = std::move(points);
  const Outputs out = run_text(R"(
const d = 2
dim N
input X : [f64; d][N]
param c : [f64; d] = [1.0, 2]
fn norm(p) = sqrt(sum(j in d: p[j] ^ 2))
fn both(a, b) = ([j in d: a.0[j] + b.0[j]], a.1 + b.1)
s = reduce(both, map(p -> (p, 1), X))
output n = norm(X), largest = max(map(p -> max(j in d: p[j]), X)), first = s.0[0], second = s.0[1], count = s.1
output c1 = c[1] + prod(j in d: f64(j + 1))
)",
                               inputs);
  EXPECT_EQ(out.at("n").as<double>()[0], 5);
  EXPECT_EQ(out.at("n").as<double>()[1], 13);
  EXPECT_EQ(real(out, "largest"), 12);
  EXPECT_EQ(real(out, "first"), 8);
  EXPECT_EQ(real(out, "second"), 16);
  EXPECT_EQ(whole(out, "count"), 2);
  EXPECT_EQ(real(out, "c1"), 4);
}

TEST(Meaning, ReductionsOfEveryKind) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.arrays["x"] = reals_of({3, -1, 2});
  const Outputs out = run_text(R"(
dim N
input x : f64[N]
output s = sum(x), p = prod(x), lo = min(x), hi = max(x), d = dot(x, x), e = x @ x
output some = any(x < 0), every = all(x < 0), longest = reduce((a, b) -> max(a, b), abs(x))
)",
                               inputs);
  EXPECT_EQ(real(out, "s"), 4);
  EXPECT_EQ(real(out, "p"), -6);
  EXPECT_EQ(real(out, "lo"), -1);
  EXPECT_EQ(real(out, "hi"), 3);
  EXPECT_EQ(real(out, "d"), 14);
  EXPECT_EQ(real(out, "e"), 14);
  EXPECT_TRUE(truth(out, "some"));
  EXPECT_FALSE(truth(out, "every"));
  EXPECT_EQ(real(out, "longest"), 3);
}

TEST(Meaning, ProductsRunAlongRowsOrColumns) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  inputs.dims["M"] = 3;
  WholeMatrix& g = inputs.matrices["G"];  // (0, 0) 2, (0, 2) 3, (1, 2) 5
  g.rows = {0, 0, 1};
  g.cols = {0, 2, 2};
  g.values = reals_of({2, 3, 5});
  inputs.arrays["x"] = reals_of({1, 10});
  inputs.arrays["y"] = reals_of({1, 10, 100});
  const Outputs out = run_text(R"(
dim N, M
input G : f64[N, M], x : f64[N], y : f64[M]
output a = G' @ x, b = G @ y, c = x @ G, d = mxvt(+, min, G, y), e = G.T @ x, f = mxv(*, +, x, G)
)",
                               inputs);
  for (const std::string name : {"a", "c", "e", "f"}) {
    const double* v = out.at(name).as<double>();
    EXPECT_EQ((std::vector<double>{v[0], v[1], v[2]}), (std::vector<double>{2, 0, 53})) << name;
  }
  EXPECT_EQ(out.at("b").as<double>()[0], 302);
  EXPECT_EQ(out.at("b").as<double>()[1], 500);
  EXPECT_EQ(out.at("d").as<double>()[0], 3);
}

TEST(Meaning, NullEntriesCountAsOneOfTheMultipliersType) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.matrices["G"].rows = {0, 1};
  inputs.matrices["G"].cols = {1, 2};
  const Outputs out = run_text(R"(
dim N
input G : null[N, N]
fn hop(x, entry: i64) = x + entry
reached = mxv(&&, ||, G, i64(index(N)) == 0)
steps = mxv(hop, max, G, i64(index(N)))
also = G' @ (i64(index(N)) == 0)
degree = G @ fill(1i32, N)
output reached, steps, also, degree
)",
                               inputs);
  EXPECT_EQ(out.at("reached").as<std::uint8_t>()[1], 1);
  EXPECT_EQ(out.at("reached").as<std::uint8_t>()[2], 0);
  EXPECT_EQ(out.at("also").as<std::uint8_t>()[1], 1);
  EXPECT_EQ(out.at("steps").as<std::int64_t>()[2], 2);
  EXPECT_EQ(out.at("steps").as<std::int64_t>()[0], std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out.at("degree").as<std::int32_t>()[0], 1);
  EXPECT_EQ(out.at("degree").as<std::int32_t>()[2], 0);
}

TEST(Meaning, AnEntryThatIsNotReadNeedsNoType) {
  WholeInputs inputs;
  inputs.dims = {{"N", 3}};
  inputs.matrices["G"] = WholeMatrix{{0, 1, 1}, {2, 0, 2}, Array(ElementType::of(Scalar::null), 3)};
  const Outputs out = run_text(R"(
    dim N
    input G : null[N, N]
    fn first(v, e) = v
    output a = mxv((v, e) -> i64(v), +, G, index(N)), b = i64(mxv(first, max, G, index(N)))
  )",
                               inputs);
  EXPECT_EQ(out.at("a").as<std::int64_t>()[2], 1);
  EXPECT_EQ(out.at("b").as<std::int64_t>()[0], 1);
}

TEST(Meaning, MultiplyingByAMatrixOfLocalColumns) {
  WholeInputs inputs;
  inputs.dims["N"] = 2;
  inputs.dims["F"] = 3;
  inputs.arrays["A"] = reals_of({1, 2, 3, 4, 5, 6});
  inputs.arrays["x"] = reals_of({1, 10});
  const Outputs out = run_text(R"(
dim N, F local
input A : f64[N, F], x : f64[N]
w : f64[F] = 1
output a = A @ w, b = A' @ x, c = sum(A * x, over F)
)",
                               inputs);
  EXPECT_EQ(out.at("a").as<double>()[1], 15);
  EXPECT_EQ(out.at("b").as<double>()[2], 63);
  EXPECT_EQ(out.at("c").as<double>()[1], 150);
}

TEST(Meaning, NumbersOutsideOfADomainGiveNoOrdinaryNumber) {
  WholeInputs inputs;
  inputs.dims["N"] = 1;
  inputs.arrays["x"] = reals_of({5});
  const Outputs out = run_text(R"(
dim N
input x : f64[N]
param q = 1.5, p = -1.0, half = 0.5
output a = quantile(x, q), b = percentile(x, p), c = quantile(x, half), d = trapezoid(x)
)",
                               inputs);
  EXPECT_TRUE(std::isnan(real(out, "a")));
  EXPECT_TRUE(std::isnan(real(out, "b")));
  EXPECT_EQ(real(out, "c"), 5);
  EXPECT_EQ(real(out, "d"), 0);
}

// Parameters of functions whose range has a formula that gives a number outside of it, too.
TEST(Meaning, ParametersOutsideOfTheirRangeGiveNaN) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.arrays["x"] = reals_of({1, 2, 5});
  for (const std::string call :
       {"pinball_loss(x, x + 2, two)", "pinball_loss(x, x + 2, less)", "huber_loss(x, x + 2, less)",
        "smooth_l1(x, x + 2, less)", "focal_loss(x / 9, x / 8, less)", "minkowski(x, x + 1, less)",
        "minkowski(x, x + 1, 0 * two)", "max(smooth(x, two))", "max(smooth(x, less))",
        "sum(ridge(outer(*, x, y), x, less))", "sum(jacobi(S, y, minus))", "sum(cg(S, y, minus))"}) {
    const Outputs out = run_text(
        "dim N, F local = 2\ninput x : f64[N]\nparam two = 2.0, less = -1.0, minus = -1\n"
        "y = 1.0 + f64(i64(index(F)))\nS = outer((i, j) -> if i == j then 2.0 else 0.0, y, y)\n"
        "output a = " +
            call + "\n",
        inputs);
    EXPECT_TRUE(std::isnan(real(out, "a"))) << call;
  }
  const Outputs out = run_text(R"(
dim N
input x : f64[N]
param none = 0.0, top = inf, less = -1.0
output a = pmean(x, none), b = norm_p(x, top), c = minkowski(x, 0 * x, top), d = sum(pseudo_huber(none, x))
output e = min(huber(less, x)), f = min(pseudo_huber(less, x)), g = norm_p(x, inf), h = tsum(x, 3.0, none)
)",
                               inputs);
  EXPECT_NEAR(real(out, "a"), std::cbrt(10), 1e-14);
  for (const char* name : {"b", "c", "g"}) EXPECT_EQ(real(out, name), 5);
  for (const char* name : {"d", "h"}) EXPECT_EQ(real(out, name), 0);
  for (const char* name : {"e", "f"}) EXPECT_EQ(real(out, name), std::numeric_limits<double>::infinity());
}

TEST(Meaning, EndsInTheWrongOrderAreAnErrorOfCounts) {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.arrays["x"] = reals_of({1, 2, 5});
  const std::string head =
      "dim N, K = 2\ninput x : f64[N]\nparam a = 4.0, b = 1.0, none = nan, k = 3, least = 3\noutput y = ";
  for (const std::string call :
       {"histogram(x, a, b, over K)", "histogram(x, a, a, over K)", "histogram(x, a, none, over K)",
        "f64(randint(7, k, least, over K))", "f64(randint(7, k, k - 2, over K))"})
    EXPECT_THROW((void)run_text(head + call + "\n", inputs), UserError) << call;
}

}  // namespace
}  // namespace kasen::meaning
