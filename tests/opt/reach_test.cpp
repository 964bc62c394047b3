// The reach of a product's reads against orders whose distances are known: at random, along a band, and one after
// another; and what it changes of predicted times.
#include "libopt/cost/reach.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "libopt/cost/sizes.h"
#include "libopt/time/times.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

constexpr double near_indices = near_span / 8;

std::vector<std::int32_t> at_random(std::int64_t indices, std::int64_t reads, std::int32_t from = 0) {
  std::mt19937_64 random(7);
  std::vector<std::int32_t> read;
  for (std::int64_t i = 0; i < reads; ++i)
    read.push_back(from + static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(indices)));
  return read;
}

TEST(Reach, OfReadsAtRandomIsTheirVector) {
  for (const std::int64_t indices : {std::int64_t{1} << 18, std::int64_t{1} << 20, std::int64_t{1} << 21}) {
    const auto read = at_random(indices, 4 * indices);
    EXPECT_NEAR(reach_of(read, indices) / static_cast<double>(indices), 1, 0.12) << indices;
    // Elements that nothing reads do not count.
    EXPECT_NEAR(reach_of(read, 4 * indices) / static_cast<double>(indices), 1, 0.12) << indices;
  }
}

TEST(Reach, OfReadsNearbyIsNear) {
  constexpr std::int64_t indices = 1 << 20;
  std::vector<std::int32_t> band;
  std::mt19937_64 random(8);
  for (std::int32_t row = 0; row < indices - 512; ++row) {
    for (int k = 0; k < 8; ++k) band.push_back(row + static_cast<std::int32_t>(random() % 512));
  }
  EXPECT_LT(reach_of(band, indices), 1.5 * near_indices);
  // Each line is as good as read by the first of its eight elements.
  std::vector<std::int32_t> ascending;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int32_t i = 0; i < indices; ++i) ascending.push_back(i);
  }
  EXPECT_LT(reach_of(ascending, indices), 3 * near_indices);
}

TEST(Reach, GrowsWithTheShareOfFarReads) {
  constexpr std::int64_t indices = 1 << 21, reads = 1 << 22;
  const auto near = at_random(1 << 12, reads), far = at_random(indices, reads);
  double before = 0;
  for (const int of_eight : {0, 1, 2, 4, 8}) {
    std::vector<std::int32_t> mixed;
    for (std::size_t i = 0; i < near.size(); ++i)
      mixed.push_back(static_cast<int>(i % 8) < of_eight ? far[i] : near[i]);
    const double reach = reach_of(mixed, indices);
    EXPECT_GT(reach, before) << of_eight;
    before = reach;
  }
}

TEST(Reach, OfFewReads) {
  EXPECT_EQ(reach_of(std::vector<std::int32_t>{}, 0), 0);
  EXPECT_EQ(reach_of(std::vector<std::int32_t>{}, 100), 0);
  EXPECT_EQ(reach_of(std::vector<std::int32_t>{5}, 6), 6);
  EXPECT_EQ(reach_of(std::vector<std::int32_t>{0, 0, 0}, 1), 1);
  EXPECT_EQ(reach_of(at_random(100, 1000), 100), 100);
}

// Eight nonzeros a row, along the diagonal or at random.
Part part_with(std::int64_t size, bool ordered) {
  constexpr std::int64_t a_row = 8;
  Part part;
  for (const char* name : {"M", "N"}) {
    part.dims[name].size = size;
    part.dims[name].masters = IndexList::run(0, size);
  }
  PartMatrix matrix{"M", "N", ElementType::of(Scalar::null), {0}, {}, {}, {}, {}};
  std::mt19937_64 random(9);
  for (std::int64_t row = 0; row < size; ++row) {
    for (std::int64_t k = 0; k < a_row; ++k) {
      const auto at =
          ordered ? std::min(row, size - a_row) + k
                  : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size / a_row)) + k * (size / a_row);
      matrix.columns.push_back(static_cast<std::int32_t>(at));
    }
    matrix.row_pointers.push_back(std::ssize(matrix.columns));
  }
  part.matrices["G"] = std::move(matrix);
  part.arrays["x"] = {{"N"}, Array(ElementType::of(Scalar::f64), size)};
  return part;
}

TEST(Reach, OfAMatrixIsThatOfItsAxis) {
  constexpr std::int64_t size = 1 << 18;
  Part part = part_with(size, false);
  // Rows in their order read columns at random. So do columns, whose rows are at random, too.
  EXPECT_NEAR(reach_of(part, part.matrices.at("G"), Axis::cols), 1, 0.15);
  EXPECT_NEAR(reach_of(part, part.matrices.at("G"), Axis::rows), 1, 0.15);
  part = part_with(size, true);
  EXPECT_LT(reach_of(part, part.matrices.at("G"), Axis::cols), 0.2);
  EXPECT_LT(reach_of(part, part.matrices.at("G"), Axis::rows), 0.2);
  // One column and many rows: the rows are read in order.
  PartMatrix& tall = part.matrices.at("G");
  std::fill(tall.columns.begin(), tall.columns.end(), 0);
  EXPECT_LT(reach_of(part, tall, Axis::rows), 1.3 * near_indices / static_cast<double>(size) * 4);
  EXPECT_LT(reach_of(part, tall, Axis::cols), 0.2);
}

TEST(Reach, NearReadsArePredictedFaster) {
  const Module plan = kasen::plan(compile("dim M, N\ninput G : null[M, N], x : f64[N]\ny = G @ x\noutput y\n"),
                                  Strategy::greedy, SyncMode::hybrid);
  ASSERT_EQ(axes_read(plan), (std::set<SlaveAtom>{{"G", Axis::cols}}));
  MachineProfile machine;
  machine.memory_bandwidth = machine.cache_bandwidth = 1e30;
  machine.operation = {};
  machine.loop_latency = 0;
  machine.near_entry = 1e-9;
  machine.middle_entry = 2e-9;
  machine.far_entry = 4e-9;
  constexpr std::int64_t size = 1 << 20;  // a vector of 8 MiB
  const auto seconds = [&](bool ordered) {
    SizesBuilder builder(plan);
    builder.add(part_with(size, ordered));
    const Sizes sizes = builder.finish("a part");
    const auto time = predicted_times(plan, &sizes, machine).program;
    return time ? time->sum() : 0;
  };
  EXPECT_NEAR(seconds(false), 8 * size * 2e-9, 0.05 * 8 * size * 2e-9);
  EXPECT_NEAR(seconds(true), 8 * size * 1e-9, 0.1 * 8 * size * 1e-9);
}

}  // namespace
}  // namespace kasen
