// The executor on simulated workers against the plain interpreter.
#include "libcore/executor.h"

#include <gtest/gtest.h>

#include "tests/support/data.h"

namespace kasen {
namespace {

using namespace std::string_literals;
using testing::expect_runs;
using testing::random_matrix;
using testing::random_owners;
using testing::random_vector;
using testing::split;
using testing::TestData;

// A program of level 2 over N, with the functions that the tests use.
Module program(const std::string& body, const std::string& more = "") {
  const std::string text = "kir 1 level 2\nmodule test {\n  dim N\n" + more +
                           R"(  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn sub(x: f64, y: f64) -> f64 = x - y
  fn div(x: f64, y: f64) -> f64 = x / y
  fn least(x: f64, y: f64) -> f64 = min(x, y)
  fn add_i(x: i64, y: i64) -> i64 = x + y
  fn mul_i(x: i64, y: i64) -> i64 = x * y
  fn least_i(x: i64, y: i64) -> i64 = min(x, y)
  fn below(x: i64, y: i64) -> bool = x < y
  fn greater(x: f64, y: f64) -> bool = x > y
  fn next(x: i64) -> i64 = x + 1
  fn half(x: f64) -> f64 = 0.5 * x
  fn damp(x: f64, r: f64) -> f64 = (1.0 - r) + r * x
  fn distance(x: f64, y: f64) -> f64 = abs(x - y)
)" + body + "}\n##end\n";
  return parse_module(text, "test.kir");
}

struct Case {
  int workers;
  std::int64_t size, entries;
  int skip;  // a worker that owns nothing
};

// G over N by N (null), H (f64), x (f64), k (i64).
TestData graph(const Case& c, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  TestData data;
  data.workers = c.workers;
  data.dims["N"] = {c.size, false, random_owners(random, c.size, c.workers, c.skip)};
  data.dims["K"] = {3, true, {}};
  data.matrices["G"] = random_matrix(random, "N", "N", c.size, c.size, c.entries, Scalar::null, c.workers, c.skip);
  data.matrices["H"] = random_matrix(random, "N", "N", c.size, c.size, c.entries, Scalar::f64, c.workers, c.skip);
  data.matrices["I"] = random_matrix(random, "N", "N", c.size, c.size, c.entries, Scalar::i64, c.workers, c.skip);
  data.arrays["x"] = random_vector(random, {"N"}, c.size, Scalar::f64);
  data.arrays["k"] = random_vector(random, {"N"}, c.size, Scalar::i64);
  data.arrays["m"] = random_vector(random, {"N", "K"}, 3 * c.size, Scalar::f64);
  data.arrays["w"] = random_vector(random, {"K"}, 3, Scalar::f64);
  return data;
}

class ExecutorTest : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Cases, ExecutorTest,
                         ::testing::Values(Case{1, 20, 60, -1}, Case{2, 20, 60, -1}, Case{3, 50, 200, 1},
                                           Case{5, 40, 30, -1}, Case{3, 0, 0, -1}, Case{2, 1, 1, 0}, Case{5, 3, 0, 2},
                                           Case{2, 10000, 30000, -1}),
                         [](const auto& tested) {
                           return "w" + std::to_string(tested.param.workers) + "_n" + std::to_string(tested.param.size);
                         });

const char* const pagerank = R"(
  %G = input "G" : null[N,N] sparse @part
  %r = param "r" = 0.85 : f64 @cons
  %theta = param "theta" = 1e-6 : f64 @cons
  %zero = literal 1.0 : f64 @cons
  %go0 = literal true : bool @cons
  %p0 = fill 1.0 : f64[N] @part
  %d0 = fill 1.0 : f64[N] @cons{G.cols}
  %d1 = mxvt[mul, add] %d0, %G : f64[N] @pre(add){G.rows}
  %d = gather %d1 : f64[N] @part
  %pr, %go, %e = while (%p : f64[N] @part = %p0, %c : bool @cons = %go0, %e0 : f64 @cons = %zero) test 1 : f64[N] @part, bool @cons, f64 @cons {
    %t = map[div] %p, %d : f64[N] @part
    %s = scatter %t : f64[N] @cons{G.rows}
    %m = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols}
    %t2 = gather %m : f64[N] @part
    %n = map[damp] %t2, %r : f64[N] @part
    %b = map[distance] %p, %n : f64[N] @part
    %f = reduce[add] %b : f64 @pre(add)
    %f1 = gather %f : f64 @part
    %f2 = scatter %f1 : f64 @cons
    %k = apply[greater] %f2, %theta : bool @cons
    yield %n, %k, %f2
  }
  output "rank" %pr
  output "diff" %e
)";

