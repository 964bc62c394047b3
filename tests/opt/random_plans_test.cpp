// Random programs: every plan computes what the program says, over simulated workers; a plan is the same each time.
// KASEN_SEED=n runs one program, KASEN_PROGRAMS=n so many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/opt/plan_fault.h"
#include "tests/opt/random_program.h"

namespace kasen {
namespace {

std::optional<std::string> fault(const std::string& text, std::uint64_t seed, bool all) {
  try {
    return testing::plan_fault(compile(text), {.seed = seed,
                                               .size = seed % 7 == 0 ? 1 : 17,
                                               .tolerance = 1e-9,
                                               .automatic = seed % 20 == 0,
                                               .every_run = all});
  } catch (const std::exception& e) {
    return std::string("throws: ") + e.what();
  }
}

// `all`: each plan over all numbers of workers, else over one of them.
void check(std::uint64_t first, std::uint64_t count, bool all) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto found = fault(testing::random_program(seed), seed, all);
    if (!found) continue;
    const std::string small =
        testing::shrink(seed, [&](const std::string& text) { return fault(text, seed, all).has_value(); });
    FAIL() << "seed " << seed << ": " << *found << "\nshrunk to:\n" << small << fault(small, seed, all).value_or("");
  }
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(RandomPlans, ComputeWhatTheProgramSays) {
  const std::uint64_t one = from_environment("KASEN_SEED", 0);
  check(one > 0 ? one : 1, one > 0 ? 1 : from_environment("KASEN_PROGRAMS", 50), one > 0);
}

class RandomPlansLong : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Long, RandomPlansLong, ::testing::Range(0, 40));

TEST_P(RandomPlansLong, ComputeWhatTheProgramSays) { check(static_cast<std::uint64_t>(GetParam()) * 50 + 1, 50, true); }

}  // namespace
}  // namespace kasen
