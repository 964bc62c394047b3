// One program of many checks, started by mpirun on 1, 2 and 3 ranks: every rank runs the same tests in the same order.
// What a payload must hold is computed by both sides from (step, from, to) alone.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "libcomm/exchange/mpi_transport.h"
#include "libcomm/exchange/node_board.h"
#include "libcore/base/error.h"
#include "libcore/system/fault.h"
#include "tests/exchange/mpi_main.h"

namespace kasen {
namespace {

using testing::mpi;

std::byte payload_byte(std::int64_t step, int from, int to, std::int64_t i) {
  return static_cast<std::byte>((step * 31 + from * 7 + to * 3 + i * (1 + i / 251)) % 253);
}

// Sizes of the messages of one exchange, alike on all ranks.
using Plan = std::map<std::pair<int, int>, std::int64_t>;

Plan random_plan(std::mt19937_64& random, int workers, std::int64_t largest) {
  Plan plan;
  for (int from = 0; from < workers; ++from) {
    for (int to = 0; to < workers; ++to) {
      if (random() % 3 != 0)
        plan[{from, to}] =
            static_cast<std::int64_t>(random() % 4 == 0 ? 0 : random() % static_cast<std::uint64_t>(largest));
    }
  }
  return plan;
}

// Buffers and messages of this rank for one exchange.
struct Side {
  std::map<std::pair<int, int>, std::vector<std::byte>> sent, awaited;
  std::vector<Message> sends, receives;

  Side(const Plan& plan, const Transport& transport, std::int64_t step, bool backwards) {
    const auto local = [&](int w) {
      return w >= transport.first_worker() && w < transport.first_worker() + transport.local_workers();
    };
    for (const auto& [pair, bytes] : plan) {
      if (local(pair.first)) {
        std::vector<std::byte>& buffer = sent[pair];
        for (std::int64_t i = 0; i < bytes; ++i) buffer.push_back(payload_byte(step, pair.first, pair.second, i));
        sends.push_back({pair.first, pair.second, buffer.data(), bytes});
      }
      if (local(pair.second)) {
        std::vector<std::byte>& buffer = awaited[pair];
        buffer.resize(static_cast<size_t>(bytes));
        receives.push_back({pair.first, pair.second, buffer.data(), bytes});
      }
    }
    if (backwards) std::reverse(sends.begin(), sends.end());
  }

  void expect_arrived(std::int64_t step) const {
    for (const auto& [pair, buffer] : awaited) {
      for (size_t i = 0; i < buffer.size(); ++i) {
        ASSERT_EQ(buffer[i], payload_byte(step, pair.first, pair.second, static_cast<std::int64_t>(i)))
            << pair.first << " to " << pair.second << " byte " << i;
      }
    }
  }
};

// What the counters must be, from the plan alone.
// Pieces are no messages of their own.
Traffic count(const Plan& plan, int rank, int ranks, int workers) {
  Traffic traffic;
  std::map<int, std::int64_t> to_rank;
  for (const auto& [pair, bytes] : plan) {
    if (rank_of_worker(pair.first, ranks, workers) != rank) continue;
    if (pair.first != pair.second) traffic.worker_bytes += bytes;
    const int other = rank_of_worker(pair.second, ranks, workers);
    if (other != rank) to_rank[other] += bytes;
  }
  for (const auto& [other, bytes] : to_rank) {
    traffic.rank_bytes += bytes;
    traffic.rank_messages += bytes > 0 ? 1 : 0;
  }
  return traffic;
}

TEST(Node, GathersWhatItsRanksHave) {
  const std::vector<std::int64_t> mine{mpi().rank(), 7};
  const std::vector<std::int64_t> all = gather_on_node(mpi(), mine);
  std::vector<std::int64_t> want;  // these tests run on one node
  for (int rank = 0; rank < mpi().ranks(); ++rank) want.insert(want.end(), {rank, 7});
  EXPECT_EQ(all, want);
}

TEST(Workers, AreSpreadOverRanks) {
  for (int workers = 1; workers <= 40; ++workers) {
    for (int ranks = 1; ranks <= workers; ++ranks) {
      int next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const WorkerRange range = workers_of_rank(rank, ranks, workers);
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.count, 1);
        for (int w = range.first; w < range.first + range.count; ++w)
          EXPECT_EQ(rank_of_worker(w, ranks, workers), rank);
        next = range.first + range.count;
      }
      EXPECT_EQ(next, workers);
    }
  }
}

