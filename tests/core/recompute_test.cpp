// What `kasen run --verify` is made of: the part of a program that an output needs, the program over some indices
// alone, bounded and backward interpretation, and the comparison.
#include "libcore/reference/recompute.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libcore/ir/prune.h"
#include "libcore/lang/lang.h"
#include "libcore/reference/restrict.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

using testing::TestData;
using testing::words_of;

TestData some_data(int workers) {
  std::mt19937_64 random(3);
  TestData data;
  data.workers = workers;
  data.dims["N"] = {23, false, testing::random_owners(random, 23, workers, workers - 1)};
  data.dims["K"] = {3, true, {}};
  data.matrices["G"] = testing::random_matrix(random, "N", "N", 23, 23, 60, Scalar::f64, workers);
  data.arrays["x"] = testing::random_vector(random, {"N"}, 23, Scalar::f64);
  data.arrays["X"] = testing::random_vector(random, {"N", "K"}, 69, Scalar::f64);
  data.arrays["Z"] = testing::random_vector(random, {"K", "N"}, 69, Scalar::f64);
  data.arrays["w"] = testing::random_vector(random, {"K"}, 3, Scalar::f64);
  return data;
}

const std::string inputs =
    "dim N, K local\ninput G : f64[N, N], x : f64[N], X : f64[N, K], Z : f64[K, N], w : f64[K]\nparam c = 2.5\n";

Module program(const std::string& text) { return compile_program(inputs + text, "test.ks", {}); }

std::size_t operators_of(const Module& module) {
  std::size_t count = 0;
  for_each_op(module, [&](const Op&, int, int) { ++count; });
  return count;
}

TEST(Prune, KeepsWhatAnOutputIsMadeOf) {
  const Module module = program(
      "a = x\nb = x\nt = 0\ntotal = 0.0\n"
      "while t < 4 {\n  a = a + c\n  b = b * 2\n  t = t + 1\n  total = sum(G @ b)\n}\n"
      "k = 1.0\nfor i in 0..3 { k = k * f64(i + 2)\n  total = total + sum(a) }\n"
      "if total > 0 { a = a * 2\n  k = k + 1 }\n"
      "output a, b, total, k\n");
  const WholeInputs whole = whole_inputs(testing::split(some_data(2)));
  const auto all = interpret(module, whole);
  for (const char* output : {"a", "b", "total", "k"}) {
    const Module pruned = only_outputs(module, {output});
    EXPECT_LT(operators_of(pruned), operators_of(module)) << output;
    const auto made = interpret(pruned, whole);
    ASSERT_EQ(made.size(), 1U);
    testing::expect_same(output, all.at(output).element, words_of(made.at(output)), words_of(all.at(output)), 0);
  }
  EXPECT_EQ(operators_of(only_outputs(module, {"a", "b", "total", "k"})) + 3, operators_of(module));  // X, Z and w
}

TEST(Prune, LeavesNoWorkOfOtherOutputs) {
  const Module module = program("s = sum(G @ x)\ny = x * c\noutput y, s\n");
  for_each_op(only_outputs(module, {"y"}), [](const Op& op, int, int) {
    EXPECT_NE(row(op.code).group, OpGroup::product);
    EXPECT_NE(op.code, OpCode::reduce);
  });
}

// Of each part some of its masters.
std::vector<ChosenMaster> chosen_of(const std::vector<Part>& parts) {
  std::vector<ChosenMaster> chosen;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto masters = static_cast<std::int64_t>(parts[p].dims.at("N").masters.size());
    for (std::int64_t m = masters - 1; m >= 0; m -= 3) chosen.push_back({p, m});
  }
  return chosen;
}

void expect_restricted(const std::string& text) {
  const Module module = only_outputs(program(text + "\noutput y\n"), {"y"});
  const DimId n = module.find_dim("N");
  ASSERT_TRUE(is_restrictable(module, n)) << text;
  for (const int workers : {1, 3}) {
    const std::vector<Part> parts = testing::split(some_data(workers));
    WholeInputs whole = whole_inputs(parts);
    const auto wanted = interpret(module, whole);
    const Array& array = wanted.at("y");
    const std::vector<ChosenMaster> chosen = chosen_of(parts);
    const Restricted few = restricted_to(module, n, parts, chosen);
    const auto made = interpret(few.module, few.inputs);
    const OutputShape shape = shape_of(module, module.type(module.body.ops.back().operands[0]), whole.dims);
    const std::vector<Word> all = words_of(array), some = words_of(made.at("y"));
    ASSERT_EQ(some.size() * 23, all.size() * chosen.size()) << text;
    const auto inner = static_cast<std::size_t>(shape.inner * array.element.planes());
    for (std::size_t o = 0; o < static_cast<std::size_t>(shape.outer); ++o) {
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        const std::int64_t global =
            parts[chosen[k].part].dims.at("N").masters[static_cast<std::size_t>(chosen[k].place)];
        for (std::size_t i = 0; i < inner; ++i)
          EXPECT_EQ(some[(o * chosen.size() + k) * inner + i].i,
                    all[(o * 23 + static_cast<std::size_t>(global)) * inner + i].i)
              << text;
      }
    }
  }
}

