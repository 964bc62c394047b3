// What fusion must leave of the other programs: L-BFGS, K-means, Black-Scholes, HITS.
#include <gtest/gtest.h>

#include "libcore/ir/layout.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

// m pairs of history: 2 H + (6 m + 2) W read and H + (2 m + 2) W written, of 8 bytes each, beside the two products; 2 m
// + 2 shared reductions; hybrid and eager move 2 S(H) + 2 S(W) elements, lazy a pair over W more.
class Lbfgs : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Histories, Lbfgs, ::testing::Values(2, 3, 5, 10));

TEST_P(Lbfgs, FusedTrafficIsTheOracles) {
  const int m = GetParam();
  const Module module = plan(example("lbfgs.ks", {{"m", std::to_string(m)}}), Strategy::greedy, SyncMode::hybrid);
  const IterationFigures iteration = per_iteration(module);
  EXPECT_EQ(iteration.read, "16 H + " + std::to_string(8 * (6 * m + 2)) + " W + 64 nnz");
  EXPECT_EQ(iteration.written, "8 H + " + std::to_string(8 * (2 * m + 2)) + " W + 16 nnz");
  const std::string shareds = std::to_string(16 * (2 * m + 2));
  EXPECT_EQ(iteration.network, "16 S(H) + 16 S(W) + " + shareds + " P - " + shareds);
}

TEST(LbfgsPlan, LazyMovesOnePairMore) {
  const Module program = example("lbfgs.ks");
  EXPECT_EQ(per_iteration(plan(program, Strategy::none, SyncMode::lazy)).network, "16 S(H) + 32 S(W) + 352 P - 352");
  EXPECT_EQ(per_iteration(plan(program, Strategy::none, SyncMode::hybrid)).network, "16 S(H) + 16 S(W) + 352 P - 352");
}

// (10 m + 13) W and (4 m + 6) W with the dots of rho and gamma, and three copies of a vector.
TEST(LbfgsPlan, UnfusedTrafficIsTheOraclesAndThreeCopies) {
  const IterationFigures iteration = per_iteration(plan(example("lbfgs.ks"), Strategy::none, SyncMode::hybrid));
  EXPECT_EQ(iteration.read, "16 H + 928 W + 64 nnz");
  EXPECT_EQ(iteration.written, "8 H + 392 W + 16 nnz");
}

TEST(KMeansPlan, OneRegionReadsThePointsOnce) {
  for (const int k : {2, 3, 6}) {
    const Module module = plan(example("kmeans.ks", {{"k", std::to_string(k)}}), Strategy::greedy, SyncMode::hybrid);
    const IterationFigures iteration = per_iteration(module);
    EXPECT_EQ(iteration.read, "16 N");  // a point has two coordinates
    EXPECT_EQ(iteration.written, "0");
    const Op* loop = first_op(module, OpCode::for_loop);
    int regions = 0;
    for (const Op& op : loop->blocks[0].ops) {
      if (op.code != OpCode::region) continue;
      ++regions;
      EXPECT_EQ(op.operands.size(), static_cast<size_t>(k + 1));
      EXPECT_EQ(op.results.size(), static_cast<size_t>(k));
    }
    EXPECT_EQ(regions, 1);
  }
}

TEST(BlackScholesPlan, TwoInTwoOut) {
  const Module module = plan(example("blackscholes.ks"), Strategy::greedy, SyncMode::hybrid);
  const CostReport report = measure(module);
  EXPECT_EQ(report.model.read.text(SymbolNames(module)), "16 N");
  EXPECT_EQ(report.model.written.text(SymbolNames(module)), "16 N");
}

TEST(HitsPlan, EachProductsOperandGoesToItsOwnSlaves) {
  const Module module = plan(example("hits.ks"), Strategy::greedy, SyncMode::hybrid);
  std::vector<State> scattered;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::scatter || Layout(module, op.results[0]).is_shared()) return;
    scattered.push_back(module.type(op.results[0]).state);
  });
  EXPECT_EQ(scattered, (std::vector<State>{State::cons({{"G", Axis::rows}}), State::cons({{"G", Axis::cols}})}));
}

// Several products with one matrix, in one direction and over one set of slaves, read its entries once.
TEST(ProductsPlan, OneMatrixIsReadOnce) {
  const char* text = R"(
dim N
input G : f64[N, N]
input x : f64[N], y : f64[N]
a = G' @ x
b = G' @ y
c = G @ x
d = G' @ a
s = sum(a + b + c + d)
output s
)";
  const Module module = plan(compile(text), Strategy::greedy, SyncMode::hybrid);
  int regions = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::region || op.kind != RegionKind::mxm) return;
    ++regions;
    EXPECT_EQ(op.results.size(), 2U);
    for (const ValueId v : op.results) {
      EXPECT_EQ(module.type(v).state.slaves, (SlaveSet{{"G", Axis::cols}}));
    }
  });
  // x goes to both axes at once and so lives in another space than y and a: only b and d share a stored form.
  EXPECT_EQ(regions, 1);
  const char* alike = R"(
dim N
input G : f64[N, N]
input x : f64[N], y : f64[N]
a = G' @ x
b = G' @ y
d = G' @ (a + b)
s = sum(a + b + d)
output s
)";
  const Module fused = plan(compile(alike), Strategy::greedy, SyncMode::hybrid);
  EXPECT_EQ(shape(fused.body),
            "scatter scatter mxm(mxv mxv) gather gather map scatter mxv gather iter_on_vec(map reduce) gather scatter");
}

}  // namespace
}  // namespace kasen
