// Packings of buffers: known smallest pools, all canonical packings of small lists, cut rectangles, networks, files.
#include "libopt/packing/packing.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <numeric>

#include "libcore/base/error.h"
#include "libopt/packing/ascent.h"
#include "libopt/packing/greedy.h"
#include "libopt/packing/read.h"
#include "libopt/packing/search.h"
#include "tests/opt/packing_cases.h"

namespace kasen::packing {
namespace {

using testing::Cutting;
using testing::Random;

Packing packed(const std::vector<Buffer>& buffers, const Options& options = {}) {
  Packing packing = pack(buffers, options);
  require_valid(buffers, packing);
  return packing;
}

void expect_best(const std::vector<Buffer>& buffers, std::int64_t size) {
  const Packing packing = packed(buffers);
  EXPECT_EQ(packing.size, size);
  EXPECT_TRUE(packing.is_certified());
}

// Places buffers in every order, each on the floor or on the top of one before it that it meets.
class AllPackings {
 public:
  explicit AllPackings(const std::vector<Buffer>& buffers) : buffers_(buffers), offsets_(buffers.size(), -1) {
    place(0, 0);
  }
  [[nodiscard]] std::int64_t least() const { return least_; }

 private:
  [[nodiscard]] bool meet(std::size_t a, std::size_t b) const {
    return buffers_[a].lower < buffers_[b].upper && buffers_[b].lower < buffers_[a].upper;
  }

  [[nodiscard]] bool fits(std::size_t i, std::int64_t offset) const {
    for (std::size_t j = 0; j < buffers_.size(); ++j) {
      if (j == i || offsets_[j] < 0 || !meet(i, j)) continue;
      if (offset < offsets_[j] + buffers_[j].size && offsets_[j] < offset + buffers_[i].size) return false;
    }
    return true;
  }

  void place(std::size_t count, std::int64_t size) {
    if (size >= least_) return;
    if (count == buffers_.size()) least_ = size;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (offsets_[i] >= 0) continue;
      std::vector<std::int64_t> choices{0};
      for (std::size_t j = 0; j < buffers_.size(); ++j) {
        if (offsets_[j] >= 0 && meet(i, j))
          choices.push_back(aligned_up(offsets_[j] + buffers_[j].size, buffers_[i].alignment));
      }
      for (const std::int64_t offset : choices) {
        if (!fits(i, offset)) continue;
        offsets_[i] = offset;
        place(count + 1, std::max(size, offset + buffers_[i].size));
        offsets_[i] = -1;
      }
    }
  }

