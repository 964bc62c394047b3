// Random programs: every plan computes what the program says, over simulated workers; a plan is the same each time.
// `--seed=N` runs one program and says more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <optional>

#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"
#include "tests/opt/random_program.h"

namespace kasen {
namespace {

struct Mode {
  Strategy strategy;
  SyncMode sync;
  bool epilogue = false;
};

constexpr Mode modes[] = {
    {Strategy::none, SyncMode::lazy},           {Strategy::none, SyncMode::eager},
    {Strategy::none, SyncMode::hybrid},         {Strategy::greedy, SyncMode::lazy},
    {Strategy::greedy, SyncMode::eager},        {Strategy::greedy, SyncMode::hybrid},
    {Strategy::none, SyncMode::automatic},      {Strategy::greedy, SyncMode::automatic},
    {Strategy::greedy, SyncMode::hybrid, true},
};

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= 1e-9 * std::max(1.0, std::fabs(b));
}

// What is wrong with the plans of this program, or nothing.
std::optional<std::string> fault(const std::string& text, std::uint64_t seed) {
  try {
    const Module program = compile(text);
    const int workers = 1 + static_cast<int>(seed % 4);
    const std::int64_t size = seed % 7 == 0 ? 1 : 17;
    const testing::TestData data = testing::random_data(program, workers, size, 40, seed);
    const std::vector<Part> parts = testing::split(data);
    const auto wanted = interpret(program, whole_inputs(parts));
    for (const Mode& mode : modes) {
      if (mode.sync == SyncMode::automatic && seed % 10 != 0) continue;  // many plans for one
      const std::string name = (mode.strategy == Strategy::none ? "none " : "greedy ") +
                               std::to_string(static_cast<int>(mode.sync)) + (mode.epilogue ? " epilogue: " : ": ");
      const Module module = plan(program, mode.strategy, mode.sync, true, mode.epilogue);
      const std::string printed = print_module(module);
      if (print_module(plan(program, mode.strategy, mode.sync, true, mode.epilogue)) != printed) {
        return name + "another plan";
      }
      if (print_module(parse_module(printed, "plan.kir")) != printed) return name + "reads back differently";
      const RunResult result = testing::run_simulated(module, parts);
      if (result.late_allocations != 0) return name + "allocates in a loop";
      for (const Output& output : result.outputs) {
        const auto made = testing::whole_words(module, output, parts);
        const auto right = testing::words_of(wanted.at(output.name));
        for (size_t i = 0; i < right.size(); ++i) {
          if (!same(made.at(i).f, right[i].f)) return name + output.name + " differs";
        }
      }
    }
  } catch (const std::exception& e) {
    return std::string("throws: ") + e.what();
  }
  return std::nullopt;
}

TEST(RandomPlans, ComputeWhatTheProgramSays) {
  const char* wanted = std::getenv("KASEN_SEED");
  const char* many = std::getenv("KASEN_PROGRAMS");
  const std::uint64_t first = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1;
  const std::uint64_t count = wanted != nullptr ? 1 : many != nullptr ? std::strtoull(many, nullptr, 10) : 150;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto found = fault(testing::random_program(seed), seed);
    if (!found) continue;
    const std::string small =
        testing::shrink(seed, [&](const std::string& text) { return fault(text, seed).has_value(); });
    FAIL() << "seed " << seed << ": " << *found << "\nshrunk to:\n" << small << fault(small, seed).value_or("");
  }
}

}  // namespace
}  // namespace kasen
