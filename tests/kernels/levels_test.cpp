// Code for other processors gives the bits of the code for this one: every function of numbers, of both widths.
#include <fmt/format.h>

#include "libkernels/jit/target.h"
#include "tests/kernels/part_run.h"

namespace kasen::test {
namespace {

// Ends of numbers, of domains and of pieces of functions; random ones of every size; and a remainder of lanes.
std::vector<double> numbers(std::uint64_t seed) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x{0.0,
                        infinity,
                        std::nan(""),
                        0x1p-1074,
                        0x1p-1022,
                        0x1.fffffffffffffp1023,
                        1,
                        0.5,
                        2,
                        22,
                        709.78,
                        745.1,
                        0x1p30,
                        0x1p52,
                        0x1.6ac5b262ca1ffp849,
                        0.41421356237309503,
                        1.5707963267948966};
  for (size_t k = 0, n = x.size(); k < n; ++k) x.push_back(-x[k]);
  Random random(seed);
  for (int k = 0; k < 3000; ++k) {
    const double mantissa = 1 + static_cast<double>(random() >> 11) * 0x1p-53;
    const int exponent =
        k % 2 == 0 ? static_cast<int>(below(random, 24)) - 16 : static_cast<int>(below(random, 2098)) - 1074;
    x.push_back((k % 3 == 0 ? -1 : 1) * std::ldexp(mantissa, exponent));
  }
  x.push_back(3);
  return x;
}

std::vector<Array> values_on(Level level, const Module& plan, const std::vector<Part>& parts) {
  const auto kernels = testing::make_kernels({.target = level, .ways = Ways{}});
  RunResult result = execute(plan, parts, *make_simulated_transport(1), *kernels, {});
  std::vector<Array> arrays;
  for (Output& output : result.outputs) arrays.push_back(std::move(output.parts.at(0).data));
  return arrays;
}

template <class Number>
void compare_levels(Scalar scalar) {
  std::vector<std::string> functions{"x ^ y", "fmod(x, y)", "x / y", "floor(x)", "x % y", "min(x, y)"};
#define ELEMENTARY(name, work, library, numeric, wide, shape, doc) functions.emplace_back(#name "(x)");
#include "libcore/scalar/elementary.def"
#undef ELEMENTARY
  std::string program = fmt::format("dim N\ninput x : {0}[N], y : {0}[N]\n", scalar == Scalar::f32 ? "f32" : "f64");
  std::string outputs;
  for (size_t k = 0; k < functions.size(); ++k) {
    program += fmt::format("z{} = {}\n", k, functions[k]);
    outputs += fmt::format("{}z{}", k == 0 ? "output " : ", ", k);
  }
  TrialLawChecker laws;
  const Module plan = optimize(compile_program(program + outputs + "\n", "levels.ks", {}), laws, {});
  const std::vector<Part> parts = part_of<Number>(numbers(1), numbers(2), scalar);
  const std::vector<Array> wanted = values_on(Level::native, plan, parts);
  ASSERT_EQ(wanted.size(), functions.size());
  for (const Level level : testing::levels_here()) {
    const std::vector<Array> got = values_on(level, plan, parts);
    for (size_t k = 0; k < functions.size(); ++k) {
      EXPECT_EQ(difference(wanted[k], got[k], wanted[k].count), "") << functions[k] << " by " << name_of(level);
    }
  }
}

TEST(Levels, GiveTheSameBitsOfF64) { compare_levels<double>(Scalar::f64); }
TEST(Levels, GiveTheSameBitsOfF32) { compare_levels<float>(Scalar::f32); }

// Each level is another key of the cache, and says which it is.
TEST(Levels, AreTold) {
  EXPECT_TRUE(lacking(Level::native).empty());
  for (const Level level : testing::levels_here()) {
    const Target target({}, {}, nullptr, level);
    EXPECT_EQ(target.level(), level);
    EXPECT_NE(target.identity(), Target().identity());
    EXPECT_EQ(target.description("cpu").find("cpu by --target, "), 0);
  }
  EXPECT_FALSE(lacking(Level::aarch64).empty() && lacking(Level::x86_64_v2).empty());
}

}  // namespace
}  // namespace kasen::test
