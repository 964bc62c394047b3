// The lowering of programs to level 1 IR: what a user writes, and which operators come out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/layout.h"
#include "libcore/lang/lang.h"
#include "libcore/run/executor.h"
#include "tests/support/module_shape.h"

namespace kasen {
namespace {

Module compile(const std::string& text, const std::map<std::string, std::string>& defines = {}) {
  return compile_program(text, "test.ks", defines);
}

std::vector<std::string> op_names(const Module& module) {
  std::vector<std::string> names;
  for_each_op(module, [&](const Op& op, int, int) { names.emplace_back(row(op.code).name); });
  return names;
}

const std::string declarations = R"(
dim N
input G : null[N, N]
param r = 0.85, theta = 1e-6
)";

const std::string algorithm_1 = declarations + R"(
fn F1(x, y) = x / y
fn F2(x, r) = (1 - r) + r * x
fn F3(x, y) = abs(x - y)
fn F4(x) = x
pr : f64[N] = 1
not_converged = true
degree = MxVT(*, +, G, pr)
while not_converged likely {
  tmp1 = ZipWith(F1, pr, degree)
  tmp2 = MxV(*, +, G, tmp1)
  new_pr = Map(F2, tmp2, r)
  diff = Reduce(+, ZipWith(F3, pr, new_pr))
  pr = Map(F4, new_pr)
  not_converged = (diff > theta)
}
output pr
)";

const std::string whole_arrays = declarations + R"(
pr = fill(1.0, N)
not_converged = true
degree = G @ pr
while not_converged likely {
  new_pr = (1 - r) + r * (G' @ (pr / degree))
  diff = sum(abs(pr - new_pr))
  pr = new_pr
  not_converged = diff > theta
}
output pr
)";

TEST(Lowering, PrimitivesAndArithmeticAreTheSameProgram) {
  EXPECT_EQ(shape(compile(algorithm_1)), shape(compile(whole_arrays)));
}

TEST(Lowering, PageRankIsOneOperatorALine) {
  const std::vector<std::string> expected{"input", "param", "param", "fill",   "literal", "mxvt",  "while", "map",
                                          "mxv",   "map",   "map",   "reduce", "map",     "apply", "yield", "output"};
  EXPECT_EQ(op_names(compile(algorithm_1)), expected);
}

TEST(Lowering, PrintsAndReadsBack) {
  const std::string text = print_module(compile(algorithm_1));
  EXPECT_EQ(print_module(parse_module(text, "test.kir")), text);
}

const std::string small = "dim N, F local\ninput x : f64[N], y : f64[N], k : i64[N]\nparam a = 2.0, b = 3.0\n";

// Two spellings of one computation.
class SpellingTest : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(SpellingTest, IsTheSameIr) {
  const auto& [one, other] = GetParam();
  const std::string end = "\noutput z\n";
  EXPECT_EQ(shape(compile(small + one + end)), shape(compile(small + other + end)));
}

using Spelling = std::pair<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(
    Pairs, SpellingTest,
    ::testing::Values(
        Spelling{"z = a * x + y", "fn axpy(x, y, a) = a * x + y\nz = zipwith(axpy, x, y, a)"},
        Spelling{"z = a * x + y", "z = map((v, w, s) -> s * v + w, x, y, a)"},
        Spelling{"z = a * x + y", "z = map(x -> a * x + y, x)"}, Spelling{"z = x / k", "z = ZipWith(/, x, k)"},
        Spelling{"z = min(x, y)", "z = map(min, x, y)"}, Spelling{"z = sum(x * y)", "z = x @ y"},
        Spelling{"z = dot(x, y)", "z = Reduce(+, ZipWith(*, x, y))"},
        Spelling{"z = any(x < y)", "z = reduce(||, x < y)"}, Spelling{"z : f64[N] = 1", "z = fill(1.0, N)"},
        Spelling{"z = a * b + a", "z = map((v, w) -> v * w + v, a, b)"}, Spelling{"z = x", "z = map(v -> v, x)"},
        Spelling{"z = x ^ 2", "z = x * x"}, Spelling{"z = x * (1 / 4)", "z = x * 0.25"},
        Spelling{"fn f(v) { w = v * v; w + 1 }\nz = f(x)", "z = x * x + 1"},
        Spelling{"z = a\nfor i in 0..3 unroll { z = z * b }", "z = a\nz = z * b\nz = z * b\nz = z * b"}),
    [](const ::testing::TestParamInfo<Spelling>& spelling) { return fmt::format("pair{}", spelling.index); });

const Op& op_of(const Module& module, OpCode code) {
  const auto it =
      std::find_if(module.body.ops.begin(), module.body.ops.end(), [&](const Op& op) { return op.code == code; });
  if (it == module.body.ops.end()) throw InternalError("no such operator");
  return *it;
}

std::vector<std::string> operand_names(const Module& module, const Op& op) {
  std::vector<std::string> names;
  for (const ValueId v : op.operands) names.push_back(module.value(v).name);
  return names;
}

