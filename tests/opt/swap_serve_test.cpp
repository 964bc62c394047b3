// Serving several models: against closed forms of queues (Pollaczek and Khinchine) and of least recently used, and what
// the ways to serve have in common.
#include <gtest/gtest.h>

#include "libcore/base/error.h"
#include "libopt/swap/beam.h"
#include "libopt/swap/report/serve.h"
#include "tests/opt/swap_support.h"

namespace kasen::swap {
namespace {

// So many equal models, of 10 bytes of parameters and 5 beside them while one runs.
std::vector<ServedModel> models_of(std::size_t many) {
  ServedModel one{"one"};
  one.whole = 1;
  one.cold = 1.5;
  one.in_share = 1.25;
  one.load = 2;
  one.unload = 0.5;
  one.stays = 10;
  one.pool = 15;
  return std::vector<ServedModel>(many, one);
}

Served served(std::size_t models, Serving serving, double rate, std::int64_t capacity) {
  return serve(models_of(models), serving, {.rate = rate, .capacity = capacity});
}

constexpr double idle = 1e-6;  // a rate at which no request waits

// One time for all requests: an M/D/1 queue.
TEST(SwapServe, OneModelWaitsAsTheClosedFormSays) {
  for (const double rate : {0.2, 0.5, 0.8}) {
    for (const auto& [serving, seconds] : {std::pair(Serving::alone, 1.0), std::pair(Serving::partitioned, 1.25)}) {
      const double used = rate / 1.25 * seconds;
      const Served found = served(1, serving, rate / 1.25, 15);
      const double waiting = used * seconds / (2 * (1 - used));
      EXPECT_NEAR(found.waiting, waiting, 0.04 * waiting) << rate;
      EXPECT_NEAR(found.mean, found.waiting + seconds, 1e-6);
      EXPECT_NEAR(found.busy, used, 0.02);
      EXPECT_NEAR(found.throughput, rate / 1.25, 0.01);
    }
  }
}

// Whether a request finds its model is drawn anew each time: an M/G/1 queue of two times.
TEST(SwapServe, TwoModelsInTurnWaitAsTheClosedFormSays) {
  const double rate = 0.3, found_there = 1, has_to_come = 3.5;
  const double mean = (found_there + has_to_come) / 2, square = (1 + has_to_come * has_to_come) / 2;
  const Served found = served(2, Serving::time_shared, rate, 15);
  const double waiting = rate * square / (2 * (1 - rate * mean));
  EXPECT_NEAR(found.waiting, waiting, 0.04 * waiting);
  EXPECT_NEAR(found.mean - found.waiting, mean, 0.02);
}

// Of M models that are drawn equally, the last K used have the next one with probability K / M.
TEST(SwapServe, MemoryKeepsWhatRanLast) {
  for (std::size_t kept = 1; kept <= 4; ++kept) {
    const Served found = served(4, Serving::time_shared, idle, 5 + 10 * static_cast<std::int64_t>(kept));
    const double missing = 1 - static_cast<double>(kept) / 4;
    EXPECT_NEAR(static_cast<double>(found.loads), 1e5 * missing, 1e3);
    EXPECT_NEAR(found.mean, 1 + missing * 2.5, 0.02);
    const Served hidden = served(4, Serving::foreseeing, idle, 5 + 10 * static_cast<std::int64_t>(kept));
    EXPECT_NEAR(hidden.mean, 1 + missing * 1.0, 0.02);  // what changed leaves, and half a second is not hidden
  }
}

TEST(SwapServe, ModelsThatFitDoNotSwap) {
  const Served alone = served(2, Serving::alone, 0.7, 25);
  for (const Serving serving : {Serving::time_shared, Serving::foreseeing}) {
    const Served found = served(2, serving, 0.7, 25);
    EXPECT_EQ(found.loads, 0);
    EXPECT_EQ(found.mean, alone.mean);
    EXPECT_EQ(found.p99, alone.p99);
  }
}

// Where requests wait, the next model is known: its parameters come while the one before it runs, if there is room.
TEST(SwapServe, ForeseenParametersComeBeforehand) {
  std::vector<ServedModel> models = models_of(2);
  for (ServedModel& one : models) one.load = one.cold = 1, one.unload = 0;
  const auto mean_of = [&](Serving serving, std::int64_t capacity) {
    return serve(models, serving, {.rate = 5, .requests = 1000, .capacity = capacity}).throughput;
  };
  EXPECT_NEAR(mean_of(Serving::alone, 24), 1, 1e-3);
  EXPECT_NEAR(mean_of(Serving::time_shared, 24), 1 / 1.5, 0.02);
  for (ServedModel& one : models) one.cold = 2, one.pool = 14;
  EXPECT_NEAR(mean_of(Serving::foreseeing, 24), 1, 1e-2);        // 14 while one runs, and 10
  EXPECT_NEAR(mean_of(Serving::foreseeing, 23), 1 / 1.5, 0.02);  // no room
}

TEST(SwapServe, WaysAreInOrder) {
  Random random(1);
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<ServedModel> models = models_of(1 + draw(random, 5));
    for (ServedModel& one : models) one.unload = 0;
    ServeOptions options{.rate = 0.05 + 0.1 * static_cast<double>(draw(random, 12)), .requests = 2000};
    options.seed = static_cast<std::uint64_t>(turn);
    options.capacity = 15 + static_cast<std::int64_t>(draw(random, 40));
    const Served alone = serve(models, Serving::alone, options), hidden = serve(models, Serving::foreseeing, options);
    const Served turns = serve(models, Serving::time_shared, options),
                 again = serve(models, Serving::time_shared, options);
    EXPECT_LE(alone.mean, hidden.mean);
    EXPECT_LE(hidden.mean, turns.mean);
    EXPECT_LE(hidden.p99, turns.p99);
    EXPECT_EQ(turns.mean, again.mean);
    for (const Served& one : {alone, hidden, turns}) EXPECT_TRUE(one.p50 <= one.p99 && one.busy <= 1 + 1e-9);
    options.seed += 1000;
    EXPECT_NE(serve(models, Serving::alone, options).mean, alone.mean);
  }
}

TEST(SwapServe, GraphsGetShares) {
  Random random(5);
  SearchOptions options;
  options.links = {1, 1, 2};
  const FindPlan find = [](const TaskGraph& graph, const SearchOptions& own) { return beam(graph, own, {2, 200}); };
  int swapping = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const std::vector<TaskGraph> graphs{random_tasks(random, 5 + draw(random, 10)), random_tasks(random, 12)};
    std::int64_t least = 0;
    for (const TaskGraph& graph : graphs) least += 2 * memory(Sizes(graph), least_allocation(graph, Sizes(graph)));
    options.capacity = least + static_cast<std::int64_t>(draw(random, turn % 2 == 0 ? 6 : 60));
    const std::vector<ServedModel> models = models_to_serve(graphs, 2, options, find);
    ASSERT_EQ(models.size(), 4);
    EXPECT_EQ(models[0], models[1]);
    std::int64_t shares = 0;
    for (const ServedModel& one : models) {
      shares += one.share;
      EXPECT_LE(one.share, one.pool);
      EXPECT_LE(one.stays, one.pool);
      EXPECT_LE(one.pool, options.capacity);
      EXPECT_LE(one.whole, one.cold);
      EXPECT_LE(one.cold, one.whole + one.load + 1e-9);
      EXPECT_TRUE(one.share < one.pool || one.in_share == one.whole);
      swapping += one.in_share > one.whole ? 1 : 0;
    }
    EXPECT_LE(shares, options.capacity);
    options.capacity = least - 1;
    EXPECT_THROW((void)models_to_serve(graphs, 2, options, find), UserError);
  }
  EXPECT_GT(swapping, 20);
}

}  // namespace
}  // namespace kasen::swap