  const std::vector<Buffer>& buffers_;
  std::vector<std::int64_t> offsets_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
};

std::vector<Buffer> random_buffers(Random& random, std::int64_t count, bool aligned) {
  std::vector<Buffer> buffers;
  const std::int64_t times = random.between(3, 9), sizes = random.between(2, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t lower = random.between(0, times - 1);
    buffers.push_back({std::to_string(i), lower, random.between(lower + 1, times), random.between(1, sizes),
                       aligned ? std::int64_t{1} << random.between(0, 3) : 1});
  }
  return buffers;
}

TEST(Packing, KnownPools) {
  expect_best({}, 0);
  expect_best({{"empty", 0, 5, 0}}, 0);
  expect_best({{"a", 0, 5, 7}}, 7);
  expect_best({{"a", 0, 5, 7}, {"b", 5, 9, 4}}, 7);
  expect_best({{"a", 0, 5, 7}, {"b", 4, 9, 4}, {"empty", 0, 9, 0}}, 11);
  expect_best({{"a", -3, 5, 3, 8}, {"b", 4, 9, 4, 8}, {"c", 4, 5, 1, 8}}, 17);
  std::vector<Buffer> all, chain;
  for (int i = 0; i < 60; ++i) all.push_back({"all", i, 100, 3 + i % 7});
  expect_best(all, largest_live_set(all));
  for (int i = 0; i < 200; ++i) chain.push_back({"chain", i, i + 2, i % 2 == 0 ? 5 : 3});
  expect_best(chain, 8);
}

// Each meets the next two, and the last ones meet the first, which lives on: the live sets alone say 6, and no packing
// of equal sizes needs more.
TEST(Packing, Ring) {
  std::vector<Buffer> ring{{"long", 0, 40, 2}};
  for (int i = 0; i < 38; ++i) ring.push_back({"ring", i, i + 2, 2});
  expect_best(ring, 6);
}

TEST(Packing, EqualsAllPackings) {
  Random random(1);
  int above_bound = 0;
  for (int i = 0; i < 6000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<Buffer> buffers = random_buffers(random, i % 30 == 0 ? 7 : random.between(1, 6), i % 3 == 0);
    const std::int64_t least = AllPackings(buffers).least();
    expect_best(buffers, least);
    above_bound += least > largest_live_set(buffers);
  }
  EXPECT_GT(above_bound, 20);
}

// The exact searches alone, against all packings: within the least pool, and within one byte less.
TEST(Packing, SearchDecides) {
  Random random(2);
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const std::vector<Buffer> buffers = random_buffers(random, random.between(2, 6), i % 2 == 0);
    const std::int64_t least = AllPackings(buffers).least();
    std::int64_t steps = 100000;
    bool below = true, ascends_below = true;
    for (const Problem& part : parts_of(buffers)) {
      Ascent ascent(part);
      EXPECT_EQ(ascent.run(least / part.unit, steps), Verdict::found);
      EXPECT_LE(pool_size(part, ascent.offsets()) * part.unit, least);
      ascends_below = ascends_below && ascent.run((least - 1) / part.unit, steps) == Verdict::found;
      Search search(part);
      EXPECT_EQ(search.run(least / part.unit, steps), Verdict::found);
      EXPECT_LE(pool_size(part, search.offsets()) * part.unit, least);
      below = below && search.run((least - 1) / part.unit, steps) == Verdict::found;
    }
    EXPECT_FALSE(below);
    EXPECT_FALSE(ascends_below);
    EXPECT_GT(steps, 0);
  }
}

TEST(Packing, HeuristicsHold) {
  Random random(3);
  for (int i = 0; i < 40; ++i) {
    const std::vector<Buffer> buffers = i % 2 == 0 ? testing::cut_rectangle(random, {.pieces = 120, .times = 60})
                                                   : testing::training_network(random, 60);
    for (const Problem& part : parts_of(buffers)) {
      for (const Ranks& ranks : orders_of(part)) {
        for (const Offsets& offsets : {place_in_order(part, ranks, Fit::first), place_in_order(part, ranks, Fit::best),
                                       place_lowest(part, ranks)}) {
          Offsets settled = offsets;
          settle(part, settled);
          EXPECT_LE(pool_size(part, settled), pool_size(part, offsets));
          EXPECT_GE(pool_size(part, settled), part.bound);
        }
      }
    }
    EXPECT_LE(packed(buffers, {.steps = 1000}).size, packed(buffers, {.steps = 0}).size);
  }
}

// Rectangles without waste, and with holes beside one full moment: the pool is exactly theirs.
TEST(Packing, CutRectangles) {
  Random random(4);
  for (int i = 0; i < 10; ++i) {
    SCOPED_TRACE(i);
    expect_best(testing::cut_rectangle(random, {.pieces = 60, .times = 100}), testing::pool);
    expect_best(testing::cut_with_holes(random, {.pieces = 100, .times = 100}, 15), testing::pool);
    expect_best(testing::cut_with_holes(random, {.pieces = 200, .times = 60, .unit = 8192}, 40), testing::pool);
  }
}

// Schedules of a few sizes, full at some moments.
TEST(Packing, Planted) {
  Random random(9);
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(i);
    const Options options{.capacity = testing::pool, .steps = 200'000};
    EXPECT_EQ(packed(testing::planted(random, {.buffers = 150, .unit = 4096, .most = 40}), options).size,
              testing::pool);
    EXPECT_EQ(packed(testing::planted(random, {.buffers = 250, .unit = 1024, .most = 100}), options).size,
              testing::pool);
  }
}

