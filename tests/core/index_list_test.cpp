#include "libcore/data/index_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>

namespace kasen::testing {
namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
}

// Runs of 1 .. longest indices, with gaps between them, or back to the beginning.
std::vector<std::int64_t> random_indices(Random& random, std::int64_t runs, std::int64_t longest) {
  std::vector<std::int64_t> indices;
  std::int64_t next = 0;
  for (std::int64_t run = 0; run < runs; ++run) {
    next = below(random, 4) == 0 ? 0 : next + 1 + below(random, 5);
    for (std::int64_t left = 1 + below(random, longest); left > 0; --left) indices.push_back(next++);
  }
  return indices;
}

void expect_same(const IndexList& list, const std::vector<std::int64_t>& indices, Random& random) {
  const auto count = static_cast<std::int64_t>(indices.size());
  ASSERT_EQ(list.size(), count);
  ASSERT_EQ(list.listed(), indices);
  for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(list[i], indices[static_cast<std::size_t>(i)]);
  const std::int64_t begin = below(random, count + 1), end = begin + below(random, count - begin + 1);
  std::vector<std::int64_t> some;
  list.for_each_run(begin, end, [&](std::int64_t first, std::int64_t length) {
    ASSERT_GT(length, 0);
    for (std::int64_t i = first; i < first + length; ++i) some.push_back(i);
  });
  EXPECT_EQ(some, std::vector<std::int64_t>(indices.begin() + begin, indices.begin() + end));
}

TEST(IndexList, GivesItsIndicesBack) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<std::int64_t> indices = random_indices(random, below(random, 30), round % 2 == 0 ? 3 : 60);
    const IndexList list{std::vector<std::int64_t>(indices)};
    expect_same(list, indices, random);
    EXPECT_EQ(list, IndexList{std::vector<std::int64_t>(indices)});
    std::vector<std::int64_t> other = indices;
    other.push_back(1000);
    EXPECT_NE(list, IndexList{std::move(other)});
  }
}

TEST(IndexList, FindsIndicesThatAscend) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> indices;
    for (std::int64_t next = below(random, 3); indices.size() < static_cast<std::size_t>(round % 50);) {
      for (std::int64_t left = below(random, round % 2 == 0 ? 2 : 20); left > 0; --left) indices.push_back(next++);
      next += 1 + below(random, 4);
    }
    const IndexList list{std::vector<std::int64_t>(indices)};
    EXPECT_TRUE(std::equal(list.begin(), list.end(), indices.begin(), indices.end()));
    EXPECT_EQ(list.lower_bound(std::numeric_limits<std::int64_t>::max()), list.size());
    for (std::int64_t index = -1; index < (indices.empty() ? 3 : indices.back() + 3); ++index) {
      const auto at = std::lower_bound(indices.begin(), indices.end(), index);
      ASSERT_EQ(list.lower_bound(index), at - indices.begin()) << index;
      ASSERT_EQ(list.contains(index), at != indices.end() && *at == index) << index;
    }
  }
}

// Also of runs, and of more indices than memory holds.
TEST(IndexList, EqualListsHaveEqualIndices) {
  IndexList grown = IndexList::run(3, 4);
  grown.append_run(9, 1);
  EXPECT_EQ(grown, (IndexList{3, 4, 5, 6, 9}));
  EXPECT_NE(grown, (IndexList{3, 4, 5, 6, 8}));
  EXPECT_NE(IndexList::run(0, 5), IndexList::run(0, 4));
  EXPECT_EQ(IndexList::run(7, 0), IndexList());
  constexpr std::int64_t many = std::int64_t{1} << 60;
  EXPECT_EQ(IndexList::run(0, many), IndexList::run(0, many));
  EXPECT_NE(IndexList::run(0, many), IndexList::run(1, many));
}

TEST(IndexList, KeepsTheSmallerOfBoth) {
  std::vector<std::int64_t> run, apart;
  for (std::int64_t i = 0; i < 1000; ++i) {
    run.push_back(i + 7);
    apart.push_back(2 * i);
  }
  EXPECT_EQ(IndexList{std::move(run)}.bytes(), 16);
  EXPECT_EQ(IndexList{std::move(apart)}.bytes(), 8000);
  EXPECT_EQ(IndexList{}.bytes(), 0);
}

}  // namespace
}  // namespace kasen::testing
