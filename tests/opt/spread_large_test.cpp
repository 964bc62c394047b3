// Placements of thousands of block operators: the ablation of NumS's paper, many workers, many nodes.
#include <gtest/gtest.h>

#include <iostream>

#include "libopt/spread/bound.h"
#include "tests/opt/spread_support.h"

namespace kasen::spread {
namespace {

// ---- the ablation of section 8.5: one Newton step, 128 GB of samples of 256 features, 16 nodes of 32 workers ----

struct Ratios {
  double network = 0, memory = 0;
};

Ratios ablation(std::int64_t blocks) {
  const Arrays arrays = newton_step(rows_over(16, 32), 62'500'000, 256, blocks);
  const Loads with = placed(arrays, "lshs"), without = placed(arrays, "round-robin");
  const auto ratio = [](Load a, Load b) { return static_cast<double>(a) / static_cast<double>(b); };
  const Ratios ratios{ratio(with.in() + with.out(), without.in() + without.out()),
                      ratio(with.memory(), without.memory())};
  std::cout << blocks << " blocks: network " << ratios.network << ", memory " << ratios.memory << " of round robin\n";
  return ratios;
}

// The paper's blocks of 2 GB are 64. Also numbers of blocks that the workers do not divide.
TEST(Spread, AblationOfANewtonStep) {
  for (const std::int64_t blocks : {64, 128}) {
    const Ratios ratios = ablation(blocks);
    EXPECT_LE(ratios.network, 1.0 / 2) << blocks;
    EXPECT_LE(ratios.memory, 1.0 / 4) << blocks;
  }
  for (const std::int64_t blocks : {256, 500}) {
    const Ratios ratios = ablation(blocks);
    EXPECT_LE(ratios.network, 1.0 / 2) << blocks;
    EXPECT_LE(ratios.memory, 3.0 / 10) << blocks;
  }
  // As many blocks as workers: round robin gives all tasks of a row to one worker. So X is copied twice (for products
  // with X, and one worker on after the additions of g), beside X and WX: four parts, where LSHS has two.
  const Ratios even = ablation(512);
  EXPECT_LE(even.network, 1.0 / 2);
  EXPECT_NEAR(even.memory, 2.0 / 4, 0.01);
}

TEST(Spread, TwentyThousandOperatorsOnManyWorkers) {
  const Arrays arrays = newton_step(rows_over(16, 32), 62'500'000, 256, 1536);
  EXPECT_GT(arrays.graph().operators(), 19'900);
  const Loads lshs_loads = placed(arrays, "lshs"), ahead = placed(arrays, "ahead=2");
  const Load bound = lower_bound(arrays.graph(), {16, 32}).objective();
  EXPECT_LE(lshs_loads.objective(), bound + bound / 50);
  EXPECT_LE(ahead.objective(), bound + bound / 50);
}

// Products over many nodes: sums with terms on each of them, and blocks with copies on many.
TEST(Spread, MatrixProductOverManyNodes) {
  Arrays arrays({{64, 2}, {8, 8}, Dealing::cyclic});
  const ArrayId a = arrays.input("A", {120, 120}, {12, 12}), b = arrays.input("B", {120, 120}, {12, 12});
  arrays.output(arrays.contract("C", "ik", {{a, "ij"}, {b, "jk"}}));
  for (const char* search : {"owner", "round-robin", "lshs", "lshs-all", "ahead=2", "heft"}) {
    const Loads loads = placed(arrays, search);
    // A node that has no block of a row of A, or of a column of B, gets what it multiplies.
    EXPECT_GT(loads.between, 0) << search;
  }
  EXPECT_LT(placed(arrays, "ahead=2").objective(), placed(arrays, "round-robin").objective());
}

}  // namespace
}  // namespace kasen::spread
