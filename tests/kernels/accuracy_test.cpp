// How far the vector math library's functions are from the truth, which long double tells to 11 bits more.
#include <fmt/format.h>

#include <numeric>

#include "libcore/executor.h"
#include "libcore/lang.h"
#include "libopt/optimize.h"
#include "tests/kernels/support.h"

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

// The worst over numbers of [low, high], by the generated kernel of `expression` in x (and y).
double worst(const std::string& expression, double low, double high, long double (*truth)(long double, long double)) {
  Random random(11);
  std::uniform_real_distribution<double> numbers(low, high), exponents(-20, 20);
  Part part;
  PartDim& dim = part.dims["N"];
  dim.size = count;
  dim.masters.resize(count);
  std::iota(dim.masters.begin(), dim.masters.end(), 0);
  for (const char* name : {"x", "y"}) {
    PartArray& array = part.arrays[name];
    array = {{"N"}, Array(ElementType::of(Scalar::f64), count)};
    for (std::int64_t i = 0; i < count; ++i) {
      array.data.as<double>()[i] = name[0] == 'x' ? numbers(random) : exponents(random);
    }
  }
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  TrialLawChecker laws;
  const std::string program = "dim N\ninput x : f64[N], y : f64[N]\nz = " + expression + "\noutput z\n";
  const Module plan = optimize(compile_program(program, "program.ks", {}), laws, {});
  const RunResult result = execute(plan, parts, *make_simulated_transport(1), *testing::make_kernels({}), {});
  const Array& z = result.outputs.at(0).parts.at(0).data;
  double most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto x = static_cast<long double>(parts[0].arrays.at("x").data.as<double>()[i]);
    const auto y = static_cast<long double>(parts[0].arrays.at("y").data.as<double>()[i]);
    most = std::max(most, missed(z.as<double>()[i], truth(x, y)));
  }
  return most;
}

// docs/kernels.md states these.
TEST(Accuracy, OfTheMathLibrary) {
  const auto exp = [](long double x, long double) { return std::exp(x); };
  const auto log = [](long double x, long double) { return std::log(x); };
  const auto erf = [](long double x, long double) { return std::erf(x); };
  const auto pow = [](long double x, long double y) { return std::pow(x, y); };
  struct Row {
    const char* expression;
    double low, high, limit;
    long double (*truth)(long double, long double);
  };
  for (const Row& row :
       {Row{"exp(x)", -1, 1, 3.5, exp}, Row{"exp(x)", -700, 700, 3.5, exp}, Row{"log(x)", 0.5, 2, 2, log},
        Row{"log(x)", 1e-300, 1e-290, 2, log}, Row{"log(x)", 0, 1e6, 2, log}, Row{"erf(x)", -1, 1, 2.5, erf},
        Row{"erf(x)", -6, 6, 2.5, erf}, Row{"x ^ y", 0.01, 10, 2, pow}, Row{"x ^ y", 0.9, 1.1, 2, pow}}) {
    const double most = worst(row.expression, row.low, row.high, row.truth);
    std::fprintf(stderr, "%s on [%g, %g]: %.3f ulp\n", row.expression, row.low, row.high, most);
    EXPECT_LE(most, row.limit) << row.expression << " on " << row.low << " to " << row.high;
  }
}

}  // namespace
}  // namespace kasen::test
