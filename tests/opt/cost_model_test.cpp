// The model's figures of the KASEN paper from hand-written IR: PageRank in states and regions as the paper has them,
// Black-Scholes-like chains, loops that nest.
#include <gtest/gtest.h>

#include "libcore/ir/module.h"
#include "libopt/cost/cost.h"

namespace kasen {
namespace {

// A PageRank loop; `states` of every vector in the loop is C (the lazy plan) or mixed (the hybrid plan).
const std::string cost_functions = R"(
  dim V
  fn damp(x: f64, r: f64) -> f64 = 1.0 - r + r * x
  fn absdiff(a: f64, b: f64) -> f64 = abs(a - b)
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn div(x: f64, y: i32) -> f64 = x / f64(y)
  fn gt(x: f64, y: f64) -> bool = x > y
  fn copy(x: f64) -> f64 = x
  %G = input "G" : null[V,V] sparse @part
  %r = param "r" = 0.85 : f64 @cons
  %c0 = literal true : bool @cons
)";

Module parse(const std::string& level, const std::string& body) {
  return parse_module("kir 1 level " + level + "\nmodule pagerank {" + cost_functions + body + "}\n##end\n",
                      "test.kir");
}

struct Figures {
  std::string read, written, network, by_axis;
};

Figures figures_of_iteration(const Module& module) {
  const CostReport report = measure(module);
  const SymbolNames names(module);
  const Cost& cost = report.loops.at(0).model;
  return {paper_form(cost.read).text(names), paper_form(cost.written).text(names), paper_form(cost.network).text(names),
          cost.network.text(names)};
}

TEST(CostModel, PageRankUnfusedWithEveryVectorConsistent) {
  const Figures f = figures_of_iteration(parse("2", R"(
  %d = fill 1i32 : i32[V] @cons{G.rows}
  %p0 = fill 1.0 : f64[V] @cons{G.rows}
  %pr, %go = while (%p : f64[V] @cons{G.rows} = %p0, %c : bool @cons = %c0) test 1 : f64[V] @cons{G.rows}, bool @cons {
    %tmp1 = map[div] %p, %d : f64[V] @cons{G.rows}
    %m = mxv[mul, add] %tmp1, %G : f64[V] @pre(add){G.cols}
    %g = gather %m : f64[V] @part
    %tmp2 = scatter %g : f64[V] @cons{G.rows}
    %new = map[damp] %tmp2, %r : f64[V] @cons{G.rows}
    %t = map[absdiff] %p, %new : f64[V] @cons{G.rows}
    %e = reduce[add] %t : f64 @pre(add)
    %e1 = gather %e : f64 @part
    %e2 = scatter %e1 : f64 @cons
    %k = apply[gt] %e2, %r : bool @cons
    %n = map[copy] %new : f64[V] @cons{G.rows}
    yield %n, %k
  }
  output "rank" %pr
)"));
  EXPECT_EQ(f.read, "52 V + 52 S + 24 nnz");
  EXPECT_EQ(f.written, "32 V + 32 S + 8 nnz");
  EXPECT_EQ(f.network, "16 S + 16 P - 16");
  EXPECT_EQ(f.by_axis, "8 S(G.rows) + 8 S(G.cols) + 16 P - 16");
}

const std::string fused = R"(
  %d = fill 1i32 : i32[V] @part
  %p0 = fill 1.0 : f64[V] @part
  %t0 = map[div] %p0, %d : f64[V] @part
  %pr, %q, %go = while (%p : f64[V] @part = %p0, %t1 : f64[V] @part = %t0, %c : bool @cons = %c0) test 2 expect 20 : f64[V] @part, f64[V] @part, bool @cons {
    %s = scatter %t1 : f64[V] @cons{G.rows}
    %m = mxv[mul, add] %s, %G : f64[V] @pre(add){G.cols}
    %tmp2 = gather %m : f64[V] @part
    %n, %t2, %e = region iter_on_vec (%tmp2, %p, %d, %r) : f64[V] @part, f64[V] @part, f64 @pre(add) {
      %a = map[damp] %tmp2, %r : f64[V] @part
      %b = map[absdiff] %p, %a : f64[V] @part
      %f = reduce[add] %b : f64 @pre(add)
      %h = map[copy] %a : f64[V] @part
      %i = map[div] %h, %d speculated : f64[V] @part
      yield %h, %i, %f
    }
    %e1 = gather %e : f64 @part
    %e2 = scatter %e1 : f64 @cons
    %k = apply[gt] %e2, %r : bool @cons
    yield %n, %t2, %k
  }
  output "rank" %pr
)";

TEST(CostModel, PageRankFused) {
  const Module module = parse("3", fused);
  const Figures f = figures_of_iteration(module);
  EXPECT_EQ(f.read, "20 V + 24 nnz");
  EXPECT_EQ(f.written, "16 V + 8 nnz");
  EXPECT_EQ(f.network, "16 S + 16 P - 16");
  const CostReport report = measure(module);
  const SymbolNames names(module);
  EXPECT_EQ(paper_form(report.loops.at(0).model.buffers).text(names), "24 V + 8 S");
  // The loop's own expect of 20 turns, and fill and map before it.
  EXPECT_EQ(report.loops.at(0).expected, 20);
  EXPECT_EQ(paper_form(report.model.read).text(names), "12 V + 20 V trips + 24 nnz trips");
  EXPECT_EQ(paper_form(report.model.written).text(names), "20 V + 16 V trips + 8 nnz trips");
}

TEST(CostModel, OperatorsInsideARegionCostNothingThemselves) {
  const Module module = parse("3", fused);
  for (const CostRow& row : measure(module).rows) {
    if (row.region >= 0) {
      EXPECT_EQ(row.model, Cost{}) << row.text;
    }
  }
}

TEST(CostModel, ProductsOfOneMatrixReadItOnce) {
  const Module module = parse("3", R"(
  %x = fill 1.0 : f64[V] @cons{G.rows}
  %y = fill 1.0 : f64[V] @cons{G.rows}
  %a, %b = region mxm (%x, %G, %y) : f64[V] @pre(add){G.cols}, f64[V] @pre(add){G.cols} {
    %u = mxv[mul, add] %x, %G : f64[V] @pre(add){G.cols}
    %v = mxv[mul, add] %y, %G : f64[V] @pre(add){G.cols}
    yield %u, %v
  }
)");
  const CostReport report = measure(module);
  const SymbolNames names(module);
  EXPECT_EQ(report.rows.at(5).model.read.text(names), "40 nnz");  // 8 + 2 (8 + 8)
  EXPECT_EQ(report.rows.at(5).model.written.text(names), "16 nnz");
  EXPECT_EQ(report.rows.at(5).model.read_elements.text(names), "5 nnz");
}

TEST(CostModel, NestedLoopsMultiplyAndBranchesShareTheirTurns) {
  const Module module = parse("1", R"(
  %z = literal 0 : i64 @?
  %t = literal 5 : i64 @?
  %x = fill 1.0 : f64[V] @?
  %w, %g = while (%a : f64[V] @? = %x, %c : bool @? = %c0) test 1 : f64[V] @?, bool @? {
    %v = for %i : i64 @? in %z, %t (%b : f64[V] @? = %a) : f64[V] @? {
      %h = if %c : f64[V] @? {
        %u = map[copy] %b : f64[V] @?
        yield %u
      } else {
        %k = map[absdiff] %b, %x : f64[V] @?
        yield %k
      }
      yield %h
    }
    yield %v, %c
  }
)");
  const CostReport report = measure(module);
  const SymbolNames names(module);
  EXPECT_TRUE(report.unplaced);
  ASSERT_EQ(report.loops.size(), 2u);
  EXPECT_EQ(report.loops[1].trips, Polynomial(5));
  EXPECT_EQ(report.loops[1].model.read.text(names), "16 V - 8 V then@20");
  EXPECT_EQ(report.loops[0].model.read.text(names), "80 V - 40 V then@20");
  EXPECT_EQ(report.model.read.text(names), "80 V trips@18 - 40 V trips@18 then@20");
  EXPECT_EQ(report.loops[0].model.buffers.text(names), "16 V");  // not once a turn
}

TEST(CostModel, ALoopOverADimensionHasItsSize) {
  const Module module = parse("1", R"(
  %z = literal 0 : i64 @?
  %one = literal 1 : i64 @?
  %n = size[V] : i64 @?
  %x = fill 1.0 : f64[V] @?
  %v = for %i : i64 @? in %z, %n (%b : f64[V] @? = %x) : f64[V] @? {
    %u = map[copy] %b : f64[V] @?
    yield %u
  }
  %w = for %j : i64 @? in %one, %n (%d : f64[V] @? = %v) : f64[V] @? {
    %e = map[copy] %d : f64[V] @?
    yield %e
  }
)");
  const CostReport report = measure(module);
  const SymbolNames names(module);
  ASSERT_EQ(report.loops.size(), 2u);
  EXPECT_EQ(report.loops[0].trips.text(names), "V");
  EXPECT_FALSE(report.loops[0].expected);
  EXPECT_EQ(report.loops[1].trips.text(names), "trips@23");  // from 1 on
}

TEST(CostModel, NamesGiveWayToDimensionsOfTheUser) {
  const Module module = parse_module(R"(kir 1 level 1
module clash {
  dim S
  dim P
  %A = input "A" : f64[S,P] sparse @?
  %B = input "B" : f64[P,S] sparse @?
}
##end
)",
                                     "test.kir");
  const SymbolNames names(module);
  EXPECT_EQ(names(Symbol{SymbolKind::slaves, "S", {}, -1}), "S(S)");
  EXPECT_EQ(names(Symbol{SymbolKind::workers, "", {}, -1}), "workers");
  EXPECT_EQ(names(Symbol{SymbolKind::entries, "A", {}, -1}), "nnz(A)");
}