TEST(MpiTransport, RandomExchangesArriveAndAreCounted) {
  for (const int workers : {3, 4, 7, 16}) {
    for (const std::int64_t message_bytes : {std::int64_t{1} << 30, std::int64_t{1000}, std::int64_t{7}}) {
      std::mt19937_64 random(static_cast<std::uint64_t>(workers));
      const auto transport =
          make_mpi_transport(mpi(), workers, {.message_bytes = message_bytes, .check_messages = workers % 2 == 0});
      EXPECT_EQ(transport->workers(), workers);
      Traffic expected;
      for (std::int64_t step = 32760; step < 32775; ++step) {  // tags wrap round within
        const Plan plan = random_plan(random, workers, message_bytes == 7 ? 100 : 20000);
        Side side(plan, *transport, step, step % 2 == 0);
        transport->finish(transport->start(step, side.sends, side.receives));
        side.expect_arrived(step);
        const Traffic more = count(plan, mpi().rank(), mpi().ranks(), workers);
        expected.worker_bytes += more.worker_bytes;
        expected.rank_bytes += more.rank_bytes;
        expected.rank_messages += more.rank_messages;
      }
      EXPECT_EQ(transport->traffic().worker_bytes, expected.worker_bytes);
      EXPECT_EQ(transport->traffic().rank_bytes, expected.rank_bytes);
      EXPECT_EQ(transport->traffic().rank_messages, expected.rank_messages);
    }
  }
}

TEST(MpiTransport, AllRanksTogetherCountWhatOneProcessCounts) {
  std::mt19937_64 random(5);
  const int workers = 5;
  const auto transport = make_mpi_transport(mpi(), workers);
  std::int64_t between_workers = 0;
  for (std::int64_t step = 0; step < 10; ++step) {
    const Plan plan = random_plan(random, workers, 500);
    for (const auto& [pair, bytes] : plan) between_workers += pair.first != pair.second ? bytes : 0;
    Side side(plan, *transport, step, false);
    transport->finish(transport->start(step, side.sends, side.receives));
  }
  std::vector<std::int64_t> total{transport->traffic().worker_bytes};
  mpi().all_reduce_sum(total);
  EXPECT_EQ(total[0], between_workers);
}

TEST(MpiTransport, ExchangesMayOverlapAndFinishInAnyOrder) {
  std::mt19937_64 random(6);
  const int workers = 6;
  const auto transport = make_mpi_transport(mpi(), workers);
  for (int iteration = 0; iteration < 5; ++iteration) {
    std::vector<Side> sides;
    std::vector<int> tickets;
    for (std::int64_t step = 0; step < 4; ++step)
      sides.emplace_back(random_plan(random, workers, 300000), *transport, step, false);
    for (std::int64_t step = 0; step < 4; ++step) {
      const Side& side = sides[static_cast<size_t>(step)];
      tickets.push_back(transport->start(step, side.sends, side.receives));
    }
    for (const size_t i : {2U, 0U, 3U, 1U}) {
      transport->finish(tickets[i]);
      sides[i].expect_arrived(static_cast<std::int64_t>(i));
    }
  }
}

TEST(MpiTransport, LargePayloadsArrive) {
  const int workers = mpi().ranks() * 2;
  const auto transport = make_mpi_transport(mpi(), workers, {.message_bytes = 5000000});
  Plan plan;
  for (int from = 0; from < workers; ++from) plan[{from, (from + 1) % workers}] = 3000000 + from;
  Side side(plan, *transport, 1, false);
  transport->finish(transport->start(1, side.sends, side.receives));
  side.expect_arrived(1);
}

TEST(MpiTransport, WhatIsAlteredOnItsWayIsFound) {
  const int ranks = mpi().ranks(), before = (mpi().rank() + ranks - 1) % ranks;
  if (ranks == 1) GTEST_SKIP() << "nothing is sent";
  const auto transport = make_mpi_transport(mpi(), 2 * ranks, {.check_messages = true});
  Plan plan;  // two payloads from each rank to the next
  for (int from = 0; from < 2 * ranks; ++from) plan[{from, (from + 2) % (2 * ranks)}] = 100 + from;
  Side good(plan, *transport, 7, false);
  transport->announce("a statement");
  transport->finish(transport->start(7, good.sends, good.receives));
  good.expect_arrived(7);
  Side bad(plan, *transport, 8, false);
  transport->announce("a statement");
  const int at = transport->start(8, bad.sends, bad.receives);
  ask_for_faults("message:flip:1", "test", mpi().rank());
  try {
    transport->finish(at);
    ADD_FAILURE() << "nobody noticed";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::io);
    const std::string wanted = "exchange 8 (a statement): the bytes that rank " + std::to_string(before) +
                               " sent are not those that arrived at rank " + std::to_string(mpi().rank());
    EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
  }
  ask_for_faults("", "test", mpi().rank());
}

TEST(MpiTransport, MisuseIsFound) {
  const int workers = mpi().ranks() + 1;
  const auto transport = make_mpi_transport(mpi(), workers);
  std::byte buffer[8] = {};
  const int mine = transport->first_worker();
  const std::vector<Message> self{{mine, mine, buffer, 4}}, other_size{{mine, mine, buffer + 4, 3}}, none;
  EXPECT_THROW((void)transport->start(0, self, none), InternalError);
  EXPECT_THROW((void)transport->start(0, self, other_size), InternalError);
  EXPECT_THROW((void)transport->start(0, std::vector<Message>{{mine, workers, buffer, 4}}, none), InternalError);
  EXPECT_THROW((void)transport->start(0, std::vector<Message>{{mine, mine, buffer, -4}}, none), InternalError);
  if (mpi().ranks() > 1) {
    const int foreign = mine == 0 ? workers - 1 : 0;
    EXPECT_THROW((void)transport->start(0, std::vector<Message>{{foreign, mine, buffer, 4}}, none), InternalError);
  }
  EXPECT_THROW(transport->finish(99), InternalError);
  EXPECT_THROW((void)make_mpi_transport(mpi(), mpi().ranks() - 1), UserError);
}