TEST(Restrict, ComputesSomeIndicesAlone) {
  for (const char* text : {
           "y = x * c + exp(-x)",
           "y = f64(index(N)) / size(N) + random(7, N)",
           "y = index(N)",
           "y = X @ w + sum(X, over K)",
           "y = X * x + w",
           "y = Z + 1",
           "y = max(Z, over K)",
           "fn turn(p) = [p[1], p[0] + p[1]]\ny = [x, x * 2]\nfor i in 0..3 { y = map(turn, y) }",
           "list s[3] : f64[N] = 0\nfor i in 0..3 { s[i] = x * f64(i) }\nfor i in 0..2 { push(s, s[0] + x) }\ny = s[2]",
           "y = x\nt = 0\nwhile t < 3 { t = t + 1\n  if c > 2 { y = y * 2 } }",
       })
    expect_restricted(text);
}

TEST(Restrict, RefusesWhatBringsIndicesTogether) {
  for (const char* text : {"y = x - sum(x)", "y = G @ x", "y = X + max(X, over N)", "y = x * sum(X' @ x)",
                           "y = x\nd = 1.0\nwhile d > 0.1 { y = y / 2\n  d = max(y) }"}) {
    const Module module = only_outputs(program(std::string(text) + "\noutput y\n"), {"y"});
    EXPECT_FALSE(is_restrictable(module, module.find_dim("N"))) << text;
  }
}

TEST(Interpreter, StopsWhereItsWorkEnds) {
  const Module module = program("t = 0\ny = x\nwhile t < 1000000 { y = y + 1\n  t = t + 1 }\noutput y\n");
  const WholeInputs whole = whole_inputs(testing::split(some_data(1)));
  EXPECT_THROW((void)interpret(module, whole, {.most_work = 5000}), WorkExceeded);
  const Module one = program("y = x + 1\noutput y\n");
  EXPECT_EQ(interpret(one, whole, {.most_work = 5000}).size(), 1U);
  for (const char* text : {"y = G @ x", "y = X' @ x", "y = max(X, over N)", "y = random(7, N)"}) {
    const Module costly = program(std::string(text) + "\noutput y\n");
    EXPECT_THROW((void)interpret(costly, whole, {.most_work = 20}), WorkExceeded) << text;
  }
}

TEST(Interpreter, AddsUpInOtherOrders) {
  const Module module = program("y = sum(x)\nv = sum(G @ x)\nd = sum(X' @ x)\noutput y, v, d\n");
  WholeInputs whole = whole_inputs(testing::split(some_data(1)));
  for (std::int64_t i = 0; i < 23; ++i) whole.arrays.at("x").as<double>()[i] = 1 / (3.0 + static_cast<double>(i));
  const auto forth = interpret(module, whole);
  for (const char* output : {"y", "v", "d"}) {
    std::set<double> sums{forth.at(output).as<double>()[0]};
    for (int order = 1; order <= 8; ++order)
      sums.insert(interpret(module, whole, {.order = order}).at(output).as<double>()[0]);
    EXPECT_GT(sums.size(), 1U) << output;
    EXPECT_LT(*sums.rbegin() - *sums.begin(), 1e-12) << output;
  }
}

TEST(OtherRounding, ChangesLastBitsOfWhatLibrariesCompute) {
  const Module module = program("y = exp(x)\nz = x * 2 + 1\noutput y, z\n");
  const WholeInputs whole = whole_inputs(testing::split(some_data(1)));
  const auto one = interpret(module, whole), other = interpret(with_other_rounding(module, 1), whole);
  const RoundingSlack slack = slack_between(one.at("y"), other.at("y"));
  EXPECT_GT(slack.by_plane.at(0), 0);
  EXPECT_LT(slack.by_plane.at(0), 1e-14 * slack.magnitude.at(0));
  EXPECT_EQ(slack_between(one.at("z"), other.at("z")).by_plane.at(0), 0);
}

