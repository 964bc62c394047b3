// Likely branches compute what they say whether or not they run: every plan against the interpreter, with interpreted
// and generated kernels, and nothing is sent for a branch that does not run.
#include <gtest/gtest.h>

#include "tests/opt/likely_programs.h"
#include "tests/opt/run_everywhere.h"

namespace kasen {
namespace {

class LikelyBranches : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Programs, LikelyBranches, ::testing::Range(size_t{0}, testing::likely_programs().size()),
                         [](const auto& tested) { return testing::likely_programs()[tested.param].name; });

TEST_P(LikelyBranches, ComputeTheSameWhetherTheyRunOrNot) {
  const Module program = compile(testing::with_word(testing::likely_programs()[GetParam()].text, "likely"));
  for (const int workers : {1, 2, 3, 5}) {
    const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 19, 60, 3));
    const auto wanted = interpret(program, whole_inputs(parts));
    for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
      SCOPED_TRACE(::testing::Message() << workers << " workers, sync " << static_cast<int>(sync));
      run_plan(plan(program, Strategy::greedy, sync), parts, wanted, workers == 3 || sync == SyncMode::hybrid);
    }
    run_plan(plan(program, Strategy::greedy, SyncMode::hybrid, true, true), parts, wanted, true);
  }
}

// With the condition false the plan sends what it would send had nobody said `likely`.
TEST(LikelyBranch, SendsNothingInVain) {
  const std::string text = testing::likely_programs()[1].text;
  for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid, SyncMode::automatic}) {
    std::vector<std::int64_t> sent;
    for (const char* word : {"", "likely"}) {
      const Module module = plan(compile(testing::with_word(text, word)), Strategy::greedy, sync);
      const std::vector<Part> parts = testing::split(testing::random_data(module, 3, 19, 60, 3));
      sent.push_back(testing::run_simulated(module, parts).traffic.worker_bytes);
    }
    EXPECT_EQ(sent[0], sent[1]);
  }
}

}  // namespace
}  // namespace kasen
