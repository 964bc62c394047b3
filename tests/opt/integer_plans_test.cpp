// Random programs: every plan of them is valid, survives its own text, and computes the same bits as the program, on
// any number of workers, with the bytes that were predicted.
#include <gtest/gtest.h>

#include "libcore/laws.h"
#include "libopt/optimize.h"
#include "libopt/run_report.h"
#include "tests/opt/random_data.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

struct Mode {
  Strategy strategy;
  SyncMode sync;
};

constexpr Mode modes[] = {{Strategy::none, SyncMode::lazy},    {Strategy::none, SyncMode::eager},
                          {Strategy::none, SyncMode::hybrid},  {Strategy::greedy, SyncMode::lazy},
                          {Strategy::greedy, SyncMode::eager}, {Strategy::greedy, SyncMode::hybrid}};

void check(std::uint64_t seed, int operators) {
  const Module program = testing::RandomProgram(seed).make(operators);
  TrialLawChecker laws;
  require_valid(program, laws);
  std::vector<std::vector<Part>> data;
  for (const int workers : {1, 2, 4}) {
    data.push_back(
        testing::split(testing::random_data(program, workers, 12 + static_cast<std::int64_t>(seed % 20), 40, seed)));
  }
  for (const Mode& mode : modes) {
    SCOPED_TRACE("mode " + std::to_string(static_cast<int>(mode.strategy)) +
                 std::to_string(static_cast<int>(mode.sync)));
    OptimizeOptions options;
    options.strategy = mode.strategy;
    options.sync = mode.sync;
    const Module plan = optimize(program, laws, options);
    const std::string text = print_module(plan);
    ASSERT_EQ(print_module(parse_module(text, "plan.kir")), text);
    for (const std::vector<Part>& parts : data) {
      SCOPED_TRACE(std::to_string(parts.size()) + " workers");
      const auto wanted = interpret(program, whole_inputs(parts));
      const RunResult result = testing::run_simulated(plan, parts);
      const Check check = check_against(plan, sizes_from_parts(plan, parts), make_run_report(plan, result));
      EXPECT_TRUE(check.mismatches.empty()) << check_text(plan, check);
      for (const Output& output : result.outputs) {
        testing::expect_same(output.name, output.type.element, testing::whole_words(plan, output, parts),
                             testing::words_of(wanted.at(output.name)), 0);
      }
    }
  }
}

class IntegerPlans : public ::testing::TestWithParam<int> {};
// Tens of seeds: the quick tests take the first 300 programs, the long ones 20,000.
INSTANTIATE_TEST_SUITE_P(Quick, IntegerPlans, ::testing::Range(0, 30));
INSTANTIATE_TEST_SUITE_P(Long, IntegerPlans, ::testing::Range(30, 2000));

TEST_P(IntegerPlans, ComputeWhatTheProgramSays) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 10 + i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(seed, 4 + static_cast<int>(seed % 16));
  }
}

}  // namespace
}  // namespace kasen
