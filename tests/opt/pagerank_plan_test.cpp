// PageRank: the paper's figures and regions come out of the program text alone, in all three modes (tests/oracles).
#include <gtest/gtest.h>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/layout.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

struct Oracle {
  const char* program;
  Strategy strategy;
  SyncMode sync;
  bool split;
  const char* read;
  const char* written;
};

// N masters and S slaves as the paper counts them; degree of 4 bytes in pagerank-i32.ks, of 8 in the other two.
constexpr Oracle oracles[] = {
    {"pagerank-i32.ks", Strategy::none, SyncMode::lazy, false, "52 N + 52 S + 24 nnz", "32 N + 32 S + 8 nnz"},
    {"pagerank-i32.ks", Strategy::none, SyncMode::lazy, true, "60 N + 60 S + 24 nnz", "40 N + 40 S + 8 nnz"},
    {"pagerank-i32.ks", Strategy::none, SyncMode::eager, true, "52 N + 52 S + 24 nnz", "32 N + 32 S + 8 nnz"},
    {"pagerank-i32.ks", Strategy::none, SyncMode::hybrid, true, "52 N + 24 nnz", "32 N + 8 nnz"},
    {"pagerank-i32.ks", Strategy::greedy, SyncMode::hybrid, true, "20 N + 24 nnz", "16 N + 8 nnz"},
    // Masters alone are read of the last turn's ranks, in the loop that makes the new ones on slaves as well; the two
    // halves of the damping are one loop.
    {"pagerank-i32.ks", Strategy::greedy, SyncMode::eager, true, "20 N + 12 S + 24 nnz", "16 N + 16 S + 8 nnz"},
    {"pagerank-i32.ks", Strategy::greedy, SyncMode::lazy, true, "28 N + 20 S + 24 nnz", "16 N + 16 S + 8 nnz"},
    {"pagerank-i32.ks", Strategy::greedy, SyncMode::lazy, false, "20 N + 12 S + 24 nnz", "16 N + 16 S + 8 nnz"},
    {"pagerank-primitives.ks", Strategy::none, SyncMode::lazy, false, "56 N + 56 S + 24 nnz", "32 N + 32 S + 8 nnz"},
    {"pagerank-primitives.ks", Strategy::none, SyncMode::lazy, true, "64 N + 64 S + 24 nnz", "40 N + 40 S + 8 nnz"},
    {"pagerank-primitives.ks", Strategy::none, SyncMode::eager, true, "56 N + 56 S + 24 nnz", "32 N + 32 S + 8 nnz"},
    {"pagerank-primitives.ks", Strategy::none, SyncMode::hybrid, true, "56 N + 24 nnz", "32 N + 8 nnz"},
    {"pagerank-primitives.ks", Strategy::greedy, SyncMode::hybrid, true, "24 N + 24 nnz", "16 N + 8 nnz"},
    {"pagerank.ks", Strategy::none, SyncMode::lazy, true, "64 N + 64 S + 24 nnz", "40 N + 40 S + 8 nnz"},
    {"pagerank.ks", Strategy::greedy, SyncMode::hybrid, true, "24 N + 24 nnz", "16 N + 8 nnz"},
};

TEST(PageRankPlan, TrafficOfATurnIsThePapers) {
  for (const Oracle& oracle : oracles) {
    SCOPED_TRACE(std::string(oracle.program) + " mode " + std::to_string(static_cast<int>(oracle.sync)));
    const IterationFigures iteration =
        per_iteration(plan(example(oracle.program), oracle.strategy, oracle.sync, oracle.split));
    EXPECT_EQ(iteration.read, oracle.read);
    EXPECT_EQ(iteration.written, oracle.written);
    EXPECT_EQ(iteration.network, "16 S + 16 P - 16");  // one gather and one scatter of vectors, one pair for the shared
  }
}

TEST(PageRankPlan, FusedAndHybridIsOneProductAndOneRegionATurn) {
  const Module module = plan(example("pagerank-i32.ks"), Strategy::greedy, SyncMode::hybrid);
  EXPECT_EQ(module.level, 3);
  EXPECT_EQ(shape(module.body),
            "mxvt gather map while(scatter mxv gather iter_on_vec(map map reduce map) gather scatter apply)");
  const Op* region = first_op(module, OpCode::region);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(names_of(module, region->operands), (std::vector<std::string>{"tmp2_g", "r", "pr_2", "degree_g"}));
  EXPECT_EQ(names_of(module, region->results), (std::vector<std::string>{"new_pr", "diff", "tmp1_next"}));
  EXPECT_TRUE(region->blocks[0].ops[3].speculated);
  const Op* scatter = first_op(module, OpCode::scatter);
  EXPECT_EQ(module.type(scatter->results[0]).state, State::cons({{"G", Axis::rows}}));
}

