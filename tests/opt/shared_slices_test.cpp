// Large shareds travel in slices: to the same bits as along the tree, with no more bytes on any worker than needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/analysis/shared_batch.h"
#include "libopt/cost/traffic.h"
#include "libopt/cost/worker_traffic.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/counting_transport.h"

namespace kasen {
namespace {

// Shareds that are ready together: three of 8 bytes for each of F, the second in two planes, and a single number.
constexpr const char* three = R"(dim N
dim F local = %F
fn larger(a : (f32, i32), b : (f32, i32)) = (max(a.0, b.0), max(a.1, b.1))
input X : f64[N, F]
input p : (f32, i32)[N, F]
s = sum(X, over N)
m = reduce(larger, p, over N)
t = max(X * 0.5, over N)
r = sum(X)
output s, m, t, r
)";

Module plan_of(int size) {
  std::string text = three;
  text.replace(text.find("%F"), 2, std::to_string(size));
  return plan(compile(text), Strategy::greedy, SyncMode::hybrid);
}

// The same plan, in which an operator stands between each gather and its scatter: not a pair any more.
Module apart(Module module) {
  std::vector<Op>& ops = module.body.ops;
  Type single;
  single.element = ElementType::of(Scalar::f64);
  single.state = State::cons();
  const ValueId idle = module.add_value("idle", single);
  for (size_t i = 1; i < ops.size(); ++i) {
    if (ops[i].code != OpCode::scatter || ops[i - 1].code != OpCode::gather) continue;
    Op literal;
    literal.code = OpCode::literal;
    literal.literal = {Word{}};
    literal.results = {idle};
    ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(i), literal);
    break;
  }
  return module;
}

// How many batches travel in slices between so many workers.
int sliced_batches(const Module& module, const Sizes& sizes) {
  const SharedBatches batches(module);
  int count = 0;
  for_each_op(module, [&](const Op& op, int, int) {
    const auto batch = batches.led_by(op);
    if (batch.empty()) return;
    const std::int64_t bytes = batch_bytes(module, batch, sizes.totals);
    if (travels_in_slices(batches.is_paired(batch), bytes, sizes.workers)) ++count;
  });
  return count;
}

std::vector<Part> data_of(const Module& program, int workers) {
  return testing::split(testing::random_data(program, workers, 40, 0, 3));
}

// The plan has no loops.
void expect_predicted(const Module& module, const std::vector<Part>& parts, const testing::CountingTransport& counted) {
  const auto predicted = worker_traffic(module, sizes_from_parts(module, parts), [](int) { return 1; });
  ASSERT_TRUE(predicted);
  EXPECT_EQ(counted.sent, predicted->sent);
  EXPECT_EQ(counted.received, predicted->received);
}

TEST(SharedSlices, HaveTheBitsOfTheTree) {
  const Module module = plan_of(299), tree = apart(module);
  for (const int workers : {2, 3, 4, 5, 7, 8}) {
    SCOPED_TRACE(workers);
    const std::vector<Part> parts = data_of(module, workers);
    const Sizes sizes = sizes_from_parts(module, parts);
    EXPECT_EQ(sliced_batches(module, sizes), 2);
    EXPECT_EQ(sliced_batches(tree, sizes), 0);
    const RunResult a = testing::run_simulated(module, parts), b = testing::run_simulated(tree, parts);
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      testing::expect_same(a.outputs[k].name, a.outputs[k].type.element,
                           testing::whole_words(module, a.outputs[k], parts),
                           testing::whole_words(tree, b.outputs[k], parts), 0);
    }
    EXPECT_EQ(a.traffic.worker_bytes, b.traffic.worker_bytes);
    run_plan(module, parts, interpret(module, whole_inputs(parts)), true);  // predicted = counted, in all kernels
    run_plan(tree, parts, interpret(tree, whole_inputs(parts)), true);
  }
}

// Each worker sends and receives at most 2 (1 - 1/P) of the arrays (with slices rounded up to whole elements). Along
// the tree, worker 0 receives and sends log2 P times all.
TEST(SharedSlices, MoveTheLeastOnEachWorker) {
  const Module module = plan_of(320), tree = apart(module);
  const std::int64_t bytes = 320 * (8 + 8 + 8) + 8;
  for (const int workers : {2, 5, 8}) {
    const std::vector<Part> parts = data_of(module, workers);
    testing::CountingTransport counted(make_simulated_transport(workers));
    testing::CountingTransport along_tree(make_simulated_transport(workers));
    (void)execute(module, parts, counted, *make_interpreter_kernels(), {});
    (void)execute(tree, parts, along_tree, *make_interpreter_kernels(), {});
    for (int w = 0; w < workers; ++w) {
      const std::int64_t most = 2 * (bytes * (workers - 1) / workers + 4 * 8);
      EXPECT_LE(counted.sent[static_cast<size_t>(w)], most) << w << " of " << workers;
      EXPECT_LE(counted.received[static_cast<size_t>(w)], most) << w << " of " << workers;
    }
    expect_predicted(module, parts, counted);
    expect_predicted(tree, parts, along_tree);
    std::int64_t rounds = 0;
    while ((1 << rounds) < workers) ++rounds;
    EXPECT_EQ(along_tree.received[0], rounds * bytes);
  }
}

TEST(SharedSlices, SmallOnesGoAlongTheTree) {
  for (const int workers : {1, 2, 8}) {
    const Module small = plan_of(3);
    EXPECT_EQ(sliced_batches(small, sizes_from_parts(small, data_of(small, workers))), 0);
  }
  // 24 F + 8 bytes: slices of 512 bytes for 8 workers from F = 171 on.
  for (const auto& [size, sliced] : {std::pair(170, 0), std::pair(171, 2)}) {
    const Module module = plan_of(size);
    EXPECT_EQ(sliced_batches(module, sizes_from_parts(module, data_of(module, 8))), sliced);
  }
}

TEST(SharedSlices, CoverEveryElementOnce) {
  for (const std::int64_t count : {0, 1, 2, 7, 8, 9, 1000}) {
    for (const int workers : {1, 2, 3, 8, 16}) {
      std::int64_t at = 0;
      for (int w = 0; w < workers; ++w) {
        const Slice slice = slice_of(count, w, workers);
        EXPECT_EQ(slice.begin, at);
        EXPECT_LE(slice.count(), (count + workers - 1) / workers);
        at = slice.end;
      }
      EXPECT_EQ(at, count);
    }
  }
}

}  // namespace
}  // namespace kasen