// The generator keeps its word: what it makes fits into the pool, which one moment fills.
TEST(Packing, Programs) {
  Random random(11);
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    const std::vector<Buffer> buffers = testing::program_buffers(random, 60);
    EXPECT_EQ(largest_live_set(buffers), testing::pool);
    expect_best(buffers, testing::pool);
  }
}

TEST(Packing, Networks) {
  Random random(5);
  for (const std::int64_t layers : {40, 100, 380}) {
    const std::vector<Buffer> buffers = testing::training_network(random, layers);
    expect_best(buffers, largest_live_set(buffers));
  }
}

TEST(Packing, Capacity) {
  Random random(6);
  const std::vector<Buffer> buffers = testing::cut_rectangle(random, {.pieces = 50, .times = 100});
  EXPECT_LE(packed(buffers, {.capacity = testing::pool}).size, testing::pool);
  EXPECT_LE(packed(buffers, {.capacity = 2 * testing::pool}).size, 2 * testing::pool);
  const Packing none = packed(buffers, {.capacity = testing::pool - 1});
  EXPECT_GT(none.bound, testing::pool - 1);
}

TEST(Packing, Deterministic) {
  Random random(7);
  std::vector<Buffer> buffers = testing::cut_rectangle(random, {.pieces = 150, .times = 60});
  const Options options{.steps = 3000};
  const Packing one = packed(buffers, options), again = packed(buffers, options);
  EXPECT_EQ(one.offsets, again.offsets);
  EXPECT_EQ(one.steps, again.steps);
  EXPECT_LE(one.steps, options.steps);
  for (unsigned seed = 1; seed < 4; ++seed) {
    std::shuffle(buffers.begin(), buffers.end(), std::mt19937(seed));
    const Packing other = packed(buffers, options);
    EXPECT_EQ(other.size, one.size);
    EXPECT_EQ(other.bound, one.bound);
  }
}

void expect_refused(const std::vector<Buffer>& buffers, ExitStatus status) {
  try {
    (void)pack(buffers);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), status) << error.what();
  }
}

TEST(Packing, Refused) {
  constexpr std::int64_t huge = std::int64_t{1} << 62, most = std::numeric_limits<std::int64_t>::max();
  expect_refused({{"a", 3, 3, 1}}, ExitStatus::bad_input);
  expect_refused({{"a", 4, 3, 1}}, ExitStatus::bad_input);
  expect_refused({{"a", 0, 3, -1}}, ExitStatus::bad_input);
  expect_refused({{"a", 0, 3, 1, 0}}, ExitStatus::bad_input);
  expect_refused({{"a", 0, 3, huge}, {"b", 0, 3, huge}}, ExitStatus::limit);
  expect_refused({{"a", 0, 3, huge}}, ExitStatus::limit);
  expect_refused({{"a", 0, 3, 1, most}, {"b", 0, 3, most}}, ExitStatus::limit);
  expect_refused(std::vector<Buffer>(6000, {"a", 0, 3, 1}), ExitStatus::limit);
  expect_best({{"a", 0, 3, huge / 8}, {"b", 0, 3, huge / 8}}, huge / 4);
}

TEST(Packing, CheckerRefuses) {
  const std::vector<Buffer> buffers{{"a", 0, 2, 4, 4}, {"b", 1, 3, 4}};
  require_valid(buffers, {{0, 4}, 8, 8});
  EXPECT_THROW(require_valid(buffers, {{0, 3}, 8, 8}), InternalError);
  EXPECT_THROW(require_valid(buffers, {{2, 6}, 10, 8}), InternalError);
  EXPECT_THROW(require_valid(buffers, {{0, 4}, 9, 8}), InternalError);
  EXPECT_THROW(require_valid(buffers, {{0, 4}, 8, 9}), InternalError);
  EXPECT_THROW(require_valid(buffers, {{0, 4}, 8, 7}), InternalError);
  EXPECT_THROW(require_valid(buffers, {{0}, 8, 8}), InternalError);
}

