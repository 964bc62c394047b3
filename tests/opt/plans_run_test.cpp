// Plans compute what their programs say: every example, every strategy and mode, over 1, 2, 3 and 5 simulated workers,
// against the interpreter of the unplanned program.
#include <gtest/gtest.h>

#include "libopt/optimize/strategies.h"
#include "tests/opt/plan_support.h"
#include "tests/opt/random_data.h"

namespace kasen {
namespace {

struct Mode {
  Strategy strategy;
  SyncMode sync;
  bool split;
};

constexpr Mode modes[] = {
    {Strategy::none, SyncMode::lazy, true},     {Strategy::none, SyncMode::lazy, false},
    {Strategy::none, SyncMode::eager, true},    {Strategy::none, SyncMode::hybrid, true},
    {Strategy::greedy, SyncMode::lazy, true},   {Strategy::greedy, SyncMode::eager, true},
    {Strategy::greedy, SyncMode::hybrid, true}, {Strategy::fuse_all, SyncMode::hybrid, true},
    {Strategy::fuse_all, SyncMode::lazy, true}, {Strategy::fuse_no_redundancy, SyncMode::hybrid, true},
    {Strategy::mpskip, SyncMode::hybrid, true}, {Strategy::cost, SyncMode::hybrid, true},
};

const char* const examples[] = {
    "bfs.ks",      "blackscholes.ks", "chain.ks",        "components.ks",          "hits.ks", "kmeans.ks", "lbfgs.ks",
    "logistic.ks", "pagerank.ks",     "pagerank-i32.ks", "pagerank-primitives.ks", "sssp.ks", "l2svm.ks",  "glm.ks",
    "kcore.ks"};

std::string name_of(const Mode& mode) {
  return std::string(strategy_name(mode.strategy)) + " sync " + std::to_string(static_cast<int>(mode.sync)) +
         (mode.split ? " split" : "");
}

class PlansRun : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Examples, PlansRun, ::testing::ValuesIn(examples), [](const auto& tested) {
  std::string name = tested.param;
  std::erase_if(name, [](char c) { return c == '.' || c == '-'; });
  return name;
});

TEST_P(PlansRun, LikeTheirPrograms) {
  const Module program = example(GetParam());
  std::vector<Module> plans;
  for (const Mode& mode : modes) plans.push_back(plan(program, mode.strategy, mode.sync, mode.split));
  for (const int workers : {1, 2, 3, 5}) {
    const testing::TestData data = testing::random_data(program, workers, 30, 70, 7);
    const std::vector<Part> parts = testing::split(data);
    const auto wanted = interpret(program, whole_inputs(parts));
    for (size_t m = 0; m < plans.size(); ++m) {
      SCOPED_TRACE(std::to_string(workers) + " workers, " + name_of(modes[m]));
      const Module& module = plans[m];
      const RunResult result = testing::run_simulated(module, parts);
      ASSERT_EQ(result.outputs.size(), wanted.size());
      EXPECT_EQ(result.late_allocations, 0);
      for (const Output& output : result.outputs) {
        testing::expect_same(output.name, output.type.element, testing::whole_words(module, output, parts),
                             testing::words_of(wanted.at(output.name)), 1e-9);
      }
    }
  }
}

TEST_P(PlansRun, AreTheSameEachTimeAndStayAsTheyAre) {
  const Module program = example(GetParam());
  for (const Mode& mode : modes) {
    SCOPED_TRACE(name_of(mode));
    const Module module = plan(program, mode.strategy, mode.sync, mode.split);
    const std::string text = print_module(module);
    EXPECT_EQ(print_module(plan(program, mode.strategy, mode.sync, mode.split)), text);
    EXPECT_EQ(print_module(plan(module, mode.strategy, mode.sync, mode.split)), text);
    EXPECT_EQ(print_module(parse_module(text, "plan.kir")), text);
  }
}

}  // namespace
}  // namespace kasen
