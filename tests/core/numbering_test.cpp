// Spaces and pull forms, checked against what the test's own data says.
#include "libcore/kernels/numbering.h"

#include <gtest/gtest.h>

#include "libcore/kernels/local_matrix.h"
#include "tests/support/builder.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

using testing::Builder;
using testing::TestData;

const SlaveSet rows{{"G", Axis::rows}};
const SlaveSet cols{{"G", Axis::cols}};
const SlaveSet both{{"G", Axis::rows}, {"G", Axis::cols}};
const SlaveSet mixed{{"G", Axis::cols}, {"H", Axis::rows}};

TestData two_graphs(std::uint64_t seed, int workers, std::int64_t size, std::int64_t entries) {
  std::mt19937_64 random(seed);
  TestData data;
  data.workers = workers;
  data.dims["N"] = {size, false, testing::random_owners(random, size, workers)};
  data.matrices["G"] = testing::random_matrix(random, "N", "N", size, size, entries, Scalar::i64, workers);
  data.matrices["H"] = testing::random_matrix(random, "N", "N", size, size, entries, Scalar::null, workers);
  return data;
}

// N, and a value in each of the sets.
DimId declare(Builder& b) {
  const DimId n = b.dim("N");
  for (const SlaveSet& set : {rows, cols, both, mixed}) b.value("v", b.type(Scalar::f64, {n}, State::cons(set)));
  return n;
}

class NumberingTest : public ::testing::TestWithParam<int> {
 protected:
  // Every index of the set's axes that one of this worker's entries meets and that it does not own.
  std::set<std::int64_t> wanted(const SlaveSet& set, int worker) const {
    std::set<std::int64_t> slaves;
    for (const SlaveAtom& atom : set) {
      const testing::TestMatrix& m = data.matrices.at(atom.matrix);
      for (size_t e = 0; e < m.entries.size(); ++e) {
        if (m.owner[e] != worker) continue;
        const std::int64_t i = atom.axis == Axis::rows ? m.entries[e].first : m.entries[e].second;
        if (data.dims.at("N").owner[static_cast<size_t>(i)] != worker) slaves.insert(i);
      }
    }
    return slaves;
  }

  Builder b{2};
  DimId n = declare(b);
  TestData data = two_graphs(7, GetParam(), 60, 150);
  std::vector<Part> parts = testing::split(data);
  Numbering numbering{b.module, parts};
};

INSTANTIATE_TEST_SUITE_P(Workers, NumberingTest, ::testing::Values(1, 2, 3, 5));

TEST_P(NumberingTest, SpacesHoldMastersThenSlavesByOwner) {
  for (const SlaveSet& set : {SlaveSet{}, rows, cols, both, mixed}) {
    for (int p = 0; p < data.workers; ++p) {
      const LocalSpace& space = numbering.space(n, set, p);
      const auto& masters = parts[static_cast<size_t>(p)].dims.at("N").masters;
      ASSERT_EQ(space.masters, static_cast<std::int64_t>(masters.size()));
      for (std::int64_t i = 0; i < space.masters; ++i) ASSERT_EQ(space.global(i), masters[static_cast<size_t>(i)]);
      std::set<std::int64_t> slaves;
      for (std::int64_t i = space.masters; i < space.total; ++i) slaves.insert(space.global(i));
      EXPECT_EQ(slaves, wanted(set, p));
      EXPECT_EQ(space.total, space.masters + static_cast<std::int64_t>(slaves.size()));
      std::pair<int, std::int64_t> before{-1, -1};
      for (std::int64_t i = space.masters; i < space.total; ++i) {
        const std::int64_t g = space.global(i);
        const std::pair<int, std::int64_t> key{data.dims.at("N").owner[static_cast<size_t>(g)], g};
        EXPECT_LT(before, key);
        before = key;
      }
    }
  }
}