TEST_P(ExecutorTest, PageRank) {
  const auto parts = split(graph(GetParam()));
  RunOptions options;
  std::vector<double> changes;
  options.on_turn = [&](const Turn& turn) {
    changes.push_back(turn.change);
    EXPECT_EQ(turn.place.turns, std::vector<std::int64_t>{static_cast<std::int64_t>(changes.size())});
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
  const std::int64_t turns = result.ops[9].turns;
  EXPECT_EQ(result.ops[11].network_bytes, turns * 8 * rows);     // scatter
  EXPECT_EQ(result.ops[13].network_bytes, turns * 8 * cols);     // gather
  EXPECT_EQ(result.ops[17].network_bytes, turns * 8 * (w - 1));  // shared gather
  EXPECT_EQ(result.ops[18].network_bytes, turns * 8 * (w - 1));  // shared scatter
  EXPECT_EQ(result.traffic.worker_bytes, turns * (8 * (rows + cols) + 16 * (w - 1)) + 8 * rows);
  EXPECT_EQ(result.ops[10].read_bytes, turns * 16 * n);
  EXPECT_EQ(result.ops[10].written_bytes, turns * 8 * n);
  EXPECT_EQ(result.ops[12].read_bytes, turns * (8 * (n + cols) + 12 * entries));
  EXPECT_EQ(result.ops[12].written_bytes, turns * 8 * (n + cols));
  EXPECT_EQ(result.ops[16].read_bytes, turns * 8 * n);
  EXPECT_EQ(result.ops[16].written_bytes, 0);
  EXPECT_EQ(result.ops[12].executions, turns);
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

TEST(Executor, RegionsAndBuffersOfALevel3Plan) {
  const std::string text = R"(kir 1 level 3
module pagerank {
  dim N
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn div(x: f64, y: f64) -> f64 = x / y
  fn damp(x: f64, r: f64) -> f64 = (1.0 - r) + r * x
  fn distance(x: f64, y: f64) -> f64 = abs(x - y)
  fn greater(x: f64, y: f64) -> bool = x > y
  buffer ~b0 : f64[N] {}
  buffer ~b1 : f64[N] {G.rows} {G.cols}
  buffer ~b2 : f64[N] {}
  buffer ~b3 : f64[N] {G.rows} {G.cols}
  %G = input "G" : null[N,N] sparse @part
  %r = param "r" = 0.85 : f64 @cons
  %theta = param "theta" = 1e-6 : f64 @cons
  %go0 = literal true : bool @cons
  %p0 = fill 1.0 : f64[N] @part ~b0
  %d0 = fill 1.0 : f64[N] @cons{G.cols} ~b1
  %d1 = mxvt[mul, add] %d0, %G : f64[N] @pre(add){G.rows} ~b3
  %d = gather %d1 : f64[N] @part ~b3
  %q0 = map[div] %p0, %d : f64[N] @part ~b1
  %pr, %q1, %go = while (%p : f64[N] @part ~b0 = %p0, %q : f64[N] @part ~b1 = %q0, %c : bool @cons = %go0) test 2 : f64[N] @part ~b0, f64[N] @part ~b1, bool @cons {
    %s = scatter %q : f64[N] @cons{G.rows} ~b1
    %m = mxv[mul, add] %s, %G : f64[N] @pre(add){G.cols} ~b4
    %t2 = gather %m : f64[N] @part ~b4
    %n, %t, %f = region iter_on_vec (%t2, %r, %p, %d) : f64[N] @part ~b2, f64[N] @part ~b1, f64 @pre(add) {
      %a = map[damp] %t2, %r : f64[N] @part
      %b = map[distance] %p, %a : f64[N] @part
      %e = reduce[add] %b : f64 @pre(add)
      %h = map[div] %a, %d : f64[N] @part
      yield %a, %h, %e
    }
    %f1 = gather %f : f64 @part
    %f2 = scatter %f1 : f64 @cons
    %k = apply[greater] %f2, %theta : bool @cons
    yield %n, %t, %k
  }
  output "rank" %pr
}
##end
)";
  std::string fixed = text;
  fixed.replace(fixed.find("  %G = input"), 0, "  buffer ~b4 : f64[N] {G.cols}\n");
  const Module module = parse_module(fixed, "test.kir");
  for (const Case& c : {Case{1, 30, 100, -1}, Case{3, 30, 100, -1}, Case{4, 200, 1000, 2}}) {
    const auto parts = split(graph(c));
    const RunResult fused = expect_runs(module, parts);
    const RunResult plain = testing::run_simulated(program(pagerank), parts);
    EXPECT_EQ(fused.late_allocations, 0);
    const auto words = [&](const RunResult& r) { return testing::whole_words(module, r.outputs[0], parts); };
    testing::expect_same("rank", ElementType::of(Scalar::f64), words(fused), words(plain), 0);
    for (size_t p = 0; p < parts.size(); ++p) {
      const auto n = static_cast<std::int64_t>(parts[p].dims.at("N").masters.size());
      const auto rows = static_cast<std::int64_t>(parts[p].matrices.at("G").row_slaves.slaves.size());
      const auto cols = static_cast<std::int64_t>(parts[p].matrices.at("G").col_slaves.slaves.size());
      const ElementType f64 = ElementType::of(Scalar::f64);
      EXPECT_EQ(
          fused.parts[p].buffer_bytes,
          2 * storage_bytes(f64, n) + 2 * storage_bytes(f64, n + std::max(rows, cols)) + storage_bytes(f64, n + cols));
      const auto entries = static_cast<std::int64_t>(parts[p].matrices.at("G").columns.size());
      EXPECT_EQ(fused.parts[p].matrix_bytes, 8 * (n + rows + 1) + 8 * (n + cols + 1) + 8 * entries);
      const auto& g = parts[p].matrices.at("G");
      const auto area = 8 * std::max(g.row_slaves.slaves.size() + g.row_slaves.mirrors.size(),
                                     g.col_slaves.slaves.size() + g.col_slaves.mirrors.size());
      EXPECT_EQ(fused.parts[p].exchange_bytes,
                static_cast<std::int64_t>(std::max(area, parts.size() > 1 ? 16UL : 0UL)));
    }
  }
}

// Products of one matrix in one region; vector operators on masters, on slaves, and reductions in one region.
TEST(Executor, RegionsOverSlaves) {
  const std::string text = R"(kir 1 level 3
module test {
  dim N
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  fn half(x: f64) -> f64 = 0.5 * x
  fn shift(x: f64, y: f64) -> f64 = x + y
  law exchange(half, add) operand 0 by "built-in"
  law pushdown(add, add) operand 0 by "built-in"
  %H = input "H" : f64[N,N] sparse @part
  %x = input "x" : f64[N] @part
  %y = scatter %x : f64[N] @cons{H.rows}
  %z = fill 2.0 : f64[N] @cons{H.rows}
  %a, %b = region mxm (%y, %H, %z) : f64[N] @pre(add){H.cols}, f64[N] @pre(add){H.cols} {
    %a1 = mxv[mul, add] %y, %H : f64[N] @pre(add){H.cols}
    %b1 = mxv[add, add] %z, %H : f64[N] @pre(add){H.cols}
    yield %a1, %b1
  }
  %c, %d, %e, %f = region iter_on_vec (%a, %x) : f64[N] @pre(add){H.cols}, f64[N] @part, f64 @pre(add), f64[N] @pre(add){H.cols} {
    %c1 = map[half] %a : f64[N] @pre(add){H.cols}
    %d1 = map[mul] %x, %x : f64[N] @part
    %f1 = map[add] %c1, %d1 : f64[N] @pre(add){H.cols}
    %e1 = reduce[add] %f1 : f64 @pre(add)
    yield %c1, %d1, %e1, %f1
  }
  %c2 = gather %c : f64[N] @part
  %f2 = gather %f : f64[N] @part
  %b2 = gather %b : f64[N] @part
  %e2 = gather %e : f64 @part
  %e3 = scatter %e2 : f64 @cons
  output "c" %c2
  output "f" %f2
  output "b" %b2
  output "d" %d
  output "e" %e3
}
##end
)";
  const Module module = parse_module(text, "test.kir");
  for (const Case& c : {Case{1, 30, 100, -1}, Case{3, 30, 100, -1}, Case{4, 9000, 30000, 2}}) {
    expect_runs(module, split(graph(c)), 1e-11);
  }
}

