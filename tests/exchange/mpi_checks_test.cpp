// Ranks that diverge are told, never hang, and get no wrong data: each test makes them differ in one thing. Those about
// exchanges need the checks (KASEN_CHECK_COLLECTIVES=1); without them what can be found is found when messages arrive.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "libcomm/exchange/mpi_transport.h"
#include "tests/exchange/mpi_main.h"

namespace kasen {
namespace {

using testing::mpi;

std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

// What rank 0 does and what the others do, at the same time; all are told of both.
void expect_reported(const std::function<void()>& first, const std::function<void()>& others,
                     const std::vector<std::string>& words) {
  const std::string fault = fault_of(mpi().rank() == 0 ? first : others);
  for (const std::string& word : words) EXPECT_NE(fault.find(word), std::string::npos) << word << " in: " << fault;
}

void sum(size_t count) {
  std::vector<std::int64_t> values(count);
  mpi().all_reduce_sum(values);
}

// Every rank sends `out` bytes to the next one and awaits `in` from the one before.
void go_round(Transport& transport, std::int64_t step, const std::string& purpose, std::int64_t out, std::int64_t in) {
  const int rank = mpi().rank(), ranks = mpi().ranks();
  std::byte sent[64] = {}, got[64] = {};
  const std::vector<Message> sends{{rank, (rank + 1) % ranks, sent, out}};
  const std::vector<Message> receives{{(rank + ranks - 1) % ranks, rank, got, in}};
  transport.announce(purpose);
  transport.finish(transport.start(step, sends, receives));
}

class Diverging : public ::testing::Test {
 protected:
  void SetUp() override {
    if (mpi().ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  }
};

TEST_F(Diverging, CountsAreTold) {
  expect_reported([] { sum(2); }, [] { sum(3); }, {"rank 0 at a sum", "count 2", "rank 1 at a sum", "count 3"});
}

TEST_F(Diverging, ReducersAreTold) {
  const auto largest = [] {
    std::vector<std::int64_t> values(2);
    mpi().all_reduce_max(values);
  };
  expect_reported([] { sum(2); }, largest, {"rank 0 at a sum", "rank 1 at a maximum"});
}

TEST_F(Diverging, OrderIsTold) {
  expect_reported([] { mpi().barrier(); }, [] { (void)mpi().gather("x"); },
                  {"rank 0 at a barrier", "rank 1 at a gather"});
  std::string text = "x";
  expect_reported([&] { mpi().broadcast(text); }, [] { (void)mpi().first_failure(std::nullopt); },
                  {"rank 0 at a broadcast", "rank 1 at a maximum"});
  EXPECT_EQ(text, "x");
}

TEST_F(Diverging, OneAmongManyIsTold) {
  const int last = mpi().ranks() - 1;
  const std::string fault = fault_of([&] { mpi().rank() == last ? sum(1) : mpi().barrier(); });
  EXPECT_NE(fault.find("rank " + std::to_string(last) + " at a sum"), std::string::npos) << fault;
}

class DivergingExchanges : public Diverging {
 protected:
  void SetUp() override {
    Diverging::SetUp();
    if (!mpi().checks()) GTEST_SKIP() << "only where exchanges are compared";
    transport = make_mpi_transport(mpi(), mpi().ranks());
  }
  std::unique_ptr<Transport> transport;
};

TEST_F(DivergingExchanges, AlikeAreDone) {
  EXPECT_TRUE(transport->compares_steps());
  for (std::int64_t step = 0; step < 5; ++step) go_round(*transport, step, "gather", 8, 8);
}

TEST_F(DivergingExchanges, StepsAreTold) {
  expect_reported([&] { go_round(*transport, 4, "", 8, 8); }, [&] { go_round(*transport, 5, "", 8, 8); },
                  {"rank 0 at exchange 4", "rank 1 at exchange 5"});
}

TEST_F(DivergingExchanges, ReducersAreTold) {
  expect_reported([&] { go_round(*transport, 4, "gather @pre(add)", 8, 8); },
                  [&] { go_round(*transport, 4, "gather @pre(max)", 8, 8); }, {"@pre(add)", "@pre(max)"});
}

TEST_F(DivergingExchanges, ACollectiveInsteadIsTold) {
  expect_reported([&] { go_round(*transport, 4, "gather", 8, 8); }, [] { mpi().barrier(); },
                  {"rank 0 at exchange 4", "rank 1 at a barrier"});
}

TEST_F(DivergingExchanges, CountsAreTold) {
  const std::int64_t out = mpi().rank() == 0 ? 12 : 8;
  const std::string fault = fault_of([&] { go_round(*transport, 4, "gather", out, 8); });
  EXPECT_NE(fault.find("exchange 4 (gather): rank 0 sends 12 bytes, and rank 1 awaits 8"), std::string::npos) << fault;
}

TEST_F(DivergingExchanges, WhatNobodySendsIsTold) {
  const std::int64_t out = mpi().rank() == 0 ? 0 : 8;
  const std::string fault = fault_of([&] { go_round(*transport, 4, "", out, 8); });
  EXPECT_NE(fault.find("rank 0 sends 0 bytes, and rank 1 awaits 8"), std::string::npos) << fault;
}

}  // namespace
}  // namespace kasen
