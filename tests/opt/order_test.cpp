// The order of a program's statements plays no part in what is fused: any order that its dependences allow gives the
// same regions and the same figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/rewrite.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

void shuffle(const Module& module, Block& block, std::mt19937_64& random) {
  for (Op& op : block.ops) {
    for (Block& inner : op.blocks) shuffle(module, inner, random);
  }
  const BlockGraph graph(module, block);
  std::vector<size_t> waiting, ready;
  for (int i = 0; i < graph.size(); ++i) {
    waiting.push_back(graph.needs(i).size());
    if (waiting.back() == 0) ready.push_back(static_cast<size_t>(i));
  }
  std::vector<Op> ops;
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const size_t next = ready.back();
    ready.pop_back();
    for (const int user : graph.needed_by(static_cast<int>(next))) {
      if (--waiting[static_cast<size_t>(user)] == 0) ready.push_back(static_cast<size_t>(user));
    }
    if (row(block.ops[next].code).group != OpGroup::end) ops.push_back(std::move(block.ops[next]));
  }
  for (Op& op : block.ops) {  // outputs in their order; a yield is the last
    if (row(op.code).group == OpGroup::end) ops.push_back(std::move(op));
  }
  block.ops = std::move(ops);
}

Module shuffled(const Module& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Module module = program;
  shuffle(module, module.body, random);
  compact_values(module);
  return module;
}

// What a plan costs as a whole and in each loop, by both columns, and how many regions of which size it has.
std::string figures(const Module& plan) {
  const CostReport report = measure(plan);
  const SymbolNames names(plan);
  const auto line = [&](const Cost& cost) {
    return cost.read.text(names) + " | " + cost.written.text(names) + " | " + cost.network.text(names) + "\n";
  };
  std::vector<std::string> lines{line(report.model), line(report.actual)};
  for (const LoopCost& loop : report.loops) lines.push_back(line(loop.model) + line(loop.actual));
  std::sort(lines.begin(), lines.end());  // independent loops may stand in either order
  std::string text;
  for (const std::string& one : lines) text += one;
  std::vector<size_t> sizes;
  for_each_op(plan, [&](const Op& op, int, int) {
    if (op.code == OpCode::region) sizes.push_back(op.blocks[0].ops.size());
  });
  std::sort(sizes.begin(), sizes.end());
  for (const size_t size : sizes) text += std::to_string(size) + " ";
  return text;
}

TEST(Order, AnyOrderOfTheStatementsGivesTheSameRegionsAndFigures) {
  int programs = 0, moved = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KASEN_ROOT "/examples")) {
    if (entry.path().extension() != ".ks") continue;
    ++programs;
    const Module program = example(entry.path().filename().string());
    const std::string expected = figures(plan(program, Strategy::greedy, SyncMode::hybrid));
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Module other = shuffled(program, seed);
      moved += print_module(other) != print_module(program) ? 1 : 0;
      EXPECT_EQ(figures(plan(other, Strategy::greedy, SyncMode::hybrid)), expected)
          << entry.path().filename() << ", order " << seed;
    }
  }
  EXPECT_GT(programs, 15);
  EXPECT_GT(moved, 10 * programs);
}

}  // namespace
}  // namespace kasen
