// Random programs of integers: every plan of them is valid, survives its own text, and computes the same bits as the
// program, on any number of workers, with the bytes that were predicted.
#include <gtest/gtest.h>

#include "tests/opt/plan_fault.h"
#include "tests/opt/shrink_module.h"
#include "tests/support/random_program.h"

namespace kasen {
namespace {

std::optional<std::string> fault(const Module& program, std::uint64_t seed, bool all) {
  const auto size = 12 + static_cast<std::int64_t>(seed % 20);
  return testing::plan_fault(program, {.seed = seed, .size = size, .every_run = all});
}

// `all`: each plan over all numbers of workers, else over one of them.
void check(std::uint64_t seed, bool all) {
  const Module program = testing::RandomProgram(seed).make(4 + static_cast<int>(seed % 16));
  TrialLawChecker laws;
  require_valid(program, laws);
  const auto found = fault(program, seed, all);
  if (!found) return;
  const Module small =
      testing::shrink_module(program, [&](const Module& module) { return fault(module, seed, all).has_value(); });
  FAIL() << "seed " << seed << ": " << *found << "\nshrunk to:\n"
         << print_module(small) << fault(small, seed, all).value_or("");
}

void check_ten(int tens, bool all) {
  for (int i = 0; i < 10 && !::testing::Test::HasFailure(); ++i) check(static_cast<std::uint64_t>(tens * 10 + i), all);
}

// Tens of seeds: the quick tests take the first 200 programs, the long ones 20,000.
class IntegerPlans : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Quick, IntegerPlans, ::testing::Range(0, 20));
TEST_P(IntegerPlans, ComputeWhatTheProgramSays) { check_ten(GetParam(), false); }

class IntegerPlansLong : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Long, IntegerPlansLong, ::testing::Range(0, 2000));
TEST_P(IntegerPlansLong, ComputeWhatTheProgramSays) { check_ten(GetParam(), true); }

}  // namespace
}  // namespace kasen