TEST(Packing, ReadsAndWrites) {
  const std::vector<Buffer> buffers = read_buffers("size,id,upper,lower,offset\n 8 ,a,5,0,9\r\n\n4,b,7,-2,\n", "b.csv");
  ASSERT_EQ(buffers.size(), 2U);
  EXPECT_EQ(buffers[0].name, "a");
  EXPECT_EQ(buffers[1].lower, -2);
  const Packing packing = packed(buffers);
  const std::string text = buffers_csv(buffers, packing);
  EXPECT_EQ(buffers_csv(read_buffers(text, "again.csv"), packing), text);
}

void expect_place(std::string_view text, int line, int column) {
  try {
    (void)read_buffers(text, "b.csv");
    FAIL() << "accepted: " << text;
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    EXPECT_EQ(error.diagnostics().at(0).where, (Location{"b.csv", line, column})) << error.what();
  }
}

TEST(Packing, RefusesFiles) {
  expect_place("", 0, 0);
  expect_place("id,lower,upper\n", 1, 1);
  expect_place("id,lower,upper,sise\n", 1, 16);
  expect_place("id,lower,upper,size,id\n", 1, 21);
  expect_place("id,lower,upper,size\na,0,1\n", 2, 5);
  expect_place("id,lower,upper,size\na,0,x,1\n", 2, 5);
  expect_place("id,lower,upper,size\na,0,1,99999999999999999999\n", 2, 7);
  expect_place("id,lower,upper,size\na,0,1,-4\n", 2, 7);
  expect_place("id,lower,upper,size\n\na,3, 3,4\n", 3, 6);
  expect_place("id,lower,upper,size,alignment\na,0,1,4,0\n", 2, 9);
  expect_place("id,lower,upper,size\n" + std::string(70000, 'a'), 2, 1);
}

// How many of a kind are packed without waste, from the smallest lists up.
TEST(LongPacking, CutRectangles) {
  for (const std::size_t pieces : {50, 100, 150, 200, 300, 450}) {
    for (const std::int64_t missing : {0, 15}) {
      Random random(8);
      int solved = 0;
      for (int i = 0; i < 10; ++i) {
        const std::vector<Buffer> buffers = testing::cut_with_holes(random, {.pieces = pieces, .times = 200}, missing);
        solved += packed(buffers, {.steps = 100'000}).is_certified();
      }
      std::printf("%zu pieces, %d %% missing: %d of 10\n", pieces, static_cast<int>(missing), solved);
      if (pieces <= 50) {
        EXPECT_EQ(solved, 10);
      }
    }
  }
}

// Of 50 to 500 buffers, all within the same pool.
TEST(LongPacking, Programs) {
  int solved[5] = {};
  for (int i = 0; i < 100; ++i) {
    Random random(1000 + static_cast<unsigned>(i));
    const std::vector<Buffer> buffers = testing::program_buffers(random, 50 + static_cast<std::size_t>(i) * 450 / 99);
    solved[i / 20] += packed(buffers, {.capacity = testing::pool, .steps = 200'000}).size <= testing::pool;
  }
  for (int k = 0; k < 5; ++k) std::printf("programs of %d buffers or more: %d of 20\n", 50 + 91 * k, solved[k]);
  EXPECT_GE(solved[0], 14);
}

TEST(LongPacking, Planted) {
  for (const std::size_t count : {150, 250, 350, 500}) {
    Random random(10);
    int solved = 0;
    for (int i = 0; i < 10; ++i) {
      const std::vector<Buffer> buffers = testing::planted(random, {.buffers = count, .unit = 2048, .most = 50});
      solved += packed(buffers, {.steps = 200'000}).is_certified();
    }
    std::printf("%zu planted: %d of 10\n", count, solved);
    if (count <= 150) {
      EXPECT_EQ(solved, 10);
    }
  }
}

}  // namespace
}  // namespace kasen::packing
