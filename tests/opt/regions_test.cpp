// The registry of region kinds: what the tables of libcore and libopt say fits together.
#include "libcore/ir/regions.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "libopt/fusion/explore.h"
#include "libopt/options/pass.h"
#include "libopt/selection/greedy.h"
#include "libopt/selection/pieces.h"
#include "libopt/selection/shapes.h"
#include "libopt/time/price.h"
#include "tests/opt/plan_support.h"

namespace kasen {
namespace {

TEST(Regions, EveryKindHasARowEverywhere) {
  std::set<std::string_view> passes;
  for (const PassRow& pass : pass_rows()) passes.insert(pass.name);
  std::set<RegionKind> selected;
  for (const fusion::RegionShape& shape : fusion::region_shapes()) selected.insert(shape.kind);
  for (const RegionRow& kind : region_rows()) {
    SCOPED_TRACE(kind.name);
    EXPECT_TRUE(passes.contains(kind.pass));
    EXPECT_EQ(find_region(kind.name), &kind);
    EXPECT_EQ(region_name(kind.kind), kind.name);
    EXPECT_EQ(selected.contains(kind.kind),
              kind.kind != RegionKind::product_epilogue && kind.kind != RegionKind::blocks);
  }
  EXPECT_EQ(find_region("mxv"), nullptr);
}

// By kind: how many there are.
using Kinds = std::map<RegionKind, int>;

// What --print-plans shows as greedy is what the pass makes: each operator becomes a region as it is.
TEST(GreedyOperators, AreTheRegionsOfThePass) {
  TrialLawChecker laws;
  for (const char* name : {"pagerank.ks", "l2svm.ks", "glm.ks", "kmeans-matrix.ks", "lbfgs.ks", "nmf.ks", "mlp.ks"}) {
    SCOPED_TRACE(name);
    const Module placed = before_fusing(example(name), laws, {});
    Kinds made, shown;
    for_each_op(run_passes(placed, laws, {}, {"fuse-selected"}),
                [&](const Op& op, int, int) { made[op.kind] += op.code == OpCode::region ? 1 : 0; });
    Pricing pricing({}, {});
    for (const fusion::BlockDag& block : fusion::fusion_dags(placed, pricing.time_case(placed))) {
      std::multiset<fusion::NodeId> members;
      const auto operators = fusion::greedy_operators(placed, block, fusion::explore(block.dag));
      const fusion::Pieces pieces = fusion::pieces_of(placed, block, operators, {});
      EXPECT_TRUE(pieces.splits.empty());
      EXPECT_EQ(pieces.pieces.size(), operators.size());
      for (const fusion::Piece& piece : pieces.pieces) {
        members.insert(piece.op.members.begin(), piece.op.members.end());
        EXPECT_FALSE(piece.op.roots.empty());
        if (piece.kind) ++shown[*piece.kind];
      }
      for (const fusion::NodeId id : block.dag.ids()) {
        if (block.places[id] >= 0) {
          EXPECT_EQ(members.count(id), 1);
        }
      }
    }
    for (const fusion::RegionShape& shape : fusion::region_shapes()) EXPECT_EQ(shown[shape.kind], made[shape.kind]);
    EXPECT_GT(shown.size(), 0);
  }
}

// What computes on masters alone beside what computes on slaves as well, if they read or make one array.
TEST(VectorRegions, MastersAloneStandBesideSlaves) {
  const auto eager = [](const std::string& text) {
    return shape(plan(compile("dim N\ninput G : f64[N, N], x : f64[N], y : f64[N], z : f64[N]\n" + text),
                      Strategy::greedy, SyncMode::eager)
                     .body);
  };
  EXPECT_EQ(eager("a = abs(G' @ x)\nb = a * 0.5\noutput c = G' @ b, d = sum(a * y)\n"),
            "scatter mxv gather scatter iter_on_vec(map map map reduce) mxv gather gather scatter");
  // They have nothing in common.
  EXPECT_EQ(eager("a = abs(G' @ x)\noutput c = G' @ a, d = sum(z * y)\n"),
            "scatter mxv gather scatter map mxv gather iter_on_vec(map reduce) gather scatter");
}

// Rules 10 and 11 one after the other: the second half hands on what the first has made of the slaves.
TEST(VectorRegions, HandOnSlaves) {
  const auto lazy = [](const std::string& text) {
    return shape(
        plan(compile("dim N\ninput G : f64[N, N], x : f64[N], y : f64[N]\n" + text), Strategy::greedy, SyncMode::lazy)
            .body);
  };
  EXPECT_EQ(lazy("output a = 2 * (G' @ x) - y\n"), "scatter mxv iter_on_vec(map map) gather");
  // By itself such a map touches masters alone, where its operand is.
  EXPECT_EQ(lazy("output a = (G' @ x) - y\n"), "scatter mxv map gather");
  EXPECT_EQ(lazy("a = (G' @ x) - y\noutput a, b = (G @ x) - y\n"), "scatter mxv map mxvt map gather gather");
}

std::string products_shape(const std::string& text, const std::string& sizes = "") {
  TrialLawChecker laws;
  OptimizeOptions options;
  if (!sizes.empty()) options.sizes = [sizes](const Module& module) { return known_sizes(module, sizes); };
  return shape(optimize(compile("dim N\ninput G : f64[N, N], x : f64[N], y : f64[N]\n" + text), laws, options).body);
}

// x goes to the slaves of rows and of columns, since two products read it; y as well, if that is cheaper than reading
// the matrix once more.
TEST(ProductRegions, OperandsOfOneMatrixHaveTheirSlavesInCommonWhereItPays) {
  const std::string text = "output a = G @ x, b = G @ y, c = G' @ x\n";
  const std::string common = "scatter scatter mxm(mxvt mxvt) gather gather mxv gather";
  const std::string apart = "scatter mxvt gather scatter mxvt gather mxv gather";
  EXPECT_EQ(products_shape(text), common);
  EXPECT_EQ(products_shape(text, "N=1000,nnz=1000000,P=4,S=1000"), common);
  EXPECT_EQ(products_shape(text, "N=1000000,nnz=1000000,P=4,S=2000000,S(G.rows)=2000000,S(G.cols)=100"), apart);
}

std::string epilogue_shape(const std::string& text) {
  return shape(plan(compile("dim N\ninput G : null[N, N]\ninput x : f64[N], y : f64[N]\n" + text), Strategy::greedy,
                    SyncMode::hybrid, true, true)
                   .body);
}

TEST(Epilogues, AreFormedWhereNothingElseReadsTheProduct) {
  EXPECT_EQ(epilogue_shape("output a = 2 * (G @ x) + y\n"), "scatter product_epilogue(mxvt gather map)");
  // A lone reduction; two results.
  EXPECT_EQ(epilogue_shape("output a = sum(G @ x)\n"), "scatter product_epilogue(mxvt gather reduce) gather scatter");
  EXPECT_EQ(epilogue_shape("z = 2 * (G @ x) + y\noutput z\noutput s = sum(z)\n"),
            "scatter product_epilogue(mxvt gather map reduce) gather scatter");
  // The product itself is a result.
  EXPECT_EQ(epilogue_shape("p = G @ x\noutput p\noutput z = 2 * p\n"), "scatter mxvt gather map");
  // Two products over one matrix read it once.
  EXPECT_EQ(epilogue_shape("output a = 2 * (G @ x) + G @ y\n"), "scatter scatter mxm(mxvt mxvt) gather gather map");
  // Of two products into one loop, one is followed by it; the other's result is read from memory.
  EXPECT_EQ(epilogue_shape("output a = 2 * (G @ x) + G' @ y\n"),
            "scatter scatter mxv gather product_epilogue(mxvt gather map)");
}

TEST(Epilogues, AreOffUnlessAskedFor) {
  const Module program = compile("dim N\ninput G : null[N, N]\ninput x : f64[N]\noutput a = 2 * (G @ x)\n");
  EXPECT_EQ(shape(plan(program, Strategy::greedy, SyncMode::hybrid).body), "scatter mxvt gather map");
  EXPECT_EQ(shape(plan(program, Strategy::none, SyncMode::hybrid, true, true).body), "scatter mxvt gather map");
}

// Regions of the plan of `text` for these sizes, chosen by them.
int epilogues_by_size(const std::string& text, const std::string& sizes, const MachineProfile& machine = {}) {
  TrialLawChecker laws;
  OptimizeOptions options;
  options.epilogue = options.epilogue_by_size = true;
  options.machine = machine;
  if (!sizes.empty()) options.sizes = [sizes](const Module& module) { return known_sizes(module, sizes); };
  int count = 0;
  for_each_op(optimize(compile("dim N\ninput G : null[N, N]\n" + text), laws, options),
              [&](const Op& op, int, int) { count += is_epilogue(op) ? 1 : 0; });
  return count;
}

TEST(Epilogues, BySizeNotWhereTwoArraysOfManySlavesWouldTakeTurns) {
  const std::string iterations = "x : f64[N] = 1\nfor k in 0..9 {\n  x = 2 * (G @ x) + 1\n}\noutput x\n";
  EXPECT_EQ(epilogues_by_size(iterations, ""), 1);
  EXPECT_EQ(epilogues_by_size(iterations, "N=1000,nnz=9000,P=4,S=1000"), 1);
  EXPECT_EQ(epilogues_by_size(iterations, "N=1000,nnz=9000,P=4,S=1001"), 0);
  EXPECT_EQ(epilogues_by_size(iterations, "N=1000"), 1);
  // A machine that writes at half of the rate at which it reads.
  MachineProfile slow;
  slow.write_bandwidth = slow.memory_bandwidth / 2;
  EXPECT_EQ(epilogues_by_size(iterations, "N=1000,nnz=9000,P=4,S=500", slow), 1);
  EXPECT_EQ(epilogues_by_size(iterations, "N=1000,nnz=9000,P=4,S=501", slow), 0);
  // What follows the rows is not what the next turn's product reads: nothing takes turns.
  const std::string other = "x : f64[N] = 1\ny : f64[N] = 0\nfor k in 0..9 {\n  y = y + 2 * (G @ x)\n}\noutput y\n";
  EXPECT_EQ(epilogues_by_size(other, "N=1000,nnz=9000,P=4,S=9000"), epilogues_by_size(other, ""));
}

TEST(Epilogues, ASecondTimeNothingChanges) {
  Module module = plan(compile("dim N\ninput G : null[N, N]\ninput x : f64[N]\noutput a = 2 * (G @ x)\n"),
                       Strategy::greedy, SyncMode::hybrid, true, true);
  const std::string before = print_module(module);
  TrialLawChecker laws;
  OptimizeOptions options;
  options.epilogue = true;
  EXPECT_EQ(print_module(run_passes(module, laws, options, {"fuse-epilogue"})), before);
}

}  // namespace
}  // namespace kasen
