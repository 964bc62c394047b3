// The plain interpreter on programs whose results are known by hand, and the reduction order of its kernels.
#include "libcore/reference/interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/data.h"

namespace kasen {
namespace {

Module parse(const std::string& body) {
  return parse_module("kir 1 level 1\nmodule test {\n  dim N\n  dim K local = 2\n" + body + "}\n##end\n", "test.kir");
}

std::vector<Word> reals(const std::vector<double>& list) {
  std::vector<Word> words;
  for (const double v : list) words.push_back(Word::real(v));
  return words;
}

std::vector<double> run_reals(const Module& module, const WholeInputs& inputs, const std::string& output) {
  std::vector<double> list;
  for (const Word w : testing::words_of(interpret(module, inputs).at(output))) list.push_back(w.f);
  return list;
}

// 0 -> 1, 0 -> 2, 1 -> 2, with weights 1, 4, 2.
WholeInputs triangle() {
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.matrices["G"] = {{0, 0, 1}, {1, 2, 2}, testing::make_array(ElementType::of(Scalar::f64), reals({1, 4, 2}))};
  inputs.arrays.emplace("x", testing::make_array(ElementType::of(Scalar::f64), reals({1, 2, 3})));
  inputs.arrays.emplace("m", testing::make_array(ElementType::of(Scalar::f64), reals({1, 2, 3, 4, 5, 6})));
  return inputs;
}

const char* const arithmetic = R"(  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn least(x: f64, y: f64) -> f64 = min(x, y)
  fn below(x: i64, y: i64) -> bool = x < y
  fn inc(x: i64) -> i64 = x + 1
)";

TEST(Interpreter, ProductsReadRowsAndColumns) {
  const Module module = parse(arithmetic + std::string(R"(  %G = input "G" : f64[N,N] sparse @?
  %x = input "x" : f64[N] @?
  %m = input "m" : f64[N,K] @?
  %a = mxv[mul, add] %x, %G : f64[N] @?
  %b = mxvt[mul, add] %x, %G : f64[N] @?
  %c = mxv[add, least] %x, %G : f64[N] @?
  %d = mxv[mul, add] %x, %m : f64[K] @?
  %e = mxvt[mul, add] %d, %m : f64[N] @?
  output "a" %a
  output "b" %b
  output "c" %c
  output "d" %d
  output "e" %e
)"));
  const WholeInputs inputs = triangle();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run_reals(module, inputs, "a"), (std::vector<double>{0, 1, 8}));   // x0*1; x0*4 + x1*2
  EXPECT_EQ(run_reals(module, inputs, "b"), (std::vector<double>{14, 6, 0}));  // 1*x1 + 4*x2; 2*x2
  EXPECT_EQ(run_reals(module, inputs, "c"), (std::vector<double>{inf, 2, 4}));
  EXPECT_EQ(run_reals(module, inputs, "d"), (std::vector<double>{22, 28}));
  EXPECT_EQ(run_reals(module, inputs, "e"), (std::vector<double>{78, 178, 278}));
}

TEST(Interpreter, BroadcastsAndReducesOverDimensions) {
  const Module module = parse(arithmetic + std::string(R"(  %x = input "x" : f64[N] @?
  %m = input "m" : f64[N,K] @?
  %p = map[mul] %m, %x : f64[N,K] @?
  %r = reduce[add; over K] %p : f64[N] @?
  %c = reduce[add; over N] %p : f64[K] @?
  %t = reduce[least] %p : f64 @?
  output "p" %p
  output "r" %r
  output "c" %c
  output "t" %t
)"));
  const WholeInputs inputs = triangle();
  EXPECT_EQ(run_reals(module, inputs, "p"), (std::vector<double>{1, 2, 6, 8, 15, 18}));
  EXPECT_EQ(run_reals(module, inputs, "r"), (std::vector<double>{3, 14, 33}));
  EXPECT_EQ(run_reals(module, inputs, "c"), (std::vector<double>{22, 28}));
  EXPECT_EQ(run_reals(module, inputs, "t"), (std::vector<double>{1}));
}

TEST(Interpreter, LoopsListsAndBranches) {
  const Module module = parse(arithmetic + std::string(R"(  %zero = literal 0 : i64 @?
  %one = literal 1 : i64 @?
  %three = literal 3 : i64 @?
  %v = literal 10.0 : f64 @?
  %l0 = list %v : list<2> f64 @?
  %l, %s = for %i : i64 @? in %zero, %three down (%l1 : list<2> f64 @? = %l0, %s0 : f64 @? = %v) : list<2> f64 @?, f64 @? {
    %old = get %l1, %zero : f64 @?
    %new = apply[add] %old, %s0 : f64 @?
    %l2 = push %l1, %new : list<2> f64 @?
    %low = apply[below] %i, %one : bool @?
    %t = if %low : f64 @? {
      yield %s0
    } else {
      yield %new
    }
    yield %l2, %t
  }
  %put = put %l, %zero, %s : list<2> f64 @?
  %a = get %put, %zero : f64 @?
  %b = get %put, %one : f64 @?
  %c = get %l, %zero : f64 @?
  output "a" %a
  output "b" %b
  output "c" %c
)"));
  // i = 2: new 20, list (10, 20), s 20; i = 1: new 30, list (20, 30), s 30; i = 0: new 50, list (30, 50), s 30.
  WholeInputs none;
  EXPECT_EQ(run_reals(module, none, "a"), std::vector<double>{30});
  EXPECT_EQ(run_reals(module, none, "b"), std::vector<double>{50});
  EXPECT_EQ(run_reals(module, none, "c"), std::vector<double>{30});
}

TEST(Interpreter, EmptyArraysReduceToTheIdentity) {
  const Module module = parse(arithmetic + std::string(R"(  %x = input "x" : f64[N] @?
  %s = reduce[add] %x : f64 @?
  %t = reduce[least] %x : f64 @?
  %n = size[N] : i64 @?
  output "s" %s
  output "t" %t
  output "n" %n
)"));
  WholeInputs inputs;
  inputs.dims["N"] = 0;
  inputs.arrays.emplace("x", Array(ElementType::of(Scalar::f64), 0));
  EXPECT_EQ(run_reals(module, inputs, "s"), std::vector<double>{0});
  EXPECT_EQ(run_reals(module, inputs, "t"), std::vector<double>{std::numeric_limits<double>::infinity()});
  EXPECT_EQ(testing::words_of(interpret(module, inputs).at("n"))[0].i, 0);
}

TEST(Interpreter, RefusesMissingInputsAndPlacesOutsideALList) {
  const Module module = parse(arithmetic + std::string(R"(  %x = input "y" : f64[N] @?
  output "x" %x
)"));
  EXPECT_THROW((void)interpret(module, triangle()), UserError);
  const Module outside = parse(R"(  %two = literal 2 : i64 @?
  %l = list %two : list<2> i64 @?
  %v = get %l, %two : i64 @?
  output "v" %v
)");
  EXPECT_THROW((void)interpret(outside, {}), UserError);
}

TEST(Interpreter, PartsBecomeWholeAgain) {
  std::mt19937_64 random(3);
  testing::TestData data;
  data.workers = 3;
  data.dims["N"] = {17, false, testing::random_owners(random, 17, 3)};
  data.dims["K"] = {2, true, {}};
  data.matrices["H"] = testing::random_matrix(random, "N", "N", 17, 17, 60, Scalar::f64, 3);
  data.arrays["m"] = testing::random_vector(random, {"N", "K"}, 34, Scalar::i32);
  const WholeInputs whole = whole_inputs(testing::split(data));
  EXPECT_EQ(whole.dims.at("N"), 17);
  testing::expect_same("m", ElementType::of(Scalar::i32), testing::words_of(whole.arrays.at("m")),
                       data.arrays.at("m").words, 0);
  const WholeMatrix& h = whole.matrices.at("H");
  std::map<std::pair<std::int64_t, std::int64_t>, double> made, given;
  for (size_t e = 0; e < h.rows.size(); ++e) {
    made[{h.rows[e], h.cols[e]}] = h.values.as<double>()[e];
  }
  const testing::TestMatrix& wanted = data.matrices.at("H");
  for (size_t e = 0; e < wanted.entries.size(); ++e) given[wanted.entries[e]] = wanted.values[e].f;
  EXPECT_EQ(made, given);
}

// ---- the kernels' order of reduction, written down once more

double lanes_sum(const std::vector<double>& v) {
  double total = 0;
  for (size_t begin = 0; begin < v.size(); begin += 4096) {
    double lane[8] = {};
    for (size_t i = begin; i < std::min(v.size(), begin + 4096); ++i) lane[(i - begin) % 8] += v[i];
    for (int l = 0; l < 4; ++l) lane[l] += lane[l + 4];
    for (int l = 0; l < 2; ++l) lane[l] += lane[l + 2];
    total += lane[0] + lane[1];
  }
  return total;
}

double row_sum(const std::vector<double>& v) {
  double total = 0;
  for (size_t begin = 0; begin < v.size(); begin += 4096) {
    double segment = 0;
    for (size_t i = begin; i < std::min(v.size(), begin + 4096); ++i) segment += v[i];
    total += segment;
  }
  return total;
}

TEST(InterpreterKernels, ReduceInBlocksAndLanes) {
  const Module module = parse(arithmetic + std::string(R"(  %x = input "x" : f64[N] @?
  %s = reduce[add] %x : f64 @?
  output "s" %s
)"));
  const auto kernels = make_interpreter_kernels();
  kernels->prepare(module);
  std::mt19937_64 random(5);
  for (const std::int64_t n : {0, 1, 7, 8, 9, 4095, 4096, 4097, 10000}) {
    std::vector<double> v;
    for (std::int64_t i = 0; i < n; ++i) v.push_back(std::ldexp(static_cast<double>(random() % 1000003), -7));
    Array x = testing::make_array(ElementType::of(Scalar::f64), reals(v));
    Array s(ElementType::of(Scalar::f64), 1);
    const View in{x.bytes.data(), n}, out{s.bytes.data(), 1};
    const Op& op = module.body.ops[1];
    // In one call and in two that meet at a block's edge.
    for (const std::int64_t middle : {std::int64_t{0}, std::min<std::int64_t>(n, 4096)}) {
      s.as<double>()[0] = 0;
      kernels->elementwise({&op, {&in, 1}, {&out, 1}, {0, middle}, 1, false});
      kernels->elementwise({&op, {&in, 1}, {&out, 1}, {middle, n}, 1, false});
      EXPECT_EQ(s.as<double>()[0], lanes_sum(v)) << n;
    }
  }
  EXPECT_EQ(kernels->accesses().written_bytes, 0);
}

TEST(InterpreterKernels, RowsOfAProductInSegments) {
  const Module module = parse(arithmetic + std::string(R"(  %G = input "G" : null[N,N] sparse @?
  %x = input "x" : f64[N] @?
  %y = mxv[mul, add] %x, %G : f64[N] @?
  output "y" %y
)"));
  const auto kernels = make_interpreter_kernels();
  kernels->prepare(module);
  std::mt19937_64 random(6);
  const std::int64_t n = 9000;
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(std::ldexp(static_cast<double>(random() % 1000003), -9));
  LocalMatrix m;  // output 0 meets nobody, output 1 everybody
  m.outputs = 2;
  m.inputs = n;
  m.pointers.own() = {0, 0, n};
  for (std::int32_t i = 0; i < n; ++i) m.indices.own().push_back(i);
  m.element = ElementType::of(Scalar::null);
  Array x = testing::make_array(ElementType::of(Scalar::f64), reals(v)), y(ElementType::of(Scalar::f64), 2);
  const View in[2] = {{x.bytes.data(), n}, {}};
  const View out{y.bytes.data(), 2};
  y.as<double>()[0] = 5;
  kernels->product({&module.body.ops[2], &m, in, {&out, 1}, {0, 2}});
  EXPECT_EQ(y.as<double>()[0], 0);
  EXPECT_EQ(y.as<double>()[1], row_sum(v));
  EXPECT_EQ(kernels->accesses().read_bytes, 2 * 8 + n * 12);
  EXPECT_EQ(kernels->accesses().written_bytes, 16);
}

}  // namespace
}  // namespace kasen