// As one region the product's result is in memory only where others contribute to it.
TEST(PageRankPlan, WithAnEpilogueTheModelIsTheSameAndLessIsTouched) {
  const Module apart = plan(example("pagerank-i32.ks"), Strategy::greedy, SyncMode::hybrid);
  const Module joined = plan(example("pagerank-i32.ks"), Strategy::greedy, SyncMode::hybrid, true, true);
  EXPECT_EQ(shape(joined.body),
            "mxvt gather map while(scatter product_epilogue(mxv gather map map reduce map) gather scatter apply)");
  const IterationFigures a = per_iteration(apart), b = per_iteration(joined);
  EXPECT_EQ(a.read, b.read);
  EXPECT_EQ(a.written, b.written);
  EXPECT_EQ(a.network, b.network);
  const Cost before = measure(apart).loops.at(0).actual, after = measure(joined).loops.at(0).actual;
  const SymbolNames names(joined);
  EXPECT_EQ((before.read - after.read).text(names), "8 N - 8 W(G.cols)");
  EXPECT_EQ((before.written - after.written).text(names), "8 N - 8 W(G.cols)");
  EXPECT_EQ(before.network, after.network);
  const Op* region = first_op(joined, OpCode::region);
  const Op& product = region->blocks[0].ops[0];
  EXPECT_NE(joined.value(product.results[0]).buffer, no_buffer);
  EXPECT_EQ(joined.value(product.results[0]).buffer, joined.value(region->blocks[0].ops[1].results[0]).buffer);
}

TEST(PageRankPlan, NothingIsCopiedWithAnEpilogue) {
  const Module module = plan(example("pagerank-i32.ks"), Strategy::greedy, SyncMode::hybrid, true, true);
  const Liveness live(module);
  int number = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    const OpLiveness& at = live.at(number++);
    for (const auto* bindings : {&at.entry, &at.back, &at.exit}) {
      for (const Binding& binding : *bindings) {
        const bool array = Layout(module, binding.from).is_distributed();
        EXPECT_TRUE(!array || binding.how == Handover::move) << row(op.code).name;
      }
    }
    if (row(op.code).group != OpGroup::transition) return;
    EXPECT_EQ(module.value(op.operands[0]).buffer, module.value(op.results[0]).buffer) << row(op.code).name;
  });
}

TEST(PageRankPlan, NothingIsCopiedAndBuffersAreReused) {
  const Module module = plan(example("pagerank-i32.ks"), Strategy::greedy, SyncMode::hybrid);
  // pr; tmp1 and its scattered form; tmp2 and its gathered form; before the loop the ones and the degree.
  ASSERT_EQ(module.buffers.size(), 5U);
  const Op* loop = first_op(module, OpCode::while_loop);
  const Block& body = loop->blocks[0];
  for (size_t i = 0; i < body.args.size(); ++i) {
    EXPECT_EQ(module.value(body.args[i]).buffer, module.value(body.ops.back().operands[i]).buffer);
    EXPECT_EQ(module.value(body.args[i]).buffer, module.value(loop->operands[i]).buffer);
    EXPECT_EQ(module.value(body.args[i]).buffer, module.value(loop->results[i]).buffer);
  }
}

TEST(PageRankPlan, ThePreReducedHalvesAreBackedByTheirLaws) {
  const Module split = plan(example("pagerank-primitives.ks"), Strategy::none, SyncMode::lazy);
  ASSERT_EQ(split.laws.size(), 2U);
  EXPECT_EQ(split.laws[0].kind, LawKind::exchange);
  EXPECT_EQ(split.laws[1].kind, LawKind::pushdown);
  EXPECT_TRUE(plan(example("pagerank-primitives.ks"), Strategy::none, SyncMode::lazy, false).laws.empty());
  EXPECT_TRUE(plan(example("pagerank-primitives.ks"), Strategy::greedy, SyncMode::hybrid).laws.empty());
}

}  // namespace
}  // namespace kasen
