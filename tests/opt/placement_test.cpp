// Values that lazy placement leaves pre-reduced, wherever an operator may meet them: every plan computes what the
// program says, over 1 to 5 workers.
#include <gtest/gtest.h>

#include "tests/opt/plan_fault.h"

namespace kasen {
namespace {

const std::string placement_inputs =
    "dim N, M, K local = 3, J local = 2\n"
    "input G : null[N, N], H : f64[N, N], R : f64[N, M], D : dense f64[N, M], Q : dense f64[N, N]\n"
    "input X : f64[N, K], Z : f64[N, J], Y : f64[M, K], x : f64[N], y : f64[M], k : f64[K]\n"
    "param r = 0.85\n"
    "fn second(a, b) = 3 - 2 * b\n"
    "fn nothing(a, b, c) = a + b\n";

struct Case {
  const char* name;
  const char* text;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class PlacementRuns : public ::testing::TestWithParam<Case> {};

TEST_P(PlacementRuns, EveryPlanComputesWhatTheProgramSays) {
  for (const std::int64_t size : {1, 9}) {
    const testing::RandomRun run{.seed = 3, .size = size, .entries = 30, .tolerance = 1e-9, .automatic = true};
    const auto fault = testing::plan_fault(compile(placement_inputs + GetParam().text), run);
    EXPECT_FALSE(fault) << *fault;
  }
}

// A sum over [N] meets arrays with more dimensions, in whose place both halves of a split have their own.
INSTANTIATE_TEST_SUITE_P(
    Broadcasts, PlacementRuns,
    ::testing::Values(
        Case{"Minus", "output o = X - G' @ x\n"}, Case{"MinusFromTheRight", "output o = G' @ x - X\n"},
        Case{"Plus", "output o = X + G' @ x\n"}, Case{"PlusThenProduct", "output o = H' @ (X + G' @ x)\n"},
        Case{"Damped", "output o = (1 - r) * X + r * (G' @ x)\n"}, Case{"Scaled", "output o = X * k * (G' @ x)\n"},
        Case{"ScaledAndShifted", "output o = X * k - r * (G' @ x) - 1\n"}, Case{"Whole", "output o = D - R @ y\n"},
        Case{"WholeOfAnother", "output o = D - R' @ x\n"}, Case{"Square", "output o = Q - G' @ x\n"},
        Case{"Columns", "output o = G' @ X - x\n"}, Case{"ColumnsAndColumns", "output o = (2 - 3 * (G' @ X)) * X\n"},
        Case{"Minimum", "output o = min(X, mxv(+, min, H, x)) - 2\n"},
        Case{"NotRead", "output o = map(second, X, G' @ x)\n"},
        Case{"NotReadBeside", "output o = map(nothing, G' @ x, x, X)\n"}),
    ::testing::PrintToStringParamName());

// Whatever reads values finds them gathered.
INSTANTIATE_TEST_SUITE_P(
    Readers, PlacementRuns,
    ::testing::Values(
        Case{"MatrixAndVector", "S = G' @ X\noutput o = S' @ S\n"},
        Case{"Matrix", "S = G' @ X\noutput o = S @ k, p = S' @ x\n"},
        Case{"Vector", "s = G' @ x\noutput o = X' @ s, p = D' @ s\n"},
        Case{"OtherMatrix", "S = G' @ X\nT = H' @ Z\noutput o = S' @ T\n"},
        Case{"CutMatrix", "S = D - G' @ x\noutput o = S' @ x, p = S @ y\n"},
        Case{"MatrixMadeWhole", "S = D' @ X\noutput o = S' @ S, p = R @ S\n"},
        Case{"Views", "S = G' @ X\noutput o = at(S, 1) + range(S, J, 1) * Z, p = S'\n"},
        Case{"Entries", "s = G' @ x\nS = H' @ X\noutput o = (H * (S @ X'))' @ s, p = sum(R * (S @ Y'))\n"},
        Case{"List", "list l[2] : f64[N] = 0\npush(l, G' @ x)\nl[0] = x - G' @ x\noutput o = l[0] + l[1]\n"},
        Case{"Sums", "S = X - G' @ x\noutput o = sum(S), p = sum(S, over N), q = sum(S, over K)\n"},
        Case{"Maxima", "S = X - G' @ x\noutput o = max(S), p = max(S, over N), q = max(S, over K)\n"}),
    ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    Carried, PlacementRuns,
    ::testing::Values(
        Case{"Loop",
             "S = X\ns = x\nfor i in 0..3 { S = tanh(S - G' @ s)\n s = 0.5 * (G' @ s) + 1 }\noutput o = S, p = s\n"},
        Case{"LoopOfProducts",
             "S = X\nfor i in 0..2 { S = tanh(H' @ S)\n T = G' @ S\n S = S + T @ (T' @ S) * 0.001 }\n"
             "output o = S\n"},
        Case{"Branch", "S = X\nif r > 0.5 { S = X - G' @ x } else { S = G' @ X }\noutput o = S, p = S' @ S\n"},
        Case{"LikelyBranch",
             "S = X\ns = x\nwhile sum(s) > 0 likely {\n  if r < 0.5 likely { S = S - G' @ s }\n"
             "  s = 0 * (G' @ s)\n}\noutput o = S, p = s\n"}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace kasen
