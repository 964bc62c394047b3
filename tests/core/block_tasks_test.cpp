// The tasks of a region of blocks: sums of products in place, and rounds.
#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/blocks/join_sums.h"
#include "libcore/ir/module.h"
#include "tests/core/text_cases.h"

namespace kasen {
namespace {

using testing::replaced;

// A product whose two blocks have three contributions each.
const std::string product = R"(kir 2 level 3
module m {
  mesh a = 2
  dim N
  dim K
  dim M
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn add(x: f64, y: f64) -> f64 = x + y
  buffer ~b0 : f64[N/a,M]
  %A = input "A" : f64[N/a,K] @part
  %B = input "B" : f64[K/a,M] @part
  %C = region blocks[N 2, K 3] (%p : f64[N,K] @cons = %A, %q : f64[K,M] @cons = %B) : f64[N/a,M] @part ~b0 {
    %c = contract[mul, add; ij, jk -> ik] %p, %q on [0, 0, 0, 1, 0, 1] tree [(0, 1, 0), (3, 2, 0), (0, 2, 1), (1, 3, 1)] : f64[N,M] @cons
    yield %c
  }
  output "C" %C
}
##end
)";

struct Tasks {
  Module module;
  BlockTasks before, after;
};

Tasks tasks_of(const std::string& text) {
  Tasks tasks{parse_module(text, "test.kir"), {}, {}};
  for (Dimension& dim : tasks.module.dims) dim.size = 12;
  const Op& region = *std::find_if(tasks.module.body.ops.begin(), tasks.module.body.ops.end(),
                                   [](const Op& op) { return op.code == OpCode::region; });
  tasks.before = block_tasks(tasks.module, region);
  tasks.after = with_joined_sums(tasks.before);
  return tasks;
}

std::int64_t additions(const BlockTasks& tasks) {
  return std::count_if(tasks.tasks.begin(), tasks.tasks.end(), [](const BlockTask& task) { return task.adds; });
}

std::int64_t onto(const BlockTasks& tasks) {
  return std::count_if(tasks.tasks.begin(), tasks.tasks.end(), [&](const BlockTask& task) {
    return tasks.variants[static_cast<std::size_t>(task.variant)].onto;
  });
}

TEST(BlockTasks, AContributionOfTheSameWorkerIsReducedOntoTheSum) {
  const Tasks tasks = tasks_of(product);
  EXPECT_EQ(tasks.before.tasks.size(), 10U);
  EXPECT_EQ(additions(tasks.before), 4);
  // Of the first block all contributions are in one chain; to the second one another worker contributes.
  EXPECT_EQ(tasks.after.tasks.size(), 7U);
  EXPECT_EQ(additions(tasks.after), 1);
  EXPECT_EQ(onto(tasks.after), 3);
  EXPECT_EQ(tasks.after.objects.size(), 9U + 4U);  // blocks of operands; the first sum; two terms of the other, and it
  EXPECT_EQ(tasks.after.variants.size(), 3U);
}

TEST(BlockTasks, TasksThatMakeOneBlockRunOneBehindTheOther) {
  const Tasks tasks = tasks_of(product);
  const int block = tasks.after.results.at(0).at(0);
  std::vector<int> rounds;
  for (const BlockTask& task : tasks.after.tasks) {
    if (task.makes == block) rounds.push_back(task.round);
  }
  EXPECT_EQ(rounds, (std::vector{0, 1, 2}));
  EXPECT_EQ(tasks.after.objects[static_cast<std::size_t>(block)].round, 2);
  EXPECT_EQ(tasks.after.rounds, 3);
}

TEST(BlockTasks, AnotherWorkersSumIsAddedByItself) {
  const Tasks tasks = tasks_of(replaced(product, "(0, 2, 1), (1, 3, 1)", "(0, 1, 0), (2, 3, 0)"));
  // Neither addition is where its contribution is: worker 1 makes the first and the third one.
  EXPECT_EQ(additions(tasks.after), 2);
  EXPECT_EQ(onto(tasks.after), 2);
}

}  // namespace
}  // namespace kasen
