// Random programs of integers: every plan of them is valid, survives its own text, and computes the same bits as the
// program, on any number of workers, with the bytes that were predicted.
#include <gtest/gtest.h>

#include "tests/opt/plan_fault.h"
#include "tests/opt/shrink_module.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

std::optional<std::string> fault(const Module& program, std::uint64_t seed) {
  return testing::plan_fault(program, {.seed = seed, .size = 12 + static_cast<std::int64_t>(seed % 20)});
}

void check(std::uint64_t seed) {
  const Module program = testing::RandomProgram(seed).make(4 + static_cast<int>(seed % 16));
  TrialLawChecker laws;
  require_valid(program, laws);
  const auto found = fault(program, seed);
  if (!found) return;
  const Module small =
      testing::shrink_module(program, [&](const Module& module) { return fault(module, seed).has_value(); });
  FAIL() << "seed " << seed << ": " << *found << "\nshrunk to:\n"
         << print_module(small) << fault(small, seed).value_or("");
}

class IntegerPlans : public ::testing::TestWithParam<int> {};
// Tens of seeds: the quick tests take the first 200 programs, the long ones 20,000.
INSTANTIATE_TEST_SUITE_P(Quick, IntegerPlans, ::testing::Range(0, 20));
INSTANTIATE_TEST_SUITE_P(Long, IntegerPlans, ::testing::Range(20, 2000));

TEST_P(IntegerPlans, ComputeWhatTheProgramSays) {
  for (int i = 0; i < 10 && !HasFailure(); ++i) check(static_cast<std::uint64_t>(GetParam() * 10 + i));
}

}  // namespace
}  // namespace kasen
