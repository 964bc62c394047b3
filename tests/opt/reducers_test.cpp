// Reducers without an identity, whose elements carry a presence mask; integers whose extremes stand for infinities; and
// reductions of ids.
#include <gtest/gtest.h>

#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

const NamedProgram programs[] = {
    {"no_identity", R"(
dim N
input G : null[N, N], H : f64[N, N], x : f64[N]
fn shifted(a, b) = a + b + 3
fn floored(a, b) = max(max(a, b), 0.25)
s = reduce(shifted, x)
y = mxv((a, e) -> a, shifted, G, x)
z = mxvt(*, floored, H, x)
few = mxv((a, e) -> a, shifted, G, if x > 5 then x else -x)
output s, y, z, few, top = reduce(floored, x - 10)
)"},
    {"of_elements", R"(
dim N
input G : null[N, N], x : f64[N]
fn join(a, b) = (a.0 + b.0 - 4, [j in 2: max(a.1[j], b.1[j])], a.2 || b.2)
fn pair(v, e: i64) = (1 + i64(v), [v, -v], v > 3)
p = mxv(pair, join, G, x)
q = reduce(join, map(v -> (i64(v), [v, 2 * v], v > 5), x))
output p, a = q.0, b = q.1[0] + q.1[1], c = q.2
)"},
    {"along_dimensions", R"(
dim N, M, K local = 3
input A : dense f64[N, M], B : f64[N, K], v : f64[M]
fn shifted(a, b) = a + b - 0.5
rows = reduce(shifted, A, over M)
columns = reduce(shifted, A, over N)
inner = reduce(shifted, B, over K)
outer_ = reduce(shifted, B, over N)
output rows, columns, inner, outer_, p = mxvt(*, shifted, A, v)
)"},
    {"stated_identity", R"(
dim N
input G : null[N, N], x : f64[N]
fn shifted(a, b) = a + b - 100
assume identity(shifted, 100)
y = mxv((a, e) -> a, shifted, G, x)
output y, lonely = sum(if y == 100 then 1 else 0), s = reduce(shifted, x)
)"},
    {"infinite_integers", R"(
dim V
input G : i64[V, V], H : i32[V, V]
far = 9223372036854775807
d = map(v -> if i64(v) == 0 then 0 else far, index(V))
e : i32[V] = map(v -> if i64(v) == 0 then 0i32 else 2147483647i32, index(V))
longest = map(v -> if i64(v) == 0 then 1 else -far - 1, index(V))
for i in 0..4 {
  d = min(d, mxv(+, min, G, d))
  e = min(e, mxv(+, min, H, e + 1i32) - 1i32)
  longest = max(longest, mxv((a, w) -> a * (w - 3), max, G, longest))
}
output d, e, longest, n = -d, gap = d - 5, m = min(d), turned = abs(-d)
)"},
    {"ids", R"(
dim N
input G : null[N, N]
label = index(N)
for i in 0..6 {
  label = min(label, min(mxv((a, e: i64) -> a, min, G, label), mxvt((a, e: i64) -> a, min, G, label)))
}
last = max(label)
parent = mxv((a, e: i64) -> a, max, G, label)
output label, last, first = min(label), parent
)"},
};

class Reducers : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(Reducers, RunLikeTheirProgramAndCostWhatIsPredicted) { run_everywhere(compile(GetParam().text), 12, 14); }

INSTANTIATE_TEST_SUITE_P(Programs, Reducers, ::testing::ValuesIn(programs),
                         [](const auto& case_) { return std::string(case_.param.name); });

std::vector<Word> output_of(const std::string& text, const WholeInputs& inputs, const std::string& name) {
  const Module program = compile(text);
  TrialLawChecker laws;
  require_valid(program, laws);
  return testing::words_of(interpret(program, inputs).at(name));
}

WholeInputs three_vertices() {  // 0 -> 1 -> 1, nothing to 0 and 2
  WholeInputs inputs;
  inputs.dims["N"] = 3;
  inputs.matrices["G"].rows = {0, 1};
  inputs.matrices["G"].cols = {1, 1};
  return inputs;
}

TEST(WhereNothingIsReduced, StandsTheDefaultOfTheType) {
  const std::string head = "dim N\ninput G : null[N, N]\nfn f(a, b) = a + b + 3\n";
  const auto reals = output_of(head + "output y = mxv((a, e) -> a, f, G, fill(1.0, N))", three_vertices(), "y");
  EXPECT_TRUE(std::isnan(reals[0].f) && std::isnan(reals[2].f));
  EXPECT_EQ(reals[1].f, 5.0);
  const auto wholes = output_of(head + "output y = mxv((a, e) -> a, f, G, fill(1, N))", three_vertices(), "y");
  EXPECT_EQ(wholes[0].i, 0);
  EXPECT_EQ(wholes[1].i, 5);
  const auto stated = output_of(head + "assume identity(f, -3)\noutput y = mxv((a, e) -> a, f, G, fill(1.0, N))",
                                three_vertices(), "y");
  EXPECT_EQ(stated[0].f, -3.0);
  EXPECT_EQ(stated[1].f, 5.0);
}

TEST(WhereNothingIsReduced, NoIdStands) {
  const std::string head = "dim N\ninput G : null[N, N]\n";
  const auto least = output_of(head + "output y = mxv((a, e: i64) -> a, min, G, index(N))", three_vertices(), "y");
  EXPECT_EQ(least[0].i, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(least[1].i, 0);
  const auto most = output_of(head + "output y = mxv((a, e: i64) -> a, max, G, index(N))", three_vertices(), "y");
  EXPECT_EQ(most[2].i, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(most[1].i, 1);
}

TEST(Assumptions, OfIdentitiesAreChecked) {
  const auto fault = [](const std::string& line) {
    try {
      (void)compile("dim N\ninput x : f64[N]\nfn f(a, b) = a + b\n" + line + "\noutput s = reduce(f, x)");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no fault");
  };
  EXPECT_NE(fault("assume identity(f, 1)").find("test.ks:4:20: error: this is not the identity of 'f'"),
            std::string::npos)
      << fault("assume identity(f, 1)");
  EXPECT_EQ(fault("assume identity(f, 0)"), "no fault");
  EXPECT_NE(fault("assume identity(f)").find("write identity(f, 0)"), std::string::npos);
  EXPECT_NE(fault("assume identity(add, 0)").find("functions of the program"), std::string::npos);
}

TEST(NoReducers, AreRefusedAsTheyStand) {
  const Module module = compile("dim N\ninput x : f64[N]\nfn f(a, b) = a - b\noutput s = reduce(f, x)");
  TrialLawChecker laws;
  const std::vector<Diagnostic> faults = verify_module(module, laws);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_NE(faults[0].what.find("'f' cannot reduce"), std::string::npos);
}

}  // namespace
}  // namespace kasen
