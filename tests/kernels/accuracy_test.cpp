// The errors of all functions that kernels compute, against MPFR with 128 bits.
#include <fmt/format.h>
#include <mpfr.h>

#include <fstream>
#include <numbers>

#include "tests/kernels/part_run.h"

namespace kasen::test {
namespace {

constexpr std::int64_t count = 200'000;

// Units in the last place of a double by which `got` misses `right`; numbers below the normal ones count in its
// smallest unit.
double missed(double got, long double right) {
  const auto nearest = static_cast<double>(right);
  if (std::isnan(got) && std::isnan(nearest)) return 0;
  if (!std::isfinite(nearest) || !std::isfinite(got)) {
    return got == nearest ? 0 : std::numeric_limits<double>::infinity();
  }
  const int exponent = nearest == 0 ? -1074 : std::max(std::ilogb(nearest) - 52, -1074);
  return static_cast<double>(std::fabs((static_cast<long double>(got) - right) / std::ldexp(1.0L, exponent)));
}

using Numbers = std::vector<double>;
using Truth = long double (*)(long double, long double);

// MPFR's function of one or two numbers.
template <auto function>
long double truth(long double x, long double y) {
  static_assert(MPFR_VERSION_MAJOR >= 4);
  mpfr_t a, b, result;
  mpfr_inits2(128, a, b, result, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_ld(a, x, MPFR_RNDN);
  mpfr_set_ld(b, y, MPFR_RNDN);
  if constexpr (std::is_invocable_v<decltype(function), mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t>) {
    function(result, a, b, MPFR_RNDN);
  } else {
    function(result, a, MPFR_RNDN);
  }
  const long double value = mpfr_get_ld(result, MPFR_RNDN);
  mpfr_clears(a, b, result, static_cast<mpfr_ptr>(nullptr));
  return value;
}

// What the generated kernels make of `statements`, which make z of x and y, with the functions before them.
Numbers values_of(const std::string& statements, const Numbers& x, const Numbers& y,
                  const std::string& functions = "") {
  const std::vector<Part> parts = part_of<double>(x, y, Scalar::f64);
  TrialLawChecker laws;
  const std::string program = "dim N\ninput x : f64[N], y : f64[N]\n" + functions + statements + "\noutput z\n";
  const Module plan = optimize(compile_program(program, "program.ks", {}), laws, {});
  const RunResult result = execute(plan, parts, *make_simulated_transport(1), *testing::make_kernels({}), {});
  const Array& z = result.outputs.at(0).parts.at(0).data;
  return {z.as<double>(), z.as<double>() + z.count};
}

int mpfr_squared(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_sqr(r, x, mode); }
int mpfr_inverse(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t mode) { return mpfr_ui_div(r, 1, x, mode); }

// The worst over numbers of [low, high].
double worst(const std::string& expression, double low, double high, Truth right) {
  Random random(11);
  std::uniform_real_distribution<double> numbers(low, high), exponents(-20, 20);
  Numbers x(count), y(count);
  for (double& v : x) v = numbers(random);
  for (double& v : y) v = exponents(random);
  const Numbers z = values_of("z = " + expression, x, y);
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) most = std::max(most, missed(z[i], right(x[i], y[i])));
  return most;
}

// docs/kernels.md states these.
TEST(Accuracy, OfTheFunctionsThatAreUsedMost) {
  struct Row {
    const char* expression;
    double low, high, limit;
    Truth right;
  };
  for (const Row& row :
       {Row{"exp(x)", -1, 1, 2, truth<mpfr_exp>}, Row{"exp(x)", -700, 700, 2, truth<mpfr_exp>},
        Row{"log(x)", 0.5, 2, 2, truth<mpfr_log>}, Row{"log(x)", 1e-300, 1e-290, 2, truth<mpfr_log>},
        Row{"log(x)", 0, 1e6, 2, truth<mpfr_log>}, Row{"log1p(x)", -1, 1, 2, truth<mpfr_log1p>},
        Row{"log1p(x)", -1e-5, 1e-5, 2, truth<mpfr_log1p>}, Row{"log1p(x)", 0, 1e6, 2, truth<mpfr_log1p>},
        Row{"log1p(x)", -0.3, 0.5, 2, truth<mpfr_log1p>}, Row{"log(x)", 0.99, 1.01, 2, truth<mpfr_log>},
        Row{"erf(x)", -1, 1, 2, truth<mpfr_erf>}, Row{"erf(x)", -6, 6, 2, truth<mpfr_erf>},
        Row{"x ^ y", 0.01, 10, 1, truth<mpfr_pow>}, Row{"x ^ y", 0.9, 1.1, 1, truth<mpfr_pow>}}) {
    const double most = worst(row.expression, row.low, row.high, row.right);
    std::fprintf(stderr, "%s on [%g, %g]: %.3f ulp\n", row.expression, row.low, row.high, most);
    EXPECT_LE(most, row.limit) << row.expression << " on " << row.low << " to " << row.high;
  }
}

// And those that the prelude makes of others.
TEST(Accuracy, OfTheOtherFunctions) {
  struct Row {
    const char* expression;
    double low, high, limit;
    Truth right;
  };
  for (const Row& row : {Row{"cbrt(x)", -1e6, 1e6, 1, truth<mpfr_cbrt>},
                         Row{"exp2(x)", -1000, 1000, 1, truth<mpfr_exp2>},
                         Row{"expm1(x)", -1, 1, 1.5, truth<mpfr_expm1>},
                         Row{"log2(x)", 0, 1e6, 1, truth<mpfr_log2>},
                         Row{"log2(x)", 0.9, 1.1, 1, truth<mpfr_log2>},
                         Row{"log10(x)", 0, 1e6, 1, truth<mpfr_log10>},
                         Row{"log10(x)", 0.9, 1.1, 1, truth<mpfr_log10>},
                         Row{"sin(x)", -10, 10, 3, truth<mpfr_sin>},
                         Row{"cos(x)", -10, 10, 3, truth<mpfr_cos>},
                         Row{"tan(x)", -10, 10, 3, truth<mpfr_tan>},
                         Row{"asin(x)", -1, 1, 1, truth<mpfr_asin>},
                         Row{"acos(x)", -1, 1, 1, truth<mpfr_acos>},
                         Row{"atan(x)", -100, 100, 1, truth<mpfr_atan>},
                         Row{"sinh(x)", -5, 5, 1, truth<mpfr_sinh>},
                         Row{"cosh(x)", -700, 700, 1.5, truth<mpfr_cosh>},
                         Row{"tanh(x)", -5, 5, 1, truth<mpfr_tanh>},
                         Row{"asinh(x)", -100, 100, 1, truth<mpfr_asinh>},
                         Row{"acosh(x)", 1, 100, 1, truth<mpfr_acosh>},
                         Row{"atanh(x)", -1, 1, 1, truth<mpfr_atanh>},
                         Row{"hypot(x, y)", -20, 20, 2, truth<mpfr_hypot>},
                         Row{"atan2(x, y)", -20, 20, 2, truth<mpfr_atan2>},
                         Row{"fmod(x, y)", -1000, 1000, 0, truth<mpfr_fmod>},
                         Row{"square(x)", -1e3, 1e3, 0.5, truth<mpfr_squared>},
                         Row{"reciprocal(x)", 1, 1e3, 0.5, truth<mpfr_inverse>},
                         Row{"sqrt(x)", 0, 1e6, 0.5, truth<mpfr_sqrt>}}) {
    const double most = worst(row.expression, row.low, row.high, row.right);
    std::fprintf(stderr, "%s on [%g, %g]: %.3f ulp\n", row.expression, row.low, row.high, most);
    EXPECT_LE(most, row.limit) << row.expression << " on " << row.low << " to " << row.high;
  }
}

// Where numbers end, where results do, and on both sides of where an approximation begins or another takes over.
Numbers odd_numbers() {
  const double infinity = std::numeric_limits<double>::infinity();
  Numbers x{0.0,
            infinity,
            std::nan(""),
            0x1p-1074,
            0x1.fffffffffffffp-1023,
            0x1p-1022,
            0x1.fffffffffffffp1023,
            0x1p-54,
            1e-300,
            709.782712893,
            709.79,
            745.13,
            745.14,
            708.39,
            6.0,
            5.921,
            1e9,
            0x1p52};
  for (int k = 0; k < 40; ++k) {
    for (const double middle : {1 + k / 128.0, 0.7 + k / 256.0, std::sqrt(0.5) * std::exp2(k - 20), std::sqrt(0.5) - 1,
                                1 - std::exp2(-k), 0x1p-40 * std::exp2(2 * k), k / 512.0, 0.34657359 * k}) {
      for (const double at : {std::nextafter(middle, 0), middle, std::nextafter(middle, infinity)}) x.push_back(at);
    }
  }
  for (size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
  return x;
}

TEST(Accuracy, WhereNumbersEnd) {
  struct Row {
    const char* name;
    double limit;
    Truth right;
  };
  const Numbers x = odd_numbers();
  for (const Row& row :
       {Row{"exp", 2, truth<mpfr_exp>},     Row{"log", 2, truth<mpfr_log>},     Row{"log1p", 2, truth<mpfr_log1p>},
        Row{"erf", 2, truth<mpfr_erf>},     Row{"exp2", 2, truth<mpfr_exp2>},   Row{"expm1", 2, truth<mpfr_expm1>},
        Row{"log2", 1, truth<mpfr_log2>},   Row{"log10", 1, truth<mpfr_log10>}, Row{"cbrt", 1, truth<mpfr_cbrt>},
        Row{"sin", 3, truth<mpfr_sin>},     Row{"cos", 3, truth<mpfr_cos>},     Row{"tan", 3, truth<mpfr_tan>},
        Row{"asin", 1, truth<mpfr_asin>},   Row{"acos", 1, truth<mpfr_acos>},   Row{"atan", 1, truth<mpfr_atan>},
        Row{"sinh", 2, truth<mpfr_sinh>},   Row{"cosh", 2, truth<mpfr_cosh>},   Row{"tanh", 2, truth<mpfr_tanh>},
        Row{"asinh", 1, truth<mpfr_asinh>}, Row{"acosh", 1, truth<mpfr_acosh>}, Row{"atanh", 1, truth<mpfr_atanh>}}) {
    const Numbers z = values_of("z = " + std::string(row.name) + "(x)", x, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double right = row.right(x[i], 0);
      EXPECT_LE(missed(z[i], right), row.limit) << row.name << '(' << x[i] << ") = " << z[i] << ", not " << right;
      EXPECT_TRUE(right != 0 || std::signbit(z[i]) == std::signbit(right)) << row.name << '(' << x[i] << ')';
    }
  }
}

// As the C library says, where bases and exponents end.
TEST(Accuracy, OfPowersWhereNumbersEnd) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Numbers ends{0.0,  -0.0,     1,         -1,           2,         -2,       3,      -3,          0.5,
                     -0.5, infinity, -infinity, std::nan(""), 0x1p-1074, 0x1p1023, 0x1p53, -0x1p53 - 2, 1e300};
  Numbers x, y;
  for (const double base : ends) {
    for (const double exponent : ends) {
      x.push_back(base);
      y.push_back(exponent);
    }
  }
  const Numbers z = values_of("z = x ^ y", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const double right = std::pow(x[i], y[i]);
    EXPECT_LE(missed(z[i], right), 1.5) << x[i] << " ^ " << y[i] << " = " << z[i] << ", not " << right;
    EXPECT_TRUE(std::isnan(right) || std::signbit(z[i]) == std::signbit(right)) << x[i] << " ^ " << y[i];
  }
}

// examples/glm.ks: from its functions to where the program begins, and what it makes of the scores m.
struct Probit {
  std::string functions, statements;
};
Probit probit() {
  std::ifstream file(KASEN_SOURCE_ROOT "/examples/glm.ks");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto between = [&](const char* from, const char* to) {
    const size_t begin = text.find(from), end = text.find(to, begin);
    if (end == std::string::npos) throw std::runtime_error("examples/glm.ks has no such part");
    return text.substr(begin, end - begin);
  };
  return {between("fn density", "t = if"), "m = x\n" + between("a = abs(m)", "loss = ")};
}

// The hazard of the normal distribution, its density over cdf(-a); far out by Laplace's fraction.
long double normal_hazard(long double a) {
  if (a < 6) return std::sqrt(2 / std::numbers::pi_v<long double>) * std::exp(-a * a / 2) / std::erfc(a / sqrtl(2));
  long double fraction = a;
  for (int k = 400; k > 0; --k) fraction = a + static_cast<long double>(k) / fraction;
  return fraction;
}
// -log(cdf(m)).
long double normal_loss(long double m) {
  if (m > 0) return -std::log1p(-std::erfc(m / sqrtl(2)) / 2);
  return m * m / 2 + std::log(normal_hazard(-m)) + std::log(2 * std::numbers::pi_v<long double>) / 2;
}

// The number of right digits does not depend on how far out a score is.
TEST(Accuracy, OfProbitRegression) {
  Random random(12);
  std::uniform_real_distribution<double> near(-12, 12), exponents(0, 18);
  Numbers m{0, -0.0, 1e15, -1e15, 1e150, -1e150};
  for (int i = 0; i < 20'000; ++i) m.push_back(near(random));
  for (int i = 0; i < 1000; ++i) m.push_back((i % 2 == 0 ? -1 : 1) * std::pow(10, exponents(random)));
  const auto [functions, statements] = probit();
  const Numbers hazards = values_of(statements + "z = h", m, m, functions);
  const Numbers losses = values_of(statements + "z = map(surprise, m, q, map(to_log, m, h, q))", m, m, functions);
  for (size_t i = 0; i < m.size(); ++i) {
    const long double hazard = normal_hazard(std::fabs(m[i])), loss = normal_loss(m[i]);
    EXPECT_LE(std::fabs(hazards[i] - hazard), 1e-15 * hazard) << m[i];
    EXPECT_LE(std::fabs(losses[i] - loss), 2e-14 * loss + 1e-300) << m[i];
  }
}

}  // namespace
}  // namespace kasen::test
