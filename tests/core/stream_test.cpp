// What stays in memory of arrays on a disk, and the window through which the rest goes by.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "libcore/base/error.h"
#include "libcore/stream/passing_set.h"
#include "libcore/stream/simulated_tier.h"

namespace kasen::stream {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

constexpr std::int64_t brought = 4 * mib;

// A process of one part. `bytes`: all that it takes.
struct Shared {
  std::vector<std::int64_t> kept;
  std::int64_t window = 0, least = 0, bytes = 0;
  bool whole = false;
};

Shared shared(std::span<const ArrayOnDisk> arrays, std::span<const Passage> passages, std::int64_t room) {
  const Needs needs = needs_of(arrays, passages, brought);
  const Shares shares = share_among_parts({&needs, 1}, room, brought);
  if (shares.stay.empty()) return {.least = shares.least};
  const Residency found = keep_rows(arrays, needs, passages, shares.stay[0], shares.aside, brought);
  return {found.kept, found.window, shares.least, found.bytes + shares.aside, shares.whole};
}

TEST(Residency, KeepsWhatIsReadMost) {
  // 1000 rows of 1 MiB that are read once, and 1000 that a loop reads.
  const std::vector<ArrayOnDisk> arrays{{1000, mib}, {1000, mib}};
  const std::vector<Passage> passages{{{0}, 1, 1}, {{1}, 1, 16}};
  const std::int64_t window = 3 * mib + 16 * mib + mib;  // rows that are held, brought, and half gone
  const Shared all = shared(arrays, passages, 2000 * mib);
  EXPECT_EQ(all.kept, (std::vector<std::int64_t>{1000, 1000}));
  EXPECT_EQ(all.window, 0);
  EXPECT_EQ(all.least, window);
  const Shared most = shared(arrays, passages, 1999 * mib);
  EXPECT_EQ(most.window, 1999 * mib / 8);
  EXPECT_EQ(most.kept, (std::vector<std::int64_t>{1999 - 250 - 1000, 1000}));
  const Shared some = shared(arrays, passages, 400 * mib);
  EXPECT_EQ(some.window, 50 * mib);
  EXPECT_EQ(some.kept, (std::vector<std::int64_t>{0, 350}));
  EXPECT_EQ(some.bytes, 400 * mib);
  EXPECT_EQ(shared(arrays, passages, window).kept, (std::vector<std::int64_t>{0, 0}));
  EXPECT_TRUE(shared(arrays, passages, window - 1).kept.empty());
}

TEST(Residency, WholeArraysAreWhole) {
  const std::vector<ArrayOnDisk> arrays{{.rows = 100, .row_bytes = mib, .whole = true}, {1000, mib}};
  const std::vector<Passage> passages{{{0, 1}, 1, 1}};
  const Shared found = shared(arrays, passages, 300 * mib);
  EXPECT_EQ(found.least, 100 * mib + 20 * mib);
  EXPECT_EQ(found.kept.at(0), 100);
  EXPECT_EQ(found.kept.at(1), (200 * mib - found.window) / mib);
}

TEST(Residency, TakesNoMoreThanTheRoom) {
  std::mt19937_64 random(7);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int run = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<ArrayOnDisk> arrays;
    std::vector<Passage> passages;
    for (std::int64_t a = draw(1, 5); a > 0; --a)
      arrays.push_back({draw(0, 100000), draw(1, 5000), draw(0, 4) == 0, draw(0, 3) * mib, draw(1, 100)});
    for (std::int64_t p = draw(1, 5); p > 0; --p) {
      Passage& passage = passages.emplace_back(Passage{{}, draw(1, 5000), static_cast<double>(draw(1, 16))});
      for (int a = 0; a < static_cast<int>(arrays.size()); ++a)
        if (draw(0, 1) == 0) passage.arrays.push_back(a);
    }
    const std::int64_t room = draw(0, 1000) * mib;
    const Shared found = shared(arrays, passages, room);
    EXPECT_EQ(found.kept.empty(), found.least > room) << trial;
    if (found.kept.empty()) continue;
    ++run;
    EXPECT_LE(found.bytes, room);
    std::int64_t bytes = found.window, staging = 0;
    for (const Passage& passage : passages) {
      std::int64_t sum = 0;
      for (const int a : passage.arrays) sum += arrays[static_cast<std::size_t>(a)].staging;
      staging = std::max(staging, sum);
    }
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      bytes += found.kept[a] * arrays[a].row_bytes;
      staging = std::max(staging, arrays[a].staging);
      EXPECT_TRUE(found.kept[a] == arrays[a].rows || (!arrays[a].whole && found.kept[a] % arrays[a].unit == 0));
    }
    EXPECT_EQ(bytes + (found.whole ? 0 : staging), found.bytes) << trial;
    EXPECT_TRUE(!found.whole || found.window == 0);
    // The least is enough, and less is not.
    EXPECT_FALSE(shared(arrays, passages, found.least).kept.empty());
    if (found.least > 0) {
      EXPECT_TRUE(shared(arrays, passages, found.least - 1).kept.empty());
    }
  }
  EXPECT_GT(run, 1000);
}