// A ring of one worker a rank: every rank sends to the next.
struct Ring {
  std::byte out[16] = {}, in[16] = {};
  std::vector<Message> sends, receives;
  Ring(std::int64_t sent, std::int64_t awaited) {
    const int rank = mpi().rank(), ranks = mpi().ranks();
    sends = {{rank, (rank + 1) % ranks, out, sent}};
    receives = {{(rank + ranks - 1) % ranks, rank, in, awaited}};
  }
};

TEST(MpiTransport, RanksAtOtherExchangesAreFound) {
  if (mpi().ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const auto transport = make_mpi_transport(mpi(), mpi().ranks());
  Ring other_step(8, 8);
  if (mpi().checks()) GTEST_SKIP() << "found before anything is sent: see mpi_checks_test.cpp";
  const int at = transport->start(100 + mpi().rank(), other_step.sends, other_step.receives);
  EXPECT_THROW(transport->finish(at), InternalError);
  const auto second = make_mpi_transport(mpi(), mpi().ranks());
  Ring too_long(12, 8);
  const int longer = second->start(1, too_long.sends, too_long.receives);
  EXPECT_THROW(second->finish(longer), InternalError);
  const auto third = make_mpi_transport(mpi(), mpi().ranks());
  Ring too_short(4, 8);
  const int shorter = third->start(1, too_short.sends, too_short.receives);
  EXPECT_THROW(third->finish(shorter), InternalError);
}

TEST(Collectives, SumsMaximaBroadcastsAndGathers) {
  const std::int64_t rank = mpi().rank(), ranks = mpi().ranks();
  std::vector<std::int64_t> values{rank, -rank, std::int64_t{1} << 40};
  mpi().all_reduce_sum(values);
  EXPECT_EQ(values, (std::vector<std::int64_t>{ranks * (ranks - 1) / 2, -ranks * (ranks - 1) / 2, ranks << 40}));
  values = {rank, -rank};
  mpi().all_reduce_max(values);
  EXPECT_EQ(values, (std::vector<std::int64_t>{ranks - 1, 0}));
  mpi().all_reduce_sum({});

  std::string bytes = rank == 0 ? std::string("with a zero\0inside", 18) : "other";
  mpi().broadcast(bytes);
  EXPECT_EQ(bytes, std::string("with a zero\0inside", 18));

  const std::vector<std::string> all =
      mpi().gather(std::string(static_cast<size_t>(rank * 1000), static_cast<char>('a' + rank)));
  ASSERT_EQ(all.size(), rank == 0 ? static_cast<size_t>(ranks) : 0U);
  for (size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], std::string(r * 1000, static_cast<char>('a' + r)));
  mpi().barrier();
}

TEST(Collectives, TextsGoFromEachRankToEach) {
  const int rank = mpi().rank(), ranks = mpi().ranks();
  const auto text = [](int from, int to) {  // of many sizes, 0 among them
    return std::string(static_cast<size_t>(1000 * from + 77 * to * (from + to) % 400), static_cast<char>('a' + to));
  };
  for (const std::int64_t message_bytes : {std::int64_t{1} << 30, std::int64_t{64}}) {
    std::vector<std::string> to;
    for (int r = 0; r < ranks; ++r) to.push_back(text(rank, r));
    const std::vector<std::string> from = mpi().exchange(to, message_bytes);
    ASSERT_EQ(from.size(), static_cast<size_t>(ranks));
    for (int r = 0; r < ranks; ++r) EXPECT_EQ(from[static_cast<size_t>(r)], text(r, rank));
  }
}

TEST(Collectives, DisagreementIsFound) {
  if (mpi().ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  std::vector<std::int64_t> values(mpi().rank() == 0 ? 2 : 3);
  EXPECT_THROW(mpi().all_reduce_sum(values), InternalError);
  if (mpi().rank() == 0) {
    EXPECT_THROW(mpi().barrier(), InternalError);
  } else {
    EXPECT_THROW((void)mpi().gather("x"), InternalError);
  }
}

TEST(Collectives, TheLowestFailingRankSpeaksForAll) {
  EXPECT_FALSE(mpi().first_failure(std::nullopt).has_value());
  const int failing = mpi().ranks() - 1;
  std::optional<Failure> mine;
  if (mpi().rank() == failing) mine = Failure{mpi().rank(), ExitStatus::limit, "too large"};
  const std::optional<Failure> first = mpi().first_failure(mine);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->rank, failing);
  EXPECT_EQ(first->status, ExitStatus::limit);
  EXPECT_EQ(first->text, "too large");
  const auto all = mpi().first_failure(Failure{mpi().rank(), ExitStatus::io, std::to_string(mpi().rank())});
  EXPECT_EQ(all->text, "0");
}

TEST(Session, IsOne) { EXPECT_THROW(MpiSession(nullptr, nullptr), InternalError); }

}  // namespace
}  // namespace kasen