TEST(Executor, ParametersOverrideDefaults) {
  const Module module = program(pagerank);
  const auto parts = split(graph({2, 20, 60, -1}));
  RunOptions options;
  options.params["r"] = {Word::real(0.5)};
  expect_runs(module, parts, 1e-12, options);
  options.params["q"] = {Word::real(0.5)};
  try {
    testing::run_simulated(module, parts, options);
    FAIL() << "an unknown parameter was taken";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_NE(std::string(error.what()).find("it has r, theta"), std::string::npos) << error.what();
  }
}

TEST(Executor, RefusesWhatDoesNotFit) {
  const auto parts = split(graph({2, 20, 60, -1}));
  const auto status_of = [&](const Module& module, const std::vector<Part>& data) {
    try {
      testing::run_simulated(module, data);
    } catch (const UserError& error) {
      return error.status();
    }
    return ExitStatus::done;
  };
  Module unplaced = program(pagerank);
  unplaced.level = 1;
  EXPECT_EQ(status_of(unplaced, parts), ExitStatus::bad_input);
  EXPECT_EQ(status_of(program(R"(  %x = input "nothing" : f64[N] @part
  output "x" %x
)"),
                      parts),
            ExitStatus::bad_input);
  EXPECT_EQ(status_of(program(R"(  %x = input "k" : f64[N] @part
  output "x" %x
)"),
                      parts),
            ExitStatus::bad_input);
  EXPECT_EQ(status_of(program(R"(  %x = fill 1.0 : f64[M] @part
  output "x" %x
)",
                              "  dim M\n"),
                      parts),
            ExitStatus::bad_input);
  auto other = split(graph({2, 20, 60, -1}));
  other[1].workers = 3;
  EXPECT_EQ(status_of(program(pagerank), other), ExitStatus::bad_input);
}

