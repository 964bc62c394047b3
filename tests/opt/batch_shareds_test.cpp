// Reductions over the workers that are ready together are one exchange: where they stand in the plan, and what they
// send.
#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/analysis/shared_batch.h"
#include "libopt/cost/traffic.h"
#include "libopt/passes/passes.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen {

namespace {

// How many operators each batch has, in program order.
std::vector<size_t> batch_sizes(const Module& module) {
  const SharedBatches batches(module);
  std::vector<size_t> sizes;
  for_each_op(module, [&](const Op& op, int, int) {
    if (const auto batch = batches.led_by(op); !batch.empty()) sizes.push_back(batch.size());
  });
  return sizes;
}

// Five reductions in two regions that cannot be one (the second reads a product and the first's result), and a function
// of the first in between.
constexpr const char* five_sums = R"(dim N
input G : null[N, N]
input a : f64[N]
input b : f64[N]
p = sum(a * b)
h = p * 2
q = sum(a * a)
c = G @ (a + b)
r = sum(c * b)
m = max(c)
s = sum(c * p)
output h
output q
output r
output m
output s
)";

Module plan_of_sums(const std::string& program, Strategy strategy) {
  return plan(compile(program), strategy, strategy == Strategy::none ? SyncMode::lazy : SyncMode::hybrid);
}

TEST(BatchShareds, WhatIsReadyTogetherIsOneExchange) {
  // Without the pass a gather and a scatter each; with it p and q there and back, then r, m and s.
  EXPECT_EQ(batch_sizes(plan_of_sums(five_sums, Strategy::none)), std::vector<size_t>(10, 1));
  EXPECT_EQ(batch_sizes(plan_of_sums(five_sums, Strategy::greedy)), (std::vector<size_t>{2, 2, 3, 3}));
}

TEST(BatchShareds, KMeansTurnIsOneExchange) {
  const Module module = plan(example("kmeans.ks"), Strategy::greedy, SyncMode::hybrid);
  // The starting centres, the sums of a turn with their centres behind them, and the inertia.
  EXPECT_EQ(batch_sizes(module), (std::vector<size_t>{3, 3, 3, 3, 1, 1}));
}

TEST(BatchShareds, AnArraysScatterStaysBeforeItsProduct) {
  const Module module = plan(compile(R"(dim N
input G : null[N, N]
input a : f64[N]
p = sum(a * a)
x = (G @ (a * 2)) * p
output x
)"),
                             Strategy::greedy, SyncMode::hybrid, true, true);
  const std::vector<Op>& ops = module.body.ops;
  const auto product = std::find_if(ops.begin(), ops.end(), [](const Op& op) {
    return op.code == OpCode::region && op.kind == RegionKind::product_epilogue;
  });
  ASSERT_NE(product, ops.end());
  EXPECT_EQ((product - 1)->code, OpCode::scatter);
  EXPECT_FALSE(is_shared_transition(module, *(product - 1)));
  EXPECT_TRUE(is_shared_transition(module, *(product - 2)));
}

TEST(BatchShareds, NothingFollowsItsOwnResultInABatch) {
  const Module module = plan_of_sums(five_sums, Strategy::none);
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::gather || !is_shared_transition(module, op)) continue;
    // Gather and scatter of one shared stand one behind the other, and are two exchanges.
    EXPECT_EQ(shared_batch(module, {&op, 2}).size(), 1u);
  }
}

TEST(BatchShareds, ASecondTimeNothingChanges) {
  TrialLawChecker laws;
  const OptimizeOptions options;
  PassContext context{laws, options};
  for (const char* name : {"kmeans.ks", "lbfgs.ks", "lbfgs-linesearch.ks", "cg.ks", "svm.ks"}) {
    Module module = plan(example(name), Strategy::greedy, SyncMode::hybrid);
    EXPECT_FALSE(pass_batch_shareds(module, context)) << name;
  }
}

// Messages between as many ranks as workers: each turn of the tree's rounds once for a batch, with the bytes of all.
TEST(BatchShareds, MessagesAreThoseOfOneTree) {
  const Module program = compile(five_sums);
  for (const int workers : {2, 5, 16}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 30, 70, 3));
    const auto messages = [&](const Module& module) {
      const Sizes sizes = sizes_from_parts(module, parts);
      const SharedBatches batches(module);
      Traffic sum;
      for_each_op(module, [&](const Op& op, int, int) {
        if (!is_shared_transition(module, op)) return;
        const Traffic once = predict_traffic(module, batches, op, sizes, workers);
        sum.rank_messages += once.rank_messages;
        sum.rank_bytes += once.rank_bytes;
      });
      return sum;
    };
    const Traffic none = messages(plan_of_sums(five_sums, Strategy::none));
    const Traffic batched = messages(plan_of_sums(five_sums, Strategy::greedy));
    EXPECT_EQ(none.rank_messages, 5 * 2 * (workers - 1));
    EXPECT_EQ(batched.rank_messages, 2 * 2 * (workers - 1));
    EXPECT_EQ(batched.rank_bytes, none.rank_bytes);
  }
}

}  // namespace
}  // namespace kasen