TEST(Lowering, AnExpressionIsOneMapOverArraysThenShareds) {
  const Module module = compile(small + "z = (1 - a) + b * abs(x - y) / (a + x)\noutput z\n");
  const Op& map = op_of(module, OpCode::map);
  EXPECT_EQ(operand_names(module, map), (std::vector<std::string>{"x", "y", "a", "b"}));
  EXPECT_EQ(std::count_if(module.body.ops.begin(), module.body.ops.end(),
                          [](const Op& op) { return op.code == OpCode::map; }),
            1);
  EXPECT_EQ(map.where.line, 4);
  EXPECT_EQ(map.where.column, 13);
  EXPECT_EQ(module.fn(map.fns[0]).params[2].name, "a");
}

TEST(Lowering, SharedsTakeOneApply) {
  const Module module = compile(small + "s = (a + b) * (a - b)\nt = s\noutput t\n");
  EXPECT_EQ(op_names(module),
            (std::vector<std::string>{"input", "input", "input", "param", "param", "apply", "output"}));
}

TEST(Lowering, FunctionsKeepTheUsersNames) {
  const Module module = compile(small + "fn damp(v, r) = (1 - r) + r * v\nz = map(damp, x, a)\noutput z\n");
  const ScalarFunction& fn = module.fn(op_of(module, OpCode::map).fns[0]);
  EXPECT_EQ(fn.name, "damp");
  EXPECT_EQ(fn.params[0].name, "v");
  EXPECT_EQ(fn.params[1].name, "r");
}

TEST(Lowering, LoopsCarryWhatTheyAssign) {
  const Module module = compile(small + R"(u = x
c = 0
v = y
while sum(u) > a likely expect 12 {
  t = u + v
  c = c + 1
  if c > 3 { u = t } else { c = c + 2 }
}
for i in reversed(0..5) { v = v * f64(i) }
output u, v, c
)");
  const Op& loop = op_of(module, OpCode::while_loop);
  ASSERT_EQ(loop.operands.size(), 3U);  // c, u and the test
  EXPECT_EQ(loop.test, 2);
  EXPECT_TRUE(loop.likely);
  EXPECT_EQ(loop.expect, 12);
  EXPECT_EQ(operand_names(module, loop)[0], "c");
  EXPECT_EQ(loop.blocks[0].args.size(), 3U);
  EXPECT_EQ(loop.blocks[0].ops.back().operands.size(), 3U);
  const Op& down = op_of(module, OpCode::for_loop);
  EXPECT_TRUE(down.down);
  EXPECT_EQ(down.operands.size(), 3U);
  EXPECT_EQ(module.body.ops.back().code, OpCode::output);
}

TEST(Lowering, ACarriedConditionIsNotCarriedTwice) {
  const Module module = compile(small + "u = x\ngo = true\nwhile go { u = u * a\n go = sum(u) < b }\noutput u\n");
  const Op& loop = op_of(module, OpCode::while_loop);
  EXPECT_EQ(loop.operands.size(), 2U);
  EXPECT_EQ(loop.test, 1);
}

TEST(Lowering, MatricesAreSparseOverTwoDistributedDimensions) {
  const Module module = compile(R"(dim N, M, F local, K local = 4
input A : f64[N, M], B : f64[N, F], C : dense f64[N, F], D : sparse f64[N, M], P : [f64; 3][N], T : (i64, [f32; 2])[N]
w : f64[F] = 1
output w, z = B @ w
)");
  const auto type = [&](const std::string& name) {
    const auto it =
        std::find_if(module.values.begin(), module.values.end(), [&](const Value& v) { return v.name == name; });
    return it->type;
  };
  EXPECT_TRUE(type("A").sparse);
  EXPECT_FALSE(type("B").sparse);
  EXPECT_FALSE(type("C").sparse);
  EXPECT_TRUE(type("D").sparse);
  EXPECT_EQ(type("P").element, ElementType::array(Scalar::f64, 3));
  EXPECT_EQ(type("T").element.components.size(), 2U);
  EXPECT_EQ(module.dim(DimId(3)).size, 4);
  EXPECT_TRUE(module.dim(DimId(3)).local);
  EXPECT_TRUE(Layout(module, type("w")).is_shared());
}

TEST(Lowering, AssumptionsNameTheFunctionsThatAreUsed) {
  const Module module = compile(small + R"(
fn odd(v, w) = exp(v) * w
fn join(v, w) = v + w
z = map(odd, x, y)
s = reduce(join, z)
assume associative(join), commutative(join), exchange(odd, +), distributive(odd, +, 1)
output z, s
)");
  ASSERT_EQ(module.assumptions.size(), 4U);
  EXPECT_EQ(module.assumptions[0].kind, LawKind::associative);
  EXPECT_EQ(module.fn(module.assumptions[0].fn).name, "join");
  EXPECT_EQ(module.fn(module.assumptions[2].fn).name, "odd");
  EXPECT_EQ(module.assumptions[3].operand, 1);
  EXPECT_EQ(module.assumptions[3].reducer, op_of(module, OpCode::reduce).fns[0]);  // join is add
  EXPECT_EQ(module.assumptions[3].basis, "assumed");
}