TEST(Executor, RefusesMoreMemoryThanThereIs) {
  // One element an index, but a local dimension of 2^37: nothing of it is ever made.
  const Module module = program(R"(  %x = fill 1.0 : f64[N,B] @part
  output "x" %x
)",
                                "  dim B local\n");
  TestData data = graph({1, 4, 4, -1});
  auto parts = split(data);
  parts[0].dims["B"] = PartDim{.size = std::int64_t{1} << 37, .local = true};
  try {
    testing::run_simulated(module, parts);
    FAIL() << "it was allocated";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit);
  }
}

TEST(SimulatedTransport, ChecksThatSendsAndReceivesMeet) {
  const auto transport = make_simulated_transport(2);
  std::byte a[8]{}, b[8]{};
  const Message out{0, 1, a, 8}, in{0, 1, b, 8}, small{0, 1, b, 4};
  EXPECT_THROW(static_cast<void>(transport->start(0, {&out, 1}, {})), InternalError);
  EXPECT_THROW(static_cast<void>(transport->start(0, {}, {&in, 1})), InternalError);
  EXPECT_THROW(static_cast<void>(transport->start(0, {&out, 1}, {&small, 1})), InternalError);
  const std::int64_t before = transport->traffic().worker_bytes;
  a[3] = std::byte{7};
  const int ticket = transport->start(1, {&out, 1}, {&in, 1});
  EXPECT_THROW(transport->finish(ticket + 1), InternalError);
  transport->finish(ticket);
  EXPECT_EQ(b[3], std::byte{7});
  EXPECT_EQ(transport->traffic().worker_bytes, before + 8);
}

}  // namespace
}  // namespace kasen
