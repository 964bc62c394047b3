// Every example, planned in every way, gets kernels: nothing that the language and the optimizer make is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "libcore/lang/lang.h"
#include "libcore/laws/laws.h"
#include "libopt/optimize/optimize.h"
#include "tests/support/generated.h"

namespace kasen::test {
namespace {

std::string read(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Examples, EveryPlanGetsKernels) {
  const std::filesystem::path folder = std::filesystem::path(KASEN_SOURCE_ROOT) / "examples";
  TrialLawChecker laws;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ks") continue;
    const Module program = compile_program(read(entry.path()), entry.path().filename().string(), {});
    for (const Strategy strategy : {Strategy::none, Strategy::greedy, Strategy::fuse_all}) {
      for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
        const Module plan = optimize(program, laws, OptimizeOptions{.strategy = strategy, .sync = sync});
        const auto kernels = testing::make_kernels({.threads = 1});
        EXPECT_NO_THROW(kernels->prepare(plan)) << entry.path();
        ++count;
      }
    }
  }
  EXPECT_GE(count, 6);
}

}  // namespace
}  // namespace kasen::test
