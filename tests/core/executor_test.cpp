// The executor on simulated workers against the plain interpreter.
#include "libcore/run/executor.h"

#include <gtest/gtest.h>

#include "tests/core/executor_cases.h"

namespace kasen {
namespace {

using namespace std::string_literals;
using testing::Case;
using testing::expect_runs;
using testing::graph;
using testing::pagerank;
using testing::program;
using testing::split;
using testing::TestData;

class ExecutorTest : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Cases, ExecutorTest,
                         ::testing::Values(Case{1, 20, 60, -1}, Case{2, 20, 60, -1}, Case{3, 50, 200, 1},
                                           Case{5, 40, 30, -1}, Case{3, 0, 0, -1}, Case{2, 1, 1, 0}, Case{5, 3, 0, 2},
                                           Case{2, 10000, 30000, -1}),
                         [](const auto& tested) {
                           return "w" + std::to_string(tested.param.workers) + "_n" + std::to_string(tested.param.size);
                         });

TEST_P(ExecutorTest, PageRank) {
  const auto parts = split(graph(GetParam()));
  RunOptions options;
  std::vector<double> changes;
  options.on_iteration = [&](const Iteration& iteration) {
    changes.push_back(iteration.change);
    EXPECT_EQ(iteration.place.iterations, std::vector<std::int64_t>{static_cast<std::int64_t>(changes.size())});
  };
  const Module module = program(pagerank);
  const RunResult result = expect_runs(module, parts, 1e-12, options);
  EXPECT_EQ(result.late_allocations, 0);
  ASSERT_FALSE(changes.empty());
  EXPECT_LE(changes.back(), 1e-6);
  const double diff = testing::words_of(result.outputs[1].parts[0].data)[0].f;
  EXPECT_EQ(changes.back(), diff);
  // The same bits again, whatever ran before.
  const RunResult again = testing::run_simulated(module, parts);
  for (size_t p = 0; p < parts.size(); ++p) {
    testing::expect_same("rank", ElementType::of(Scalar::f64), testing::words_of(again.outputs[0].parts[p].data),
                         testing::words_of(result.outputs[0].parts[p].data), 0);
  }
}

// A matrix's entries may go once it is formed, and its forms go behind the last step that uses them; nothing shows it.
TEST_P(ExecutorTest, EntriesMayGoOnceTheyAreFormed) {
  auto parts = split(graph(GetParam()));
  const Module module = program(pagerank);
  const RunResult kept = testing::run_simulated(module, parts);
  std::vector<std::pair<size_t, std::string>> formed;
  RunOptions options;
  options.on_formed = [&](size_t part, const std::string& name) {
    formed.emplace_back(part, name);
    PartMatrix& matrix = parts[part].matrices.at(name);
    matrix.row_pointers.clear();
    matrix.columns.clear();
    matrix.columns.shrink_to_fit();
  };
  const RunResult result = testing::run_simulated(module, parts, options);
  ASSERT_EQ(formed.size(), parts.size());
  for (size_t p = 0; p < parts.size(); ++p) {
    EXPECT_EQ(formed[p], (std::pair{p, std::string("G")}));
    EXPECT_EQ(result.parts[p].matrix_bytes, kept.parts[p].matrix_bytes);
    testing::expect_same("rank", ElementType::of(Scalar::f64), testing::words_of(result.outputs[0].parts[p].data),
                         testing::words_of(kept.outputs[0].parts[p].data), 0);
  }
}

TEST_P(ExecutorTest, CountsWhatPageRankMoves) {
  const TestData data = graph(GetParam());
  const auto parts = split(data);
  const RunResult result = testing::run_simulated(program(pagerank), parts);
  std::int64_t rows = 0, cols = 0, entries = 0;
  for (const Part& part : parts) {
    rows += static_cast<std::int64_t>(part.matrices.at("G").row_slaves.slaves.size());
    cols += static_cast<std::int64_t>(part.matrices.at("G").col_slaves.slaves.size());
    entries += static_cast<std::int64_t>(part.matrices.at("G").columns.size());
  }
  const std::int64_t n = data.dims.at("N").size, w = data.workers;
  const std::int64_t iterations = result.ops[9].iterations;
  EXPECT_EQ(result.ops[11].network_bytes, iterations * 8 * rows);     // scatter
  EXPECT_EQ(result.ops[13].network_bytes, iterations * 8 * cols);     // gather
  EXPECT_EQ(result.ops[17].network_bytes, iterations * 8 * (w - 1));  // shared gather
  EXPECT_EQ(result.ops[18].network_bytes, iterations * 8 * (w - 1));  // shared scatter
  EXPECT_EQ(result.traffic.worker_bytes, iterations * (8 * (rows + cols) + 16 * (w - 1)) + 8 * rows);
  EXPECT_EQ(result.ops[10].read_bytes, iterations * 16 * n);
  EXPECT_EQ(result.ops[10].written_bytes, iterations * 8 * n);
  EXPECT_EQ(result.ops[12].read_bytes, iterations * (8 * (n + cols) + 12 * entries));
  EXPECT_EQ(result.ops[12].written_bytes, iterations * 8 * (n + cols));
  EXPECT_EQ(result.ops[16].read_bytes, iterations * 8 * n);
  EXPECT_EQ(result.ops[16].written_bytes, 0);
  EXPECT_EQ(result.ops[12].executions, iterations);
}

TEST_P(ExecutorTest, StatesByEveryRule) {
  const Module module = program(R"(  fn shift(x: f64) -> f64 = x + 3.0
  law exchange(half, add) operand 0 by "built-in"
  law pushdown(shift, add) operand 0 by "built-in"
  law distributive(mul, add) operand 0 by "built-in"
  law pushdown(sub, add) operand 0 by "built-in"
  %H = input "H" : f64[N,N] sparse @part
  %G = input "G" : null[N,N] sparse @part
  %x = input "x" : f64[N] @part
  %c = scatter %x : f64[N] @cons{G.rows, H.cols, H.rows}
  %a = mxv[mul, add] %c, %H : f64[N] @pre(add){H.cols}
  %b = mxvt[mul, add] %c, %H : f64[N] @pre(add){H.rows}
  %e = map[half] %a : f64[N] @pre(add){H.cols}
  %p = map[shift] %e : f64[N] @pre(add){H.cols}
  %q = map[sub] %p, %x : f64[N] @pre(add){H.cols}
  %d = map[mul] %q, %c : f64[N] @pre(add){H.cols}
  %g = gather %d : f64[N] @part
  %f0 = reduce[add] %d : f64 @pre(add)
  %f1 = gather %f0 : f64 @part
  %f = scatter %f1 : f64 @cons
  %h0 = reduce[least] %c : f64 @pre(least)
  %h1 = gather %h0 : f64 @part
  %h = scatter %h1 : f64 @cons
  %b2 = gather %b : f64[N] @part
  %s1 = scatter %g : f64[N] @cons{G.rows}
  %z = map[add] %s1, %c : f64[N] @cons{G.rows}
  %y = mxv[mul, add] %z, %G : f64[N] @pre(add){G.cols}
  %y2 = gather %y : f64[N] @part
  %part = map[add] %z, %x : f64[N] @part
  output "g" %g
  output "f" %f
  output "h" %h
  output "b" %b2
  output "z" %z
  output "y" %y2
  output "part" %part
)");
  const auto parts = split(graph(GetParam()));
  expect_runs(module, parts, 1e-11);
}

TEST_P(ExecutorTest, IntegersAndExtremesAreExact) {
  const Module module = program(R"(
  %I = input "I" : i64[N,N] sparse @part
  %k = input "k" : i64[N] @part
  %c = scatter %k : i64[N] @cons{I.cols, I.rows}
  %a = mxv[mul_i, add_i] %c, %I : i64[N] @pre(add_i){I.cols}
  %b = mxvt[add_i, least_i] %c, %I : i64[N] @pre(least_i){I.rows}
  %a1 = gather %a : i64[N] @part
  %b1 = gather %b : i64[N] @part
  %s0 = reduce[least_i] %b1 : i64 @pre(least_i)
  %s1 = gather %s0 : i64 @part
  %s = scatter %s1 : i64 @cons
  %i = index[N] : id[N][N] @cons{I.cols}
  %n = size[N] : i64 @cons
  output "a" %a1
  output "b" %b1
  output "s" %s
  output "i" %i
  output "n" %n
)");
  const auto parts = split(graph(GetParam()));
  expect_runs(module, parts, 0);
}

// x, y carried and exchanged; an outer value used in the body; nested loops; a list that is rotated; an if.
TEST_P(ExecutorTest, LoopsListsAndBranches) {
  const Module module = program(R"(
  %x0 = input "x" : f64[N] @part
  %k = fill 2.0 : f64[N] @part
  %one = fill 1.0 : f64[N] @part
  %zero = literal 0 : i64 @cons
  %two = literal 2 : i64 @cons
  %five = literal 5 : i64 @cons
  %l0 = list %one : list<3> f64[N] @part
  %x, %y, %l = for %i : i64 @cons in %zero, %five (%a : f64[N] @part = %x0, %b : f64[N] @part = %k, %s : list<3> f64[N] @part = %l0) : f64[N] @part, f64[N] @part, list<3> f64[N] @part {
    %c = map[add] %a, %k : f64[N] @part
    %old = get %s, %zero : f64[N] @part
    %d = map[sub] %c, %old : f64[N] @part
    %s2 = push %s, %d : list<3> f64[N] @part
    %e = map[add] %old, %b : f64[N] @part
    %s3 = put %s2, %two, %e : list<3> f64[N] @part
    %low = apply[below] %i, %two : bool @cons
    %g = if %low : f64[N] @part {
      %u = map[half] %e : f64[N] @part
      yield %u
    } else {
      %v, %v2 = for %j : i64 @cons in %zero, %i down (%h : f64[N] @part = %e, %h2 : f64[N] @part = %a) : f64[N] @part, f64[N] @part {
        yield %h2, %h
      }
      yield %v
    }
    yield %b, %g, %s3
  }
  %o0 = get %l, %zero : f64[N] @part
  %o2 = get %l, %two : f64[N] @part
  output "x" %x
  output "y" %y
  output "o0" %o0
  output "o2" %o2
)");
  const auto parts = split(graph(GetParam()));
  const RunResult result = expect_runs(module, parts, 0);
  EXPECT_EQ(result.late_allocations, 0);
}

TEST_P(ExecutorTest, TuplesSmallArraysAndLocalDimensions) {
  const Module module = program(R"(
  %x = input "x" : f64[N] @part
  %k = input "k" : i64[N] @part
  %m = input "m" : f64[N,K] @part
  %w = input "w" : f64[K] @cons
  %H = input "H" : f64[N,N] sparse @part
  %t = map[pair] %x, %k : (f64, [i64; 2])[N] @part
  %tc = scatter %t : (f64, [i64; 2])[N] @cons{H.rows}
  %u = map[unpair] %tc : f64[N] @cons{H.rows}
  %best0 = reduce[better] %t : (f64, [i64; 2]) @pre(better)
  %best1 = gather %best0 : (f64, [i64; 2]) @part
  %best = scatter %best1 : (f64, [i64; 2]) @cons
  %v0 = mxv[mul, add] %u, %H : f64[N] @pre(add){H.cols}
  %v = gather %v0 : f64[N] @part
  %mw = map[mul] %m, %w : f64[N,K] @part
  %mx = map[add] %mw, %x : f64[N,K] @part
  %rows = reduce[add; over K] %mx : f64[N] @part
  %cols0 = reduce[add; over N] %mx : f64[K] @pre(add)
  %cols1 = gather %cols0 : f64[K] @part
  %cols = scatter %cols1 : f64[K] @cons
  %mc = scatter %mx : f64[N,K] @cons{H.cols}
  %all0 = reduce[least] %mc : f64 @pre(least)
  %all1 = gather %all0 : f64 @part
  %all = scatter %all1 : f64 @cons
  %p0 = mxv[mul, add] %x, %m : f64[K] @pre(add)
  %p1 = gather %p0 : f64[K] @part
  %p = scatter %p1 : f64[K] @cons
  %q = mxvt[mul, add] %w, %m : f64[N] @part
  output "t" %t
  output "best" %best
  output "v" %v
  output "rows" %rows
  output "cols" %cols
  output "all" %all
  output "p" %p
  output "q" %q
  output "mc" %mc
)",
                                R"(  dim K local
  fn pair(x: f64, k: i64) -> (f64, [i64; 2]) = tuple(x, [$0 in 2: k + $0])
  fn unpair(t: (f64, [i64; 2])) -> f64 = t.0 + f64(t.1[1])
  fn better(a: (f64, [i64; 2]), b: (f64, [i64; 2])) -> (f64, [i64; 2]) = tuple(min(a.0, b.0), [$0 in 2: min(a.1[$0], b.1[$0])])
)");
  const auto parts = split(graph(GetParam()));
  expect_runs(module, parts, 1e-11);
}

}  // namespace
}  // namespace kasen
