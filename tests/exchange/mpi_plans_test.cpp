// Whole plans over ranks: every example program, placed and fused in every way, gives bit for bit what one process with
// simulated workers gives, and counts the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "libcomm/exchange/mpi_transport.h"
#include "libopt/cost/traffic.h"
#include "libopt/cost/worker_traffic.h"
#include "tests/exchange/mpi_main.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/support/counting_transport.h"

namespace kasen {
namespace {

using testing::mpi;

void expect_same_parts(const RunResult& mine, const RunResult& whole, size_t first) {
  ASSERT_EQ(mine.outputs.size(), whole.outputs.size());
  for (size_t o = 0; o < mine.outputs.size(); ++o) {
    for (size_t k = 0; k < mine.outputs[o].parts.size(); ++k) {
      const OutputPart& part = mine.outputs[o].parts[k];
      const auto same = [&](const OutputPart& p) { return p.worker == part.worker; };
      const auto& candidates = whole.outputs[o].parts;
      const auto wanted = std::find_if(candidates.begin(), candidates.end(), same);
      ASSERT_NE(wanted, candidates.end()) << mine.outputs[o].name << " of worker " << part.worker;
      ASSERT_EQ(part.data.count, wanted->data.count) << mine.outputs[o].name;
      for (std::int64_t p = 0; p < part.data.element.planes(); ++p) {
        const auto bytes = static_cast<size_t>(part.data.count * scalar_bytes(part.data.element.plane_scalar(p)));
        if (bytes == 0) continue;
        EXPECT_EQ(std::memcmp(part.data.plane(p), wanted->data.plane(p), bytes), 0)
            << mine.outputs[o].name << " of worker " << part.worker;
      }
    }
  }
  for (size_t k = 0; k < mine.parts.size(); ++k) {
    const PartCount& a = mine.parts[k];
    const PartCount& b = whole.parts.at(first + k);
    EXPECT_EQ(a.worker, b.worker);
    EXPECT_EQ(a.buffer_bytes, b.buffer_bytes);
    EXPECT_EQ(a.exchange_bytes, b.exchange_bytes);
    EXPECT_EQ(a.matrix_bytes, b.matrix_bytes);
    EXPECT_EQ(a.input_bytes, b.input_bytes);
  }
}

// The ranks' counters together are the one process's.
void expect_same_counts(const RunResult& mine, const RunResult& whole) {
  ASSERT_EQ(mine.ops.size(), whole.ops.size());
  std::vector<std::int64_t> sums{mine.traffic.worker_bytes}, wanted{whole.traffic.worker_bytes};
  for (size_t i = 0; i < mine.ops.size(); ++i) {
    EXPECT_EQ(mine.ops[i].executions, whole.ops[i].executions);
    EXPECT_EQ(mine.ops[i].iterations, whole.ops[i].iterations);
    sums.insert(sums.end(), {mine.ops[i].network_bytes, mine.ops[i].read_bytes, mine.ops[i].written_bytes});
    wanted.insert(wanted.end(), {whole.ops[i].network_bytes, whole.ops[i].read_bytes, whole.ops[i].written_bytes});
  }
  mpi().all_reduce_sum(sums);
  EXPECT_EQ(sums, wanted);
}

// Bytes and messages between ranks are those that were predicted.
void expect_predicted_traffic(const Module& plan, const RunResult& mine, const std::vector<Part>& parts) {
  const Sizes sizes = sizes_from_parts(plan, parts);
  const SharedBatches batches(plan);
  std::vector<std::int64_t> predicted{0, 0}, counted{mine.traffic.rank_bytes, mine.traffic.rank_messages};
  for_each_op(plan, [&](const Op& op, int number, int) {
    const Traffic once = predict_traffic(plan, batches, op, sizes, mpi().ranks());
    const std::int64_t times = mine.ops.at(static_cast<size_t>(number)).executions;
    predicted[0] += once.rank_bytes * times;
    predicted[1] += once.rank_messages * times;
  });
  mpi().all_reduce_sum(counted);
  EXPECT_EQ(counted, predicted);
}

// With one worker on each rank, each sends and receives what was predicted of it.
void expect_predicted_worker(const Module& plan, const RunResult& mine, const std::vector<Part>& parts,
                             const testing::CountingTransport& counted) {
  if (static_cast<int>(parts.size()) != mpi().ranks()) return;
  const auto predicted = worker_traffic(plan, sizes_from_parts(plan, parts), [&](int number) {
    return mine.ops.at(static_cast<size_t>(number)).executions;
  });
  ASSERT_TRUE(predicted);
  const auto self = static_cast<size_t>(mpi().rank());
  EXPECT_EQ(counted.sent.at(self), predicted->sent.at(self));
  EXPECT_EQ(counted.received.at(self), predicted->received.at(self));
}

class PlansOverRanks : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Examples, PlansOverRanks,
                         ::testing::Values("bfs.ks", "blackscholes.ks", "chain.ks", "components.ks", "hits.ks",
                                           "kmeans.ks", "lbfgs.ks", "logistic.ks", "pagerank.ks", "pagerank-i32.ks",
                                           "pagerank-primitives.ks", "sssp.ks"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase_if(name, [](char c) { return c == '.' || c == '-'; });
                           return name;
                         });

void run_over_ranks(const Module& program) {
  for (const int workers : {mpi().ranks() == 2 ? 3 : 5, mpi().ranks()}) {
    const testing::TestData data = testing::random_data(program, workers, 30, 70, 11);
    const std::vector<Part> parts = testing::split(data);
    const WorkerRange range = workers_of_rank(mpi().rank(), mpi().ranks(), workers);
    std::vector<Part> local = testing::split(data);
    local.erase(local.begin() + range.first + range.count, local.end());
    local.erase(local.begin(), local.begin() + range.first);
    std::vector<Module> plans;
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
      plans.push_back(plan(program, Strategy::none, sync));
      plans.push_back(plan(program, Strategy::greedy, sync));
    }
    plans.push_back(plan(program, Strategy::fuse_all, SyncMode::hybrid));
    plans.push_back(plan(program, Strategy::greedy, SyncMode::hybrid, true, true));  // product_epilogue regions
    for (size_t i = 0; i < plans.size(); ++i) {
      SCOPED_TRACE(std::to_string(workers) + " workers, plan " + std::to_string(i));
      const RunResult whole = testing::run_simulated(plans[i], parts);
      testing::CountingTransport transport(make_mpi_transport(mpi(), workers));
      const auto kernels = make_interpreter_kernels();
      const RunResult mine = execute(plans[i], local, transport, *kernels, {});
      expect_same_parts(mine, whole, static_cast<size_t>(range.first));
      expect_same_counts(mine, whole);
      expect_predicted_traffic(plans[i], mine, parts);
      expect_predicted_worker(plans[i], mine, parts, transport);
    }
  }
}

TEST_P(PlansOverRanks, AreThoseOfOneProcess) { run_over_ranks(example(GetParam())); }

// In slices, and along the tree: the second sum is small.
TEST(SharedsOverRanks, AreThoseOfOneProcess) {
  run_over_ranks(
      compile("dim N\ndim F local = 450\ninput X : f64[N, F]\nw : f64[F] = 0.5\n"
              "for turn in 0..3 {\n  w = sum(X * w, over N) * 0.125 + w\n}\ns = sum(w) + sum(X)\n"
              "output w, s\n"));
}

}  // namespace
}  // namespace kasen