TEST(Lowering, AReducerMayBeAppliedToOneArrayTwice) {
  const Module module = compile(small + R"(
fn join(a: f64, b: f64) = a + b
s = reduce(join, x)
t = join(x, x)
assume associative(join)
output s, t
)");
  ASSERT_EQ(module.assumptions.size(), 1U);
  EXPECT_EQ(module.fn(module.assumptions[0].fn).params.size(), 2U);
}

TEST(Lowering, RangesOfInputsAndParams) {
  const Module module = compile(small + R"(
const most = 2
param p = 0.5, q = 3
assume x > 0, 0 <= p && p < most, q != 0, most * 2 >= q
output z = x * p * f64(q)
)");
  ASSERT_EQ(module.ranges.size(), 3U);
  EXPECT_EQ(module.ranges[0], (RangeAssumption{"x", {0, std::numeric_limits<double>::infinity(), true}}));
  EXPECT_EQ(module.ranges[1], (RangeAssumption{"p", {0, 2, false, true}}));
  EXPECT_EQ(interval_text(module.ranges[2].range), " <= 4.0 != 0.0");
}

TEST(Lowering, RangesOfComponentsAndCoordinates) {
  const Module module = compile(R"(
dim N
input t : (f64, [i64; 2], f64)[N], p : [f64; 3][N]
assume t.0 > 0, t.1[1] >= 2, t.2 < 1, p[2] != 0, p > 0
output z = map((t, p) -> t.0 + f64(t.1[0]) + t.2 + p[0], t, p)
)");
  std::vector<std::string> reported;
  for (const RangeAssumption& r : module.ranges)
    reported.push_back(r.name + std::to_string(r.place) + interval_text(r.range));
  EXPECT_EQ(reported, (std::vector<std::string>{"t0 > 0.0", "t2 >= 2.0", "t3 < 1.0", "p2 != 0.0", "p-1 > 0.0"}));
  EXPECT_EQ(print_module(parse_module(print_module(module), "ranges.kir")), print_module(module));
}

TEST(Lowering, DefinesFixConstsAndDefaults) {
  const Module module = compile("const k = 3\nparam p : f32 = 1\noutput z = p * k\n", {{"k", "4"}, {"p", "-0.5"}});
  ASSERT_EQ(module.constants.size(), 1U);
  EXPECT_EQ(module.constants[0].value.i, 4);
  EXPECT_EQ(op_of(module, OpCode::param).literal[0].f, -0.5);
  EXPECT_EQ(module.type(op_of(module, OpCode::param).results[0]).element, ElementType::of(Scalar::f32));
}

TEST(Lowering, DefinesKeepTheType) {
  const Module module =
      compile("param theta = 1e-6, n = 3\nz = theta * f64(n)\noutput z\n", {{"theta", "1"}, {"n", "7"}});
  EXPECT_EQ(op_of(module, OpCode::param).literal[0].f, 1.0);
  for (const char* bad : {"2.5", "true", "n", "[1]", "(1, 2)", "9999999999999999999"}) {
    try {
      (void)compile("param n = 3\noutput n\n", {{"n", bad}});
      ADD_FAILURE() << bad;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::usage) << error.what();
    }
  }
}

// Literals inside tuples and small arrays take the type that is declared, as single ones do.
TEST(Lowering, LiteralsInsideElementsTakeTheDeclaredType) {
  const Module module = compile(R"(
param p : (f32, i32) = (1, 2)
param q : ([f32; 2], bool, f64) = ([0.5, 1], true, 3)
z : [f64; 2] = [1, 2]
list s[2] : (i32, f32) = (0, 0.5)
s[1] = (7, 1)
push(s, (8, 2))
output z, a = p.0 + q.0[1], b = p.1, c = s[0].1
)",
                                {{"p", "(3, 4)"}});
  std::vector<const Op*> params;
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::param) params.push_back(&op);
  }
  ASSERT_EQ(params.size(), 2U);
  EXPECT_EQ(print_type(module, module.type(params[0]->results[0])), "(f32, i32) @?");
  EXPECT_EQ(params[0]->literal[0].f, 3.0);
  EXPECT_EQ(params[0]->literal[1].i, 4);
  EXPECT_EQ(print_type(module, module.type(params[1]->results[0])), "([f32; 2], bool, f64) @?");
  EXPECT_EQ(params[1]->literal[3].f, 3.0);
  for (const char* bad : {"param p : (f32, i32) = (1, 2.5)", "param p : (f32, i32) = (1, 2, 3)",
                          "param p : (f32, i32) = (1, 2i64)", "param p : [f32; 2] = [1, 2, 3]"}) {
    EXPECT_THROW((void)compile(std::string(bad) + "\noutput p\n"), UserError) << bad;
  }
}

TEST(Lowering, CarriesTheSource) {
  const Module module = compile(small + "output x\n");
  EXPECT_EQ(module.source_name, "test.ks");
  EXPECT_EQ(module.name, "test");
  ASSERT_EQ(module.source.size(), 4U);
  EXPECT_EQ(module.source[0], "dim N, F local");
}

}  // namespace
}  // namespace kasen
