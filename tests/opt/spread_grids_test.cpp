// Grids of blocks and their layouts over a cluster: the figures of NumS's paper, and what no grid can be.
#include <gtest/gtest.h>

#include "libcore/base/error.h"
#include "tests/opt/spread_support.h"

namespace kasen::spread {
namespace {

// Figure 4: A[2,3] of a 4 x 4 grid lies on node 1 and its worker 3, behind three other blocks of that node.
TEST(Spread, HierarchicalLayoutOfThePaper) {
  const Layout layout{{4, 4}, {2, 2}, Dealing::cyclic};
  const std::vector<WorkerId> workers = workers_of_blocks(layout, {4, 4});
  EXPECT_EQ(workers[2 * 4 + 3], WorkerId(1 * 4 + 3));
  // Every block, by the formula of section 4, counting blocks of a node as they come.
  std::map<std::int64_t, std::int64_t> seen;
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const std::int64_t node = (i % 2) * 2 + j % 2;
      EXPECT_EQ(workers[static_cast<std::size_t>(i * 4 + j)], WorkerId(node * 4 + seen[node]++ % 4));
    }
  }
}

TEST(Spread, PackedLayoutKeepsRunsTogether) {
  const Layout layout{{2, 2}, {2, 1}, Dealing::packed};
  std::vector<int> workers;
  for (const WorkerId worker : workers_of_blocks(layout, {8, 1})) workers.push_back(worker);
  EXPECT_EQ(workers, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  // With fewer blocks than nodes, and an array of fewer axes than the node grid.
  EXPECT_EQ(workers_of_blocks({{4, 2}, {2, 2}, Dealing::packed}, {2}), (std::vector{WorkerId(0), WorkerId(4)}));
  EXPECT_EQ(workers_of_blocks({{4, 2}, {2, 2}, Dealing::cyclic}, {3}),
            (std::vector{WorkerId(0), WorkerId(4), WorkerId(1)}));
  EXPECT_EQ(workers_of_blocks({{4, 2}, {2, 2}, Dealing::cyclic}, {}), std::vector{WorkerId(0)});
}

// 100 MB are cut, less is not. The numbers below are what NumS's rule gives in NumPy, written by hand:
// shape 10^8 x 8 on 512 workers: the weights are softmax(16, 1) x (1, 8e-8), so that all 512 go to the rows.
TEST(Spread, DefaultGridOfTheCode) {
  EXPECT_EQ(shares_grid({12'499'999}, 8, {4}, 16), Grid{1});
  EXPECT_EQ(shares_grid({12'500'000}, 8, {4}, 16), Grid{16});
  EXPECT_EQ(shares_grid({100'000'000, 8}, 8, {16, 1}, 512), (Grid{512, 1}));
  // Equal axes of a square node grid: 16^(1/2) each.
  EXPECT_EQ(shares_grid({10'000, 10'000}, 8, {2, 2}, 16), (Grid{4, 4}));
  // 10^(1/2) = 3.16: 3 each, and 0.32 go to the first, which becomes 4.
  EXPECT_EQ(shares_grid({10'000, 10'000}, 8, {2, 2}, 10), (Grid{4, 3}));
  // A 4 x 1 node grid prefers rows: e^4 / (e^4 + e) = 0.953; 16^0.953 = 14.03 and 16^0.047 = 1.14; 14.17 becomes 15.
  EXPECT_EQ(shares_grid({10'000, 10'000}, 8, {4, 1}, 16), (Grid{15, 1}));
  EXPECT_EQ(shares_grid({}, 8, {4}, 16), Grid{});
}

// The paper's example: (4, 4, 1) for 16 workers; and what raw sizes lead to, where axes differ.
TEST(Spread, DefaultGridOfThePaper) {
  EXPECT_EQ(softmax_grid({256, 256, 1}, 16), (Grid{4, 4, 1}));
  EXPECT_EQ(softmax_grid({256, 250}, 16), (Grid{16, 1}));
  EXPECT_EQ(softmax_grid({100'000'000, 256}, 512), (Grid{512, 1}));
  EXPECT_EQ(softmax_grid({2, 2}, 64), (Grid{2, 2}));  // no more blocks than elements
}

TEST(Spread, BlocksWithRemainders) {
  EXPECT_EQ(fitting_grid({10}, {4}), Grid{4});
  EXPECT_EQ(fitting_grid({10}, {6}), Grid{5});
  for (std::int64_t length = 1; length <= 40; ++length) {
    for (std::int64_t blocks = 1; blocks <= length; ++blocks) {
      const std::int64_t fitting = fitting_grid({length}, {blocks}).front();
      std::int64_t sum = 0;
      for (std::int64_t block = 0; block < fitting; ++block) {
        const std::int64_t here = block_length(length, fitting, block);
        EXPECT_GE(here, 1);
        EXPECT_LE(here, block_length(length, fitting));
        sum += here;
      }
      EXPECT_EQ(sum, length) << length << " in " << blocks;
    }
  }
}

TEST(Spread, GridsAndClustersThatNoneCanBe) {
  EXPECT_NE(fault([] { require_grid({4, 4}, {2}); }, ExitStatus::usage).find("each axis"), std::string::npos);
  fault([] { require_grid({4}, {5}); }, ExitStatus::usage);
  fault([] { require_grid({4}, {0}); }, ExitStatus::usage);
  fault([] { require_cluster({0, 4}); }, ExitStatus::usage);
  fault([] { require_cluster({4, 4, 1001}); }, ExitStatus::usage);
  fault([] { require_cluster({100'000, 100'000}); }, ExitStatus::limit);
  fault([] { require_layout({{4, 4}, {2, 3}, Dealing::cyclic}); }, ExitStatus::usage);
  fault([] { require_layout({{4, 4}, {8, 0}, Dealing::cyclic}); }, ExitStatus::usage);
  const std::string text = fault([] { require_search("ahead=9"); }, ExitStatus::usage);
  EXPECT_NE(text.find("lshs"), std::string::npos);
  for (const char* name : {"", "LSHS", "ahead=", "ahead=0", "ahead=-1", "ahead=2x"})
    fault([&] { require_search(name); }, ExitStatus::usage);
  for (const char* name : {"lshs", "ahead=1", "ahead=8", "exact"}) EXPECT_NO_THROW(require_search(name));
}

}  // namespace
}  // namespace kasen::spread