// Rows go by on one part after another, so a window is needed once, and where all fits nothing goes by.
TEST(Residency, PartsOfAProcessShare) {
  const std::vector<ArrayOnDisk> small{{.rows = 25, .row_bytes = mib, .staging = 16 * mib}};
  const std::vector<Passage> passages{{{0}, 1, 16}};
  const Needs needs = needs_of(small, passages, brought);
  EXPECT_EQ(needs.window + needs.staging, 36 * mib);  // more than the array
  for (const std::int64_t parts : {1, 2, 4}) {
    const std::vector<Needs> all(static_cast<std::size_t>(parts), needs);
    EXPECT_EQ(share_among_parts(all, 0, brought).least, std::min<std::int64_t>(36, 25 * parts) * mib);
    const Shares whole = share_among_parts(all, 25 * parts * mib, brought);
    EXPECT_TRUE(whole.whole);
    EXPECT_EQ(whole.aside, 0);
    EXPECT_EQ(whole.stay, std::vector<std::int64_t>(static_cast<std::size_t>(parts), 25 * mib));
    EXPECT_FALSE(share_among_parts(all, (25 * parts + 16) * mib, brought).whole);  // rows come while they are used
    if (parts < 2) continue;
    const Shares some = share_among_parts(all, (25 * parts - 1) * mib, brought);
    EXPECT_FALSE(some.whole);
    EXPECT_EQ(some.stay,
              std::vector<std::int64_t>(static_cast<std::size_t>(parts), (25 * parts - 1 - 36) * mib / parts));
  }
  // What a small part leaves is another one's.
  const std::vector<ArrayOnDisk> large{{.rows = 1000, .row_bytes = mib, .staging = 16 * mib}};
  const Shares uneven = share_among_parts(std::vector{needs, needs_of(large, passages, brought)}, 500 * mib, brought);
  EXPECT_EQ(uneven.stay.at(0), 25 * mib);
  EXPECT_EQ(uneven.stay.at(0) + uneven.stay.at(1) + uneven.aside, 500 * mib);
}

// Pages of an array that are in memory.
std::int64_t resident_bytes(const ElementMemory& memory) {
  const std::int64_t bytes = storage_bytes(memory.element, memory.capacity);
  std::vector<unsigned char> pages(static_cast<std::size_t>((bytes + 4095) / 4096));
  if (mincore(memory.data, static_cast<std::size_t>(bytes), pages.data()) != 0) return -1;
  return 4096 * std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
}

struct Passes {
  std::int64_t rows = 200000, inner = 3, at_once = 1000, room = 2 * mib, brought = mib / 8;
  int threads = 3;
};

// Adds up an array of the rows, and sets one of them to twice the first.
class Pass {
 public:
  explicit Pass(const Passes& sizes) : s_(sizes), data_(ElementType::of(Scalar::f64), s_.rows * s_.inner) {
    std::iota(data_.as<double>(), data_.as<double>() + data_.count, 1.0);
    from_ = &set.add(data_.element, s_.rows, s_.inner, simulated_disk(data_));
    to_ = &set.add(data_.element, s_.rows, 1, *tier_);
    set.add_passage({{0, 1}, s_.at_once, 16});
    set.add_passage({{1}, 1, 16});
    const Needs needs = set.needs(s_.brought);
    const Shares shares = share_among_parts({&needs, 1}, s_.room, s_.brought);
    if (!shares.stay.empty()) set.keep(shares, 0, s_.brought);
    taken = shares.stay.empty() ? shares.least : set.kept_bytes() + shares.aside;
  }