TEST_P(NumberingTest, BothSidesOfAPairListTheSameElements) {
  for (const SlaveSet& set : {rows, cols, both, mixed}) {
    for (int holder = 0; holder < data.workers; ++holder) {
      const LocalSpace& held = numbering.space(n, set, holder);
      std::int64_t covered = 0;
      for (const PeerRange& r : held.slave_owners) {
        const LocalSpace& owner = numbering.space(n, set, r.peer);
        const auto& ranges = owner.mirror_holders;
        const auto it =
            std::find_if(ranges.begin(), ranges.end(), [&](const PeerRange& m) { return m.peer == holder; });
        ASSERT_NE(it, ranges.end());
        ASSERT_EQ(it->end - it->begin, r.end - r.begin);
        for (std::int64_t i = 0; i < r.end - r.begin; ++i) {
          EXPECT_EQ(owner.global(owner.mirror(it->begin + i)), held.ghost(r.begin + i));
        }
        covered += r.end - r.begin;
      }
      EXPECT_EQ(covered, held.total - held.masters);
    }
  }
}

TEST_P(NumberingTest, InteriorMastersAreMirroredByNobody) {
  for (const SlaveSet& set : {rows, cols, both, mixed}) {
    for (int p = 0; p < data.workers; ++p) {
      const LocalSpace& space = numbering.space(n, set, p);
      for (const std::int32_t mirror : space.mirrors) EXPECT_GE(mirror, space.interior);
      EXPECT_LE(space.interior, space.masters);
      if (data.workers == 1) {
        EXPECT_EQ(space.interior, space.masters);
      }
    }
  }
}

TEST_P(NumberingTest, PullFormsHoldEveryEntryOnceInGlobalOrder) {
  for (const bool transposed : {false, true}) {
    std::multiset<std::tuple<std::int64_t, std::int64_t, std::int64_t>> made, given;
    for (int p = 0; p < data.workers; ++p) {
      const LocalSpace& operand = numbering.space(n, both, p);
      const LocalSpace& result = numbering.space(n, transposed ? rows : cols, p);
      const LocalMatrix m =
          make_local_matrix(parts[static_cast<size_t>(p)].matrices.at("G"), transposed, operand, result);
      ASSERT_EQ(m.outputs, result.total);
      ASSERT_EQ(m.inputs, operand.total);
      EXPECT_EQ(m.storage_bytes(), 8 * (m.outputs + 1) + 12 * m.entries());
      for (std::int64_t o = 0; o < m.outputs; ++o) {
        std::int64_t before = -1;
        for (std::int64_t e = m.pointers[static_cast<size_t>(o)]; e < m.pointers[static_cast<size_t>(o) + 1]; ++e) {
          const std::int64_t i = operand.global(m.indices[static_cast<size_t>(e)]), j = result.global(o);
          EXPECT_LT(before, i);
          before = i;
          made.emplace(transposed ? j : i, transposed ? i : j, m.values.as<std::int64_t>()[e]);
        }
      }
    }
    const testing::TestMatrix& g = data.matrices.at("G");
    for (size_t e = 0; e < g.entries.size(); ++e) given.emplace(g.entries[e].first, g.entries[e].second, g.values[e].i);
    EXPECT_EQ(made, given);
  }
}

TEST_P(NumberingTest, EntriesOutsideTheSpaceAreRefused) {
  if (data.workers == 1) return;
  const LocalSpace& bare = numbering.space(n, {}, 0);
  EXPECT_THROW(static_cast<void>(make_local_matrix(parts[0].matrices.at("G"), false, bare, bare)), UserError);
}

TEST(Numbering, MissingDataIsAUserError) {
  const std::vector<Part> parts = testing::split(two_graphs(1, 2, 10, 20));
  Builder dimension(2);
  dimension.value("v", dimension.type(Scalar::f64, {dimension.dim("M")}, State::part()));
  EXPECT_THROW(Numbering(dimension.module, parts), UserError);
  Builder matrix(2);
  matrix.value("v", matrix.type(Scalar::f64, {matrix.dim("N")}, State::cons({{"X", Axis::rows}})));
  EXPECT_THROW(Numbering(matrix.module, parts), UserError);
}

}  // namespace
}  // namespace kasen
