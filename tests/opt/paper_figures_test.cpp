// The figures of the KASEN paper beside PageRank's, from the examples' text alone: element accesses of Black-Scholes,
// K-means and L-BFGS, unfused and fused, and what hybrid transitions save.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

struct ElementCounts {
  std::string read, written, network;
};

ElementCounts elements(const Module& module, const Cost& cost) {
  const SymbolNames names(module);
  const auto text = [&](const Polynomial& p) { return paper_form(p).text(names); };
  return {text(cost.read_elements), text(cost.written_elements), text(cost.network_elements)};
}

ElementCounts whole(const Module& module) { return elements(module, measure(module).model); }
ElementCounts iteration(const Module& module) { return elements(module, measure(module).loops.at(0).model); }

TEST(PaperFigures, BlackScholesReadsTwentyAndWritesFourteen) {
  const Module program = example("blackscholes.ks");
  for (const SyncMode sync : {SyncMode::lazy, SyncMode::eager, SyncMode::hybrid}) {
    const ElementCounts unfused = whole(plan(program, Strategy::none, sync));
    EXPECT_EQ(unfused.read, "20 N");
    EXPECT_EQ(unfused.written, "14 N");
    const ElementCounts fused = whole(plan(program, Strategy::greedy, sync));
    EXPECT_EQ(fused.read, "2 N");
    EXPECT_EQ(fused.written, "2 N");
    EXPECT_EQ(fused.network, "0");
  }
}

// One map, k - 1 zipwiths, k zipwith and reduce pairs.
TEST(PaperFigures, KMeansReadsEachPointOnce) {
  for (const int k : {2, 3, 7}) {
    const Module program = example("kmeans.ks", {{"k", std::to_string(k)}});
    const ElementCounts unfused = iteration(plan(program, Strategy::none, SyncMode::hybrid));
    EXPECT_EQ(unfused.read, fmt::format("{} N", 5 * k - 1));
    EXPECT_EQ(unfused.written, fmt::format("{} N", 2 * k));
    const ElementCounts fused = iteration(plan(program, Strategy::greedy, SyncMode::hybrid));
    EXPECT_EQ(fused.read, "N");
    EXPECT_EQ(fused.written, "0");
    EXPECT_EQ(fused.network, fmt::format("{} P - {}", 2 * k, 2 * k));
  }
}

// 2 H + (10 m + 13) W and H + (4 m + 6) W, and three copies that the example's text makes (g, q, w_old).
TEST(PaperFigures, LbfgsUnfused) {
  for (const int m : {3, 10}) {
    const ElementCounts figures =
        iteration(plan(example("lbfgs.ks", {{"m", std::to_string(m)}}), Strategy::none, SyncMode::hybrid));
    EXPECT_EQ(figures.read, fmt::format("2 H + {} W + 6 nnz", 10 * m + 13 + 3));
    EXPECT_EQ(figures.written, fmt::format("H + {} W + 2 nnz", 4 * m + 6 + 3));
  }
}

// Of three pairs of gather and scatter (one over H, two over W) hybrid saves one over W.
TEST(PaperFigures, LbfgsHybridSavesOnePairOverW) {
  const Module program = example("lbfgs.ks");
  EXPECT_EQ(iteration(plan(program, Strategy::none, SyncMode::lazy)).network, "2 S(H) + 4 S(W) + 44 P - 44");
  EXPECT_EQ(iteration(plan(program, Strategy::none, SyncMode::hybrid)).network, "2 S(H) + 2 S(W) + 44 P - 44");
}

}  // namespace
}  // namespace kasen