  // Every row is there when it is entered, and no more than the room is taken.
  void write(double factor) {
    run({{&set.array(0), true, false}, {&set.array(1), false, true}},
        [&](std::int64_t r) { number(*to_, r) = factor * number(*from_, r * s_.inner); });
  }
  void add(double step) {
    run({{&set.array(1), true, true}}, [&](std::int64_t r) { number(*to_, r) += step; });
  }
  void expect(double factor, double step) {
    run({{&set.array(0), true, false}, {&set.array(1), true, false}}, [&](std::int64_t r) {
      const double x = static_cast<double>(r * s_.inner + 1);
      if (number(*from_, r * s_.inner) != x || number(*to_, r) != factor * x + step) ++wrong;
    });
  }
  static double& number(const ElementMemory& memory, std::int64_t e) {
    return reinterpret_cast<double*>(memory.data)[e];
  }

  PassingSet set;
  std::int64_t taken = 0, most = 0;
  std::atomic<std::int64_t> wrong = 0;

 private:
  template <class Row>
  void run(std::vector<PassingUse> uses, const Row& row) {
    const auto window = set.pass(std::move(uses), s_.at_once);
    std::atomic<std::int64_t> next{0};
    std::vector<std::thread> team;
    std::mutex looking;
    for (int t = 0; t < s_.threads; ++t) {
      team.emplace_back([&] {
        for (std::int64_t begin = next.fetch_add(s_.at_once); begin < s_.rows; begin = next.fetch_add(s_.at_once)) {
          const std::int64_t end = std::min(s_.rows, begin + s_.at_once);
          if (window != nullptr) window->enter(begin, end);
          for (std::int64_t r = begin; r < end; ++r) row(r);
          if (begin / s_.at_once % 8 == 0) {
            const std::scoped_lock lock(looking);
            most = std::max(most, resident_bytes(*from_) + resident_bytes(*to_));
          }
          if (window != nullptr) window->leave(begin, end);
        }
      });
    }
    for (std::thread& thread : team) thread.join();
    if (window != nullptr) window->finish();
  }

  Passes s_;
  Array data_;
  std::unique_ptr<Tier> tier_ = make_simulated_tier();
  const ElementMemory *from_ = nullptr, *to_ = nullptr;
};

TEST(Window, RowsGoByInLessMemory) {
  for (const std::int64_t room : {2 * mib, 3 * mib, 5 * mib, 9 * mib}) {
    for (const int threads : {1, 3}) {
      Pass pass({.room = room, .threads = threads});
      ASSERT_LE(pass.taken, room);
      pass.write(2);
      pass.expect(2, 0);
      pass.add(0.5);
      pass.expect(2, 0.5);
      EXPECT_EQ(pass.wrong, 0) << room;
      // Parts of a page at both ends of what is there, and the elements that share a group with others.
      EXPECT_LE(pass.most, room + 8 * SpilledElements::group * 8) << room;
      const std::int64_t f64 = 8, rows = 200000;
      const PassingArray &from = pass.set.array(0), &to = pass.set.array(1);
      // Rows that stay are read once; others by each of three passes over X, and three over the result.
      EXPECT_EQ(pass.set.read_bytes(), 3 * (rows - from.kept) * 3 * f64 + 3 * (rows - to.kept) * f64 +
                                           std::min<std::int64_t>(from.kept, rows) * 3 * f64);
      EXPECT_EQ(pass.set.written_bytes(), 2 * (rows - to.kept) * f64);
    }
  }
}

// Whether they are given back at once, or some that end in the page of the last kept one before the others.
TEST(Window, KeptElementsStay) {
  for (const std::int64_t kept : {1, 100, 511, 512, 700}) {
    for (const std::int64_t part : {0, 1, 50, 600}) {
      HeldArray held = hold_array(ElementType::of(Scalar::f64), 5000, 1);
      auto* const numbers = reinterpret_cast<double*>(held.array.memory.data);
      std::iota(numbers, numbers + 5000, 1.0);
      held.array.kept = kept;
      drop_elements(held.array, kept, kept + part);
      drop_elements(held.array, kept + part, 4000);
      for (std::int64_t e = 0; e < kept; ++e) ASSERT_EQ(numbers[e], static_cast<double>(e + 1)) << kept << ' ' << part;
      EXPECT_EQ(numbers[2000], 0);
      EXPECT_EQ(numbers[4000], 4001);
    }
  }
}

