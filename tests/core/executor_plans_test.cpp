// Plans of level 3: regions, buffers and what a worker holds.
#include <gtest/gtest.h>

#include "libcore/run/executor.h"
#include "tests/core/executor_cases.h"

namespace kasen {
namespace {

using testing::Case;
using testing::expect_runs;
using testing::graph;
using testing::pagerank;
using testing::program;
using testing::split;

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
  buffer ~b4 : f64[N] {G.cols}
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
  const Module module = parse_module(text, "test.kir");
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
      const auto area = 8 * std::max(g.row_slaves.mirrors.size(), g.col_slaves.mirrors.size());
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

}  // namespace
}  // namespace kasen