TEST(CostModel, ValuedAndDenseMatrices) {
  const Module module = parse_module(R"(kir 1 level 2
module matrices {
  dim H
  dim W
  dim K local = 3
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f32) -> f64 = x * f64(y)
  fn twice(x: f64) -> f64 = x + x
  %A = input "A" : f32[H,W] sparse @part
  %D = input "D" : f32[H,W] @part
  %x = fill 1.0 : f64[H] @cons{A.rows}
  %q = fill 1.0 : f64[H,K] @part
  %a = mxv[mul, add] %x, %A : f64[W] @pre(add){A.cols}
  %b = mxv[mul, add] %x, %D : f64[W] @pre(add){A.cols}
  %c = map[twice] %q : f64[H,K] @part
}
##end
)",
                                     "test.kir");
  const CostReport report = measure(module);
  const SymbolNames names(module);
  EXPECT_EQ(report.rows.at(4).model.read.text(names), "28 nnz");
  EXPECT_EQ(printed_form(report.rows.at(5).model.read).text(names), "20 H W");
  EXPECT_EQ(report.rows.at(6).model.read.text(names), "24 H");
  EXPECT_EQ(paper_form(report.rows.at(2).model.written).text(names), "8 H + 8 S(H)");
}

}  // namespace
}  // namespace kasen
