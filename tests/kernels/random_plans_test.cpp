// Plans of random integer programs run with generated kernels give the bits of the plain interpreter, whatever the
// strategy, the mode, the workers and the threads.
#include <gtest/gtest.h>

#include "libcore/laws/laws.h"
#include "libopt/optimize/optimize.h"
#include "tests/opt/random_data.h"
#include "tests/support/generated.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

void check(std::uint64_t seed) {
  const Module program = testing::RandomProgram(seed).make(4 + static_cast<int>(seed % 16));
  TrialLawChecker laws;
  OptimizeOptions options;
  options.strategy = seed % 4 == 0 ? Strategy::none : Strategy::greedy;
  options.epilogue = seed % 5 < 3;
  options.sync = std::array{SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}[seed % 3];
  const Module plan = optimize(program, laws, options);
  const int workers = 1 + static_cast<int>(seed % 4);
  const std::vector<Part> parts = testing::split(testing::random_data(program, workers, 40, 150, seed));
  const auto wanted = interpret(program, whole_inputs(parts));
  for (const int threads : {1, 2}) {
    const auto transport = make_simulated_transport(workers);
    const auto kernels = testing::make_kernels({.threads = threads});
    const RunResult result = execute(plan, parts, *transport, *kernels, {});
    for (const Output& output : result.outputs) {
      testing::expect_same(output.name, output.type.element, testing::whole_words(plan, output, parts),
                           testing::words_of(wanted.at(output.name)), 0);
    }
  }
}

class GeneratedPlans : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, GeneratedPlans, ::testing::Range(0, 6));

TEST_P(GeneratedPlans, ComputeWhatTheProgramSays) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) {
    const auto seed = static_cast<std::uint64_t>(100000 + GetParam() * 10 + i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(seed);
  }
}

}  // namespace
}  // namespace kasen