class Comparing : public ::testing::Test {
 protected:
  // Of a shared with so many elements, as worker 0 has it.
  static OutputComparison compare(Scalar scalar, const std::vector<Word>& made, const std::vector<Word>& wanted,
                                  const RoundingSlack& slack = {}) {
    const ElementType element = ElementType::of(scalar);
    Output output{"y", {}, {}};
    output.parts.push_back({0, testing::make_array(element, made)});
    const OutputShape shape{.inner = static_cast<std::int64_t>(made.size()), .shared = true};
    return compare_output(output, shape, testing::make_array(element, wanted), 1, {{0, 0, 0, 0}}, slack);
  }
  static std::int64_t differing(Scalar scalar, Word made, Word wanted, const RoundingSlack& slack = {}) {
    return compare(scalar, {made}, {wanted}, slack).differing;
  }
};

TEST_F(Comparing, TakesWholeNumbersExactly) {
  for (const Scalar s : {Scalar::i64, Scalar::i32, Scalar::boolean, Scalar::id}) {
    EXPECT_EQ(differing(s, Word::integer(1), Word::integer(1)), 0);
    EXPECT_EQ(differing(s, Word::integer(1), Word::integer(0)), 1);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(differing(Scalar::i64, Word::integer(5), Word::integer(6), {{0}, {0}}), 1);
  EXPECT_EQ(differing(Scalar::i64, Word::integer(5), Word::integer(6), {{infinity}, {0}}), 0);
}

TEST_F(Comparing, TakesRealsToTheirTolerance) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto differ = [](Scalar s, double made, double wanted, const RoundingSlack& slack = {}) {
    return differing(s, Word::real(made), Word::real(wanted), slack) == 1;
  };
  EXPECT_FALSE(differ(Scalar::f64, 1e-300, 1e-300 * (1 + 1e-10)));
  EXPECT_TRUE(differ(Scalar::f64, 1e-300, 1e-300 * (1 + 1e-8)));
  EXPECT_FALSE(differ(Scalar::f32, 1, 1 + 1e-5));
  EXPECT_TRUE(differ(Scalar::f32, 1, 1 + 1e-3));
  EXPECT_FALSE(differ(Scalar::f64, nan, nan));
  EXPECT_FALSE(differ(Scalar::f64, -infinity, -infinity));
  EXPECT_FALSE(differ(Scalar::f64, -0.0, 0.0));
  EXPECT_TRUE(differ(Scalar::f64, nan, 1));
  EXPECT_TRUE(differ(Scalar::f64, infinity, 1e300));
  EXPECT_TRUE(differ(Scalar::f64, infinity, -infinity));
  EXPECT_TRUE(differ(Scalar::f64, 1e-17, 3e-17));
  EXPECT_FALSE(differ(Scalar::f64, 1e-17, 3e-17, {{2e-18}, {5e-17}}));
  EXPECT_TRUE(differ(Scalar::f64, 1, 3, {{2e-18}, {5e-17}}));
}

TEST_F(Comparing, NamesTheFirstElement) {
  const auto words = [](std::initializer_list<double> numbers) {
    std::vector<Word> all;
    for (const double n : numbers) all.push_back(Word::real(n));
    return all;
  };
  OutputComparison one = compare(Scalar::f64, words({1, 2, 3, 5, 7}), words({1, 2, 4, 5, 8}));
  EXPECT_EQ(one.elements, 5);
  EXPECT_EQ(one.differing, 2);
  EXPECT_EQ(one.first->place, 2);
  EXPECT_EQ(one.first->made.f, 3);
  EXPECT_EQ(one.first->wanted.f, 4);
  one.merge(compare(Scalar::f64, words({1, 2, 3}), words({1, 9, 3})));
  EXPECT_EQ(one.first->place, 1);
  EXPECT_EQ(one.elements, 8);
}

TEST_F(Comparing, KnowsWhatRoundingLeavesNothingOf) {
  const ElementType real = ElementType::of(Scalar::f64), whole = ElementType::of(Scalar::i64);
  EXPECT_FALSE((RoundingSlack{{1e-9}, {1}}.is_coarse(real)));
  EXPECT_TRUE((RoundingSlack{{1e-2}, {1}}.is_coarse(real)));
  EXPECT_FALSE((RoundingSlack{{0}, {0}}.is_coarse(whole)));
  EXPECT_TRUE((RoundingSlack{{std::numeric_limits<double>::infinity()}, {0}}.is_coarse(whole)));
}

}  // namespace
}  // namespace kasen