TEST(Window, WhatFitsIsReadOnce) {
  Pass pass({.room = 100 * mib});
  pass.write(3);
  pass.expect(3, 0);
  pass.add(1);
  pass.expect(3, 1);
  EXPECT_EQ(pass.wrong, 0);
  EXPECT_EQ(pass.set.read_bytes(), 200000 * 3 * 8);
  EXPECT_EQ(pass.set.written_bytes(), 0);
}

TEST(Window, RowsOfAnySize) {
  std::mt19937_64 random(3);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int trial = 0; trial < 60; ++trial) {
    Passes sizes{.rows = draw(1, 60000),
                 .inner = draw(1, 9),
                 .at_once = draw(1, 3000),
                 .room = 0,
                 .brought = draw(1, 200000),
                 .threads = static_cast<int>(draw(1, 4))};
    sizes.room = Pass(sizes).taken + draw(0, 4) * 100000;  // the least, and some more
    Pass pass(sizes);
    ASSERT_LE(pass.taken, sizes.room) << trial;
    pass.write(2);
    pass.add(1);
    pass.add(1);
    pass.expect(2, 2);
    EXPECT_EQ(pass.wrong, 0) << trial;
    EXPECT_LE(pass.most, sizes.room + 8 * SpilledElements::group * 8) << trial;
  }
}

void keep(PassingSet& set, std::int64_t room, std::int64_t at_a_time) {
  const Needs needs = set.needs(at_a_time);
  set.keep(share_among_parts({&needs, 1}, room, at_a_time), 0, at_a_time);
}

TEST(Window, AFailingDiskIsToldToAll) {
  Array data(ElementType::of(Scalar::f64), 100000);
  for (const bool loads : {true, false}) {
    const auto fails = [](std::int64_t end) {
      if (end > 60000) fail(ExitStatus::io, "the disk fails");
    };
    const auto tier = make_simulated_tier(loads ? DiskEvent() : DiskEvent(fails));
    PassingSet set;
    set.add(data.element, data.count, 1, simulated_disk(data, loads ? DiskEvent(fails) : DiskEvent()));
    set.add(data.element, data.count, 1, *tier);
    set.add_passage({{0, 1}, 4096, 1});
    keep(set, 400000, 20000);
    const auto window = set.pass({{&set.array(0), true, false}, {&set.array(1), false, true}}, 4096);
    const auto run = [&] {
      for (std::int64_t begin = 0; begin < data.count; begin += 4096) {
        const std::int64_t end = std::min(data.count, begin + 4096);
        window->enter(begin, end);
        window->leave(begin, end);
      }
      window->finish();
    };
    EXPECT_THROW(run(), UserError);
  }
}

// A kernel that forgets rows is a fault of ours, and ends nothing but the run.
TEST(Window, RowsThatNobodyLeavesAreToldOf) {
  Array data(ElementType::of(Scalar::f64), 100000);
  PassingSet set;
  set.add(data.element, data.count, 1, simulated_disk(data));
  set.add_passage({{0}, 4096, 1});
  keep(set, 400000, 20000);
  const auto window = set.pass({{&set.array(0), true, false}}, 4096);
  window->enter(0, 4096);
  window->leave(0, 4096);
  EXPECT_THROW(window->finish(), InternalError);
}

TEST(Window, ResultsStayInTheirFile) {
  Pass pass({.room = 2 * mib});
  pass.write(2);
  const Bytes pages = pass.set.hand_over(1, 200000);
  const auto* numbers = reinterpret_cast<const double*>(pages.data());
  for (std::int64_t r = 0; r < 200000; ++r) ASSERT_EQ(numbers[r], 2.0 * static_cast<double>(3 * r + 1)) << r;
}

}  // namespace
}  // namespace kasen::stream
